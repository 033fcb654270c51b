// Asks for the name of a new file in the copy.

import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { nameFault } from './draft-files.ts';

interface NewFileDialogProps {
  readonly taken: readonly string[];
  readonly onName: (path: string) => void;
  readonly onClose: () => void;
}

export function NewFileDialog({ taken, onName, onClose }: NewFileDialogProps) {
  const [name, setName] = useState('');
  const [isTried, setTried] = useState(false);
  const fault = nameFault(name.trim(), taken);
  return (
    <Dialog title="New file" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (fault !== null) return;
          onName(name.trim());
          onClose();
        }}
      >
        <Field
          label="Name"
          help="Only in your copy: nothing is written to the policy directory."
          problem={isTried ? fault : null}
        >
          <input
            value={name}
            placeholder="payments/limits.policy"
            autoComplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button variant="primary" type="submit">
            Add the file
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
