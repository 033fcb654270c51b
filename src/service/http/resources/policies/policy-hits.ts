// /v1/policies/hits: how often each rule of the active policies has taken part, and what shadow rules would
// have changed.

import { outcomes } from '../../../../language/model/decision.ts';
import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { RuleHit, Statistics } from '../../../statistics/statistics.ts';
import { objectSchema, text, time, timeOrNull } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';

interface PolicyHitDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly statistics: Pick<Statistics, 'hits'>;
}

const never: RuleHit = { decided: 0, met: 0, lastAtMs: null, changes: [] };

const count = { type: 'integer', minimum: 0 } as const;
const outcome = { type: 'string', enum: outcomes } as const;

const hitSchema = objectSchema({
  policy: text(200),
  rule: text(200),
  decided: count,
  met: count,
  last_at: timeOrNull,
  effect: { type: 'string', enum: ['allow', 'deny', 'escalate', 'reauth', 'risk'] },
  file: { type: 'string', description: 'The path relative to the policy directory.' },
  shadow_changed: { type: ['integer', 'null'], minimum: 0 },
  shadow_outcomes: { type: 'array', items: objectSchema({ from: outcome, to: outcome, count }) },
});

const hitsSchema = objectSchema({ since: time, items: { type: 'array', items: hitSchema } });

const hitsExample = {
  since: '2026-03-02T10:00:00.000Z',
  items: [
    {
      policy: 'payments',
      rule: 'large_ones',
      effect: 'escalate',
      decided: 12,
      met: 15,
      file: 'payments/payments.policy',
      last_at: '2026-03-03T10:00:00.000Z',
      shadow_changed: null,
      shadow_outcomes: [],
    },
  ],
};

const getPolicyHits = route<PolicyHitDeps>({
  method: 'GET',
  url: '/v1/policies/hits',
  access: 'policies.view',
  operation: {
    id: 'getPolicyHits',
    summary: 'How often each rule of the active policies matched or decided, and when it last did',
    description:
      '`met` also counts guards whose conditions were unknown, because they took part in the decision. Rules are identified by policy and name, also after a change of their text. `shadow_changed` counts the decisions that would change if all shadow rules were enforced and that this rule contributes to; null for enforced rules.',
    replies: { 200: { description: 'The rules', schema: hitsSchema, example: hitsExample } },
  },
  handle: async ({ statistics, policies }) => {
    const { sinceMs, rules } = await statistics.hits();
    const { ruleNames } = policies.current().about();
    return {
      since: isoTime(sinceMs),
      items: ruleNames.map(({ policy, name, effect, isShadow, file }) => {
        const { decided, met, lastAtMs, changes } = rules.get(`${policy}/${name}`) ?? never;
        const changed = changes.reduce((total, one) => total + one.count, 0);
        return {
          policy,
          rule: name,
          effect,
          file,
          decided,
          met,
          last_at: isoTimeOrNull(lastAtMs),
          shadow_changed: isShadow ? changed : null,
          shadow_outcomes: isShadow ? changes : [],
        };
      }),
    };
  },
});

export const policyHitRoutes: readonly Route<PolicyHitDeps>[] = [getPolicyHits];
