// What is known of an agent, and changing it.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { type AgentDraft, AgentFields, draftBody } from '../../parts/agent-fields.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useSending } from '../../parts/form.ts';
import { ProblemNote } from '../../parts/note.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { Marks } from '../../parts/roles.tsx';
import { Ago, At } from '../../parts/time.tsx';
import { tellDone } from '../../shell/toast.tsx';
import type { AgentProps } from './agent.tsx';

export function AgentFacts({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('agents.change') !== 'no' && agent.status !== 'revoked';
  return (
    <Section title="About it" actions={mayChange && <Button onClick={() => setOpen(true)}>Edit</Button>}>
      <Facts
        items={[
          ['Risk tier', agent.risk_tier],
          ['Control owner', <bdi key="owner">{agent.control_owner}</bdi>],
          ['Tags', <Marks key="tags" words={agent.tags} />],
          ['Registered', <At key="created" at={agent.created_at} />],
          ['Changed', <Ago key="changed" at={agent.changed_at} />],
          ['Id', <code key="id">{agent.id}</code>],
        ]}
      />
      {isOpen && <EditDialog agent={agent} onChange={onChange} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function EditDialog({ agent, onChange, onClose }: AgentProps & { readonly onClose: () => void }) {
  const [draft, setDraft] = useState<AgentDraft>({
    name: agent.name,
    tier: agent.risk_tier,
    owner: agent.control_owner,
    tags: agent.tags.join(', '),
  });
  const { isBusy, problem, run } = useSending();
  const save = (): Promise<void> =>
    run(async () => {
      await call('changeAgent', { params: { id: agent.id }, body: draftBody(draft) });
      tellDone('Changed; in force with the next request');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Edit the agent" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <ProblemNote problem={problem} />
        <AgentFields draft={draft} onChange={setDraft} problem={problem} />
        <div class="form-actions">
          <Button look="primary" type="submit" isBusy={isBusy}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
