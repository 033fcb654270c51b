// The keys of an agent or an enforcement point, and a dialog that makes a new key and sets when the present
// one ends.

import { useState } from 'preact/hooks';
import type { Resource } from '../../api/resource.ts';
import { FieldGroup } from '../form/field.tsx';
import { useSending } from '../form/form.ts';
import { SendForm } from '../form/send-form.tsx';
import { Badge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import { type Column, DataTable } from '../layout/data-table.tsx';
import { ListSection } from '../layout/list-section.tsx';
import { Ago, At, useNow } from '../layout/time.tsx';
import { Dialog } from './dialog.tsx';
import { NewKey } from './new-key.tsx';
import { StoredButton } from './one-time-secret.tsx';

// Makes a new key for an agent or an enforcement point, shown only this once, and sets when the present key
// ends.

interface KeyRotation {
  readonly api_key: string;
  readonly old_keys_end_at: string;
}

export interface RotateProps {
  /** Name of the agent or enforcement point that owns the key. */
  readonly name: string;
  /**
   * Id of an agent for which an enforcement point asks; null when it has no agent yet, absent for an agent's
   * own key.
   */
  readonly askedFor?: string | null;
  readonly send: (body: { readonly grace_seconds: number }) => Promise<KeyRotation>;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

const graces = [
  ['0', 'Now: requests with it are refused immediately'],
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
  ['604800', 'In a week'],
] as const;

function RotateDialog({ name, askedFor, send, onRotated, onClose }: RotateProps) {
  const [grace, setGrace] = useState('86400');
  const [made, setMade] = useState<KeyRotation | null>(null);
  const { isBusy, problem, run } = useSending();
  const rotate = (): Promise<void> =>
    run(async () => {
      setMade(await send({ grace_seconds: Number(grace) }));
      onRotated();
    });
  if (made !== null) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <NewKey apiKey={made.api_key} name={name} {...(askedFor === undefined ? {} : { askedFor })} />
        <p>
          The old key works until <At at={made.old_keys_end_at} />.
        </p>
        <StoredButton onClick={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      <p>
        <bdi>{name}</bdi> gets a new key that works immediately. When should the current key end?
      </p>
      <SendForm word="Create a new key" isBusy={isBusy} problem={problem} onSend={rotate} onCancel={onClose}>
        <FieldGroup legend="The current key ends" name="grace_seconds">
          {graces.map(([seconds, words]) => (
            <label class="choice" key={seconds}>
              <input
                type="radio"
                name="grace"
                checked={grace === seconds}
                onChange={() => setGrace(seconds)}
              />
              {words}
            </label>
          ))}
        </FieldGroup>
      </SendForm>
    </Dialog>
  );
}

interface Key {
  readonly id: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Null while this is the current key. */
  readonly not_after: string | null;
}

interface KeysSectionProps extends Pick<RotateProps, 'name' | 'askedFor' | 'send'> {
  /** Tells a screen reader whose keys these are. */
  readonly label: string;
  /** The first characters of every key. */
  readonly prefix: string;
  readonly keys: Resource<{ readonly items: readonly Key[] }>;
  readonly mayRotate: boolean;
  readonly onRotated: () => void;
}

export function KeysSection({ label, prefix, keys, mayRotate, onRotated, ...rotated }: KeysSectionProps) {
  const [isOpen, setOpen] = useState(false);
  const columns: readonly Column<Key>[] = [
    {
      head: 'Key',
      kind: 'row',
      cell: ({ id }) => (
        <code>
          {prefix}
          {id}…
        </code>
      ),
    },
    { head: 'Status', cell: ({ not_after: ends }) => <KeyBadge ends={ends} /> },
    { head: 'Created', cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Ago at={at} />) },
    { head: 'Ends', cell: ({ not_after: at }) => (at === null ? 'no end' : <Ago at={at} />) },
  ];
  return (
    <>
      <ListSection
        title="Keys"
        actions={
          mayRotate && (
            <Button icon="key" onClick={() => setOpen(true)}>
              Rotate key
            </Button>
          )
        }
        list={keys}
        lines={2}
        empty={null}
      >
        {(items) => <DataTable label={label} columns={columns} rows={items} rowKey={({ id }) => id} />}
      </ListSection>
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
    </>
  );
}

function KeyBadge({ ends }: { readonly ends: string | null }) {
  const now = useNow();
  if (ends === null) return <Badge tone="allow">Active</Badge>;
  return Date.parse(ends) > now ? (
    <Badge tone="escalate">Replaced</Badge>
  ) : (
    <Badge tone="unknown">Ended</Badge>
  );
}
