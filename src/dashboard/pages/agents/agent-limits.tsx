// How many requests an agent may send: by the service's limits, or by its own.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { AgentProps } from './agent-props.ts';

export function AgentLimits({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('agents.change') !== 'no' && agent.status !== 'revoked';
  const activity = useResource('getAgentActivity', { params: { id: agent.id } }, ['agents']);
  const rate = activity.data?.rate ?? null;
  const onSaved = (): void => {
    activity.reload();
    onChange();
  };
  return (
    <Section title="Limits" actions={mayChange && <Button onClick={() => setOpen(true)}>Change</Button>}>
      <ProblemNote problem={activity.problem} onRetry={activity.reload} />
      <Facts
        items={[
          ['Requests per minute', shown(agent.rate_per_minute, rate?.per_minute)],
          ['At once', shown(agent.burst, rate?.burst)],
          [
            'Refusals include',
            agent.refusal_hints ? 'the reason, and a change that would be allowed' : 'the reason',
          ],
        ]}
      />
      {isOpen && <LimitsDialog agent={agent} onChange={onSaved} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function shown(own: number | null, ofService: number | undefined): string {
  if (own !== null) return own.toLocaleString();
  return ofService === undefined ? '…' : `${ofService.toLocaleString()} (the service's)`;
}

function LimitsDialog({ agent, onChange, onClose }: AgentProps & { readonly onClose: () => void }) {
  const [perMinute, setPerMinute] = useState(String(agent.rate_per_minute ?? ''));
  const [burst, setBurst] = useState(String(agent.burst ?? ''));
  const [tellsChange, setTellsChange] = useState(agent.refusal_hints);
  const { isBusy, problem, run } = useSending();
  const save = (): Promise<void> =>
    run(async () => {
      const body = {
        rate_per_minute: numberOf(perMinute),
        burst: numberOf(burst),
        refusal_hints: tellsChange,
      };
      await call('updateAgent', { params: { id: agent.id }, body });
      showToast('Limits changed; they take effect with the next request');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Limits of the agent" onClose={onClose}>
      <p>
        Requests beyond the limits are refused with 429. Leave a field empty to use the default of the
        service.
      </p>
      <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
        <Field label="Requests per minute" isOptional name="rate_per_minute">
          <input
            type="number"
            min={1}
            max={1_000_000_000}
            step={1}
            value={perMinute}
            onInput={({ currentTarget }) => setPerMinute(currentTarget.value)}
          />
        </Field>
        <Field label="At once" isOptional name="burst">
          <input
            type="number"
            min={1}
            max={1_000_000_000}
            step={1}
            value={burst}
            onInput={({ currentTarget }) => setBurst(currentTarget.value)}
          />
        </Field>
        <label>
          <input
            type="checkbox"
            checked={tellsChange}
            onChange={({ currentTarget }) => setTellsChange(currentTarget.checked)}
          />{' '}
          Refusals include a change that would be allowed. This reveals limits to anyone who controls the
          agent.
        </label>
      </SendForm>
    </Dialog>
  );
}

function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
