// From a policy set to the little that the service says of it outside of decisions: names, owners, counts. Plain data,
// small beside the set itself, so that it goes from thread to thread at no cost.

import { hash } from 'node:crypto';
import type { AskedRule } from '../../language/model/asked.ts';
import type { Effect, PolicySet } from '../../language/model/policy.ts';

export interface SetSummary {
  /** Keys of the declared actions, sorted. */
  readonly actions: readonly string[];
  /** How many rules there are. */
  readonly rules: number;
  readonly policies: readonly PolicySummary[];
  readonly approvers: readonly { readonly name: string; readonly title: string }[];
  readonly meters: readonly string[];
  /** By policy and name. */
  readonly ruleNames: readonly RuleSummary[];
  /** The enforced rules that ask something of people. */
  readonly asks: readonly AskedRule[];
}

export interface PolicySummary {
  readonly name: string;
  readonly owner: string | null;
  readonly doc: string | null;
  readonly rules: number;
  /** Relative to the policy directory. */
  readonly file: string;
}

export interface RuleSummary {
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  readonly isShadow: boolean;
  /** Relative to the policy directory. */
  readonly file: string;
}

export function setSummary({ actions, policies, approvers, meters }: PolicySet): SetSummary {
  return {
    actions: [...actions.keys()].toSorted(),
    rules: policies.reduce((count, { rules }) => count + rules.length, 0),
    policies: policies.map(({ name, owner, doc, rules, span }) => ({
      name,
      owner,
      doc,
      rules: rules.length,
      file: span.file,
    })),
    approvers: [...approvers.values()].map(({ name, title }) => ({ name, title })),
    meters: [...meters.keys()],
    ruleNames: policies.flatMap(({ name: policy, rules }) =>
      rules.map(({ name, effect, isShadow, span }) => ({ policy, name, effect, isShadow, file: span.file })),
    ),
    asks: policies.flatMap(({ rules }) =>
      rules.flatMap(({ id: rule, isShadow, requirement, conditionText }) =>
        requirement === null || isShadow
          ? []
          : [{ rule, ...requirement, conditionDigest: hash('sha256', conditionText) }],
      ),
    ),
  };
}
