// The keys of an agent or an enforcement point, and a dialog that makes a new key and sets when the present
// one ends.

import { useState } from 'preact/hooks';
import type { Resource } from '../../api/resource.ts';
import { Button } from '../layout/button.tsx';
import { KeyTable, type KeyTableProps } from '../layout/key-table.tsx';
import { Loading, ProblemNote } from '../layout/note.tsx';
import { Section } from '../layout/page.tsx';
import { RotateDialog, type RotateProps } from './rotate-dialog.tsx';

interface KeysSectionProps extends Pick<RotateProps, 'name' | 'askedFor' | 'send'> {
  /** Tells a screen reader whose keys these are. */
  readonly label: string;
  /** The first characters of every key. */
  readonly prefix: string;
  readonly keys: Resource<{ readonly items: KeyTableProps['keys'] }>;
  readonly mayRotate: boolean;
  readonly onRotated: () => void;
}

export function KeysSection({ label, prefix, keys, mayRotate, onRotated, ...rotated }: KeysSectionProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title="Keys"
      actions={
        mayRotate && (
          <Button icon="key" onClick={() => setOpen(true)}>
            Rotate key
          </Button>
        )
      }
    >
      <ProblemNote problem={keys.problem} onRetry={keys.reload} />
      {keys.data === null ? (
        keys.problem === null && <Loading lines={2} />
      ) : (
        <KeyTable label={label} prefix={prefix} keys={keys.data.items} />
      )}
      {isOpen && (
        <RotateDialog
          {...rotated}
          onRotated={() => {
            keys.reload();
            onRotated();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  );
}
