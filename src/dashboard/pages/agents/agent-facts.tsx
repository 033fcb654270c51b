// The details of an agent, and a dialog that edits them.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { type AgentDraft, AgentFields, draftBody } from '../../parts/form/agent-fields.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Marks } from '../../parts/form/roles.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import type { AgentProps } from './agent-props.ts';

export function AgentFacts({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('agents.change') !== 'no' && agent.status !== 'revoked';
  return (
    <Section title="Details" actions={mayChange && <Button onClick={() => setOpen(true)}>Edit</Button>}>
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
      tellDone('Changed; it takes effect with the next request');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Edit the agent" onClose={onClose}>
      <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
        <AgentFields draft={draft} onChange={setDraft} problem={problem} />
      </SendForm>
    </Dialog>
  );
}
