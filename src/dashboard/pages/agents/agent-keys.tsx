// The keys of an agent: when each was made, last used and ends; and making a new one, with how long the present one
// stays good.

import { useState } from 'preact/hooks';
import { call, type Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { NewKey } from '../../parts/dialog/new-key.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago, At, useNow } from '../../parts/layout/time.tsx';
import type { AgentProps } from './agent-props.ts';

type Key = Reply<'listKeys'>['items'][number];

export function AgentKeys({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayRotate = useGrant('agents.rotate') !== 'no' && agent.status !== 'revoked';
  const keys = useResource('listKeys', { params: { id: agent.id } }, ['agents']);
  const onRotated = (): void => {
    keys.reload();
    onChange();
  };
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
        <KeyTable keys={keys.data.items} />
      )}
      {isOpen && <RotateDialog agent={agent} onChange={onRotated} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function KeyTable({ keys }: { readonly keys: readonly Key[] }) {
  const now = useNow();
  return (
    <TableScroll label="Keys of the agent">
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Status</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Ends</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ id, created_at: made, last_used_at: used, not_after: ends }) => (
            <tr key={id}>
              <td data-label="Key">
                <code>writ_{id}…</code>
              </td>
              <td data-label="Stands">{keyBadge(ends, now)}</td>
              <td data-label="Created">
                <Ago at={made} />
              </td>
              <td data-label="Last used">{used === null ? 'never' : <Ago at={used} />}</td>
              <td data-label="Ends">{ends === null ? 'no end' : <Ago at={ends} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function keyBadge(ends: string | null, now: number) {
  if (ends === null) return <Badge tone="allow">Good</Badge>;
  return Date.parse(ends) > now ? (
    <Badge tone="escalate">Replaced</Badge>
  ) : (
    <Badge tone="unknown">Ended</Badge>
  );
}

const graces = [
  ['0', 'Now: requests with it are refused at once'],
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
  ['604800', 'In a week'],
] as const;

function RotateDialog({ agent, onChange, onClose }: AgentProps & { readonly onClose: () => void }) {
  const [grace, setGrace] = useState('86400');
  const [made, setMade] = useState<Reply<'rotateKey'> | null>(null);
  const { isBusy, problem, run } = useSending();
  const rotate = (): Promise<void> =>
    run(async () => {
      const body = { grace_seconds: Number(grace) };
      setMade(await call('rotateKey', { params: { id: agent.id }, body }));
      onChange();
    });
  if (made !== null) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <NewKey apiKey={made.api_key} name={agent.name} />
        <p>
          The old key works until <At at={made.old_keys_end_at} />.
        </p>
        <div class="form-actions">
          <Button look="primary" onClick={onClose}>
            I have stored it
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      <p>
        <bdi>{agent.name}</bdi> gets a new key that works at once. When should the current key end?
      </p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void rotate();
        }}
      >
        <ProblemNote problem={problem} />
        <fieldset>
          <legend class="field-legend">The current key ends</legend>
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
        </fieldset>
        <div class="form-actions">
          <Button look="primary" type="submit" isBusy={isBusy}>
            Create a new key
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
