// The fields with which an agent is registered: name, risk tier, control owner, tags.

import { useId } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Field } from './field.tsx';

export const riskTiers = ['low', 'medium', 'high', 'critical'] as const;
export type RiskTier = (typeof riskTiers)[number];

export interface AgentDraft {
  readonly name: string;
  readonly tier: RiskTier;
  readonly owner: string;
  /** The typed text, with commas between tags. */
  readonly tags: string;
}

/** Splits the typed text into tags. */
function tagsOf(text: string): readonly string[] {
  const tags = text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  return [...new Set(tags)];
}

/** The body of a call that registers or changes an agent. */
export function draftBody({ name, tier, owner, tags }: AgentDraft) {
  return { name: name.trim(), risk_tier: tier, control_owner: owner.trim(), tags: tagsOf(tags) };
}

interface AgentFieldsProps {
  readonly draft: AgentDraft;
  readonly onChange: (draft: AgentDraft) => void;
}

export function AgentFields({ draft, onChange }: AgentFieldsProps) {
  const listId = useId();
  const mayList = useGrant('people.view') === 'yes';
  const { data } = useResource('listPeople', mayList ? { query: { limit: '200' } } : null, ['people']);
  const people = (data?.items ?? []).filter(({ status }) => status === 'active');
  return (
    <>
      <Field label="Name" name="name" help="As shown in records and policies.">
        <input
          required
          maxLength={100}
          autoComplete="off"
          spellcheck={false}
          value={draft.name}
          onInput={({ currentTarget }) => onChange({ ...draft, name: currentTarget.value })}
        />
      </Field>
      <Field
        label="Risk tier"
        name="risk_tier"
        help="How much harm it could do; policies read it as agent.risk_tier."
      >
        <select
          value={draft.tier}
          onChange={({ currentTarget }) => {
            const tier = riskTiers.find((one) => one === currentTarget.value);
            if (tier !== undefined) onChange({ ...draft, tier });
          }}
        >
          {riskTiers.map((tier) => (
            <option key={tier}>{tier}</option>
          ))}
        </select>
      </Field>
      <Field
        label="Control owner"
        name="control_owner"
        help="The person who answers for it and steps up for it, by e-mail address."
      >
        <input
          required
          maxLength={254}
          autoComplete="off"
          spellcheck={false}
          list={listId}
          value={draft.owner}
          onInput={({ currentTarget }) => onChange({ ...draft, owner: currentTarget.value })}
        />
      </Field>
      <datalist id={listId}>
        {people.map(({ id, email, name }) => (
          <option key={id} value={email}>
            {name}
          </option>
        ))}
      </datalist>
      <Field
        label="Tags"
        isOptional
        name="tags"
        help="With commas between; policies read them as agent.tags."
      >
        <input
          autoComplete="off"
          spellcheck={false}
          value={draft.tags}
          onInput={({ currentTarget }) => onChange({ ...draft, tags: currentTarget.value })}
        />
      </Field>
    </>
  );
}
