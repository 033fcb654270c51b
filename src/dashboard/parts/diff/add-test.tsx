// Turns a request into a test: a button shows the lines for its test file, ready for `writ test`.

import { useState } from 'preact/hooks';
import { Dialog } from '../dialog/dialog.tsx';
import { Field } from '../form/field.tsx';
import { Button } from '../layout/button.tsx';
import { CopyText } from '../text/copy.tsx';
import { PlainText } from '../text/plain-text.tsx';
import { type CaseToAdd, caseText, type Expectation, testPath } from './test-case.ts';

export interface AddTestProps extends Omit<CaseToAdd, 'expect'> {
  /** Path of the policy file that the test is about. */
  readonly file: string;
  /** The possible expectations with their labels; the first is chosen at first. */
  readonly expects: readonly (readonly [label: string, expected: Expectation])[];
}

export function AddTest(props: AddTestProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        Add as test
      </Button>
      {isOpen && <AddTestDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function AddTestDialog({
  file,
  expects,
  onClose,
  ...given
}: AddTestProps & { readonly onClose: () => void }) {
  const [chosen, setChosen] = useState(0);
  const [at] = useState(() => new Date().toISOString());
  const [, expect] = expects[chosen] ?? [];
  const path = testPath(file);
  return (
    <Dialog title="Add as test" onClose={onClose}>
      {expects.length > 1 && (
        <Field label="Expected">
          <select
            value={String(chosen)}
            onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
          >
            {expects.map(([label], index) => (
              <option key={label} value={String(index)}>
                {label}
              </option>
            ))}
          </select>
        </Field>
      )}
      <p>
        Append these lines to the <code>tests:</code> of{' '}
        <code>
          <PlainText text={path} isShort />
        </code>
        , in the policy directory. Where there is no such file, begin it with a line <code>tests:</code>.{' '}
        <code>writ test</code> runs it.
      </p>
      {expect !== undefined && <CopyText label="test" text={caseText({ ...given, expect }, at)} />}
      <div class="form-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
