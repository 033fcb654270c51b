// The form for an enforcement point: its name, the agents that it asks for, and whether it may release grants. Used
// to register and to change one.

import { useId, useState } from 'preact/hooks';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { AgentPicker, type AssignedAgent } from './agent-picker.tsx';

interface PointDraft {
  readonly name: string;
  readonly agents: readonly AssignedAgent[];
  readonly may_release: boolean;
}

interface PointBody {
  readonly name: string;
  /** Ids of the agents. */
  readonly agents: readonly string[];
  readonly may_release: boolean;
}

interface PointFormProps {
  readonly before: PointDraft;
  /** The text on the button. */
  readonly word: string;
  readonly send: (body: PointBody) => Promise<unknown>;
  readonly onCancel: () => void;
}

export function PointForm({ before, word, send, onCancel }: PointFormProps) {
  const [draft, setDraft] = useState<PointDraft>(before);
  const { name, agents, may_release } = draft;
  const helpId = useId();
  const { isBusy, problem, run } = useSending();
  return (
    <SendForm
      word={word}
      isBusy={isBusy}
      problem={problem}
      onSend={() => run(() => send({ name: name.trim(), agents: agents.map(({ id }) => id), may_release }))}
      onCancel={onCancel}
    >
      <Field label="Name" name="name" help="As shown in requests: the program, and where it runs.">
        <input
          required
          maxLength={100}
          autoComplete="off"
          spellcheck={false}
          value={name}
          onInput={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
      </Field>
      <AgentPicker chosen={agents} onChoose={(chosen) => setDraft({ ...draft, agents: chosen })} />
      <div>
        <label class="choice">
          <input
            type="checkbox"
            aria-describedby={helpId}
            checked={may_release}
            onChange={({ currentTarget }) => setDraft({ ...draft, may_release: currentTarget.checked })}
          />
          May release grants
        </label>
        <p class="field-help" id={helpId}>
          Meters no longer count a grant that it reports as unused. Only for a program that no agent can
          reach.
        </p>
      </div>
    </SendForm>
  );
}
