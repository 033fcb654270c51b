// The form for an enforcement point's name and the agents that it asks for, used to register or change a
// point.

import { useState } from 'preact/hooks';
import { detailFor } from '../../api/problem.ts';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { AgentsChoice, type AssignedAgent } from './agents-choice.tsx';

interface PointDraft {
  readonly name: string;
  readonly agents: readonly AssignedAgent[];
}

interface PointBody {
  readonly name: string;
  /** Ids of the agents. */
  readonly agents: readonly string[];
}

interface PointFormProps {
  readonly before: PointDraft;
  /** The text on the button. */
  readonly word: string;
  readonly send: (body: PointBody) => Promise<unknown>;
  readonly onCancel: () => void;
}

export function PointForm({ before, word, send, onCancel }: PointFormProps) {
  const [{ name, agents }, setDraft] = useState<PointDraft>(before);
  const { isBusy, problem, run } = useSending();
  return (
    <SendForm
      word={word}
      isBusy={isBusy}
      problem={problem}
      onSend={() => run(() => send({ name: name.trim(), agents: agents.map(({ id }) => id) }))}
      onCancel={onCancel}
    >
      <Field
        label="Name"
        problem={detailFor(problem, 'name')}
        help="As requests show it: the program that asks, and where it runs."
      >
        <input
          required
          maxLength={100}
          autoComplete="off"
          spellcheck={false}
          value={name}
          onInput={({ currentTarget }) => setDraft({ name: currentTarget.value, agents })}
        />
      </Field>
      <AgentsChoice
        chosen={agents}
        onChoose={(chosen) => setDraft({ name, agents: chosen })}
        problem={problem}
      />
    </SendForm>
  );
}
