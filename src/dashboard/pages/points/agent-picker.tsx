// The agents that an enforcement point asks for: the chosen ones, each with a button that removes it, and a
// field that adds one by name or id and suggests names. INVARIANT: a chosen agent exists and has the name
// that the service gives it.

import { useId, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import type { Point } from './point-props.ts';

export type AssignedAgent = Point['agents'][number];

interface AgentsChoiceProps {
  readonly chosen: readonly AssignedAgent[];
  readonly onChoose: (chosen: readonly AssignedAgent[]) => void;
}

export function AgentPicker({ chosen, onChoose }: AgentsChoiceProps) {
  return (
    <fieldset class="points-agents">
      <legend class="field-legend">Assigned agents</legend>
      {chosen.length === 0 && (
        <p class="points-soft">None yet: the enforcement point cannot send requests for any agent.</p>
      )}
      <ul>
        {chosen.map((agent) => (
          <li key={agent.id}>
            <bdi>{agent.name}</bdi>
            <Button
              variant="quiet"
              icon="close"
              label={`Remove ${agent.name}`}
              onClick={() => onChoose(chosen.filter(({ id }) => id !== agent.id))}
            />
          </li>
        ))}
      </ul>
      <AddAgent chosen={chosen} onChoose={onChoose} />
    </fieldset>
  );
}

function AddAgent({ chosen, onChoose }: AgentsChoiceProps) {
  const listId = useId();
  const [text, setText] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const { isBusy, problem: notSent, run } = useSending();
  const query = text.trim();
  const suggestions = useResource('listAgents', {
    query: { limit: '20', ...(query === '' ? {} : { text: query }) },
  });
  const add = (): Promise<void> =>
    run(async () => {
      const { items } = await call('listAgents', { query: { text: query, limit: '200' } });
      const agent = items.find(({ id, name }) => id === query || name.toLowerCase() === query.toLowerCase());
      if (agent === undefined) return setMissing(`There is no agent ${query}.`);
      if (!chosen.some(({ id }) => id === agent.id))
        onChoose([...chosen, { id: agent.id, name: agent.name }]);
      setText('');
    });
  const failed = notSent === null ? null : 'The agents could not be looked up: add it again.';
  return (
    <div class="points-add">
      <Field label="Add an agent" name="agents" isOptional problem={missing ?? failed} help="By name or id.">
        <input
          autoComplete="off"
          spellcheck={false}
          maxLength={200}
          list={listId}
          value={text}
          onInput={({ currentTarget }) => {
            setMissing(null);
            setText(currentTarget.value);
          }}
          onKeyDown={(event) => {
            // Enter adds the agent that is typed, instead of sending the form.
            if (event.key !== 'Enter' || query === '') return;
            event.preventDefault();
            void add();
          }}
        />
      </Field>
      <datalist id={listId}>
        {(suggestions.data?.items ?? []).map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <Button icon="plus" isBusy={isBusy} disabled={query === ''} onClick={() => void add()}>
        Add
      </Button>
    </div>
  );
}
