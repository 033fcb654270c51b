// What the checker concludes from conditions holds on every request of a grid. A condition that another one
// implies is at least as true; a condition that is never true is true for no request, and one that is always
// true is true for all. The definition is the judge.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAlwaysTrue, isNeverTrue } from '../../../src/language/check/logic/domains.ts';
import { implies, statementOf } from '../../../src/language/check/logic/implication.ts';
import type { Expression } from '../../../src/language/model/expression.ts';
import { unknown } from '../../../src/language/model/value.ts';
import { type EvaluationScope, evaluateCondition } from '../../../src/language/spec/evaluate.ts';
import { setOf } from './trees.ts';

const bounds = [0, 1, 2, 3];

const atoms = [
  ...bounds.flatMap((bound) =>
    ['>', '>=', '<', '<=', '==', '!='].map((operator) => `payload.count ${operator} ${bound}`),
  ),
  ...bounds.map((bound) => `payload.count in 1..${bound}`),
  ...['1 USD', '2 USD', '2 EUR'].flatMap((money) =>
    ['>', '<=', '=='].map((operator) => `payload.money ${operator} ${money}`),
  ),
  ...['a', 'b'].flatMap((kind) => [`payload.kind == "${kind}"`, `payload.kind != "${kind}"`]),
  'payload.kind in ["a", "b"]',
  'payload.kind in kinds',
  'agent.risk_tier == "high"',
  'agent.risk_tier in ["low", "high"]',
  'length(payload.note) > 1',
  'length(payload.note) < 2',
  'payload.note == "x"',
  'few',
  'payload.signed_one > 1',
  'payload.signed_one > 2',
];

const condition = fc.letrec<{ any: string; atom: string; joined: string; negated: string }>((tie) => ({
  any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('atom'), tie('joined'), tie('negated')),
  atom: fc.constantFrom(...atoms),
  joined: fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(tie('any'), { minLength: 2, maxLength: 3 }))
    .map(([operator, parts]) => `(${parts.join(` ${operator} `)})`),
  negated: tie('any').map((inner) => `not (${inner})`),
})).any;

function setWith(first: string, second: string): ReturnType<typeof setOf> {
  return setOf(`
    action order.place {
      count: integer 0..3, money: money(currency) 0.., currency: "USD" | "EUR", kind: "a" | "b" | "c", note: string
      signed_one: signed integer
    }
    list kinds = ["a", "c"]
    let few = payload.count < 2 and payload.kind != "c"
    policy p on order.place { deny first when ${first} deny second when ${second} }`);
}

/** All combinations of values that the atoms can tell apart. */
const requests = [0, 1, 2, 3].flatMap((count) =>
  ['a', 'b', 'c'].flatMap((kind) =>
    ['', 'x', 'xy'].flatMap((note) =>
      [undefined, 'low', 'high'].flatMap((tier, at) => [
        {
          count,
          kind,
          note,
          money: (at + count) % 4,
          currency: at === 1 ? 'EUR' : 'USD',
          tier,
          isSigned: at > 0,
        },
        { count, kind, note, money: (2 * at + count) % 3, currency: 'USD', tier, isSigned: at !== 1 },
      ]),
    ),
  ),
);

function scopesOf(set: EvaluationScope['set']): readonly EvaluationScope[] {
  return requests.map(({ tier, isSigned, ...payload }) => ({
    set,
    facts: {
      action: 'order.place',
      payload: { ...payload, signed_one: payload.count },
      agent: tier === undefined ? {} : { risk_tier: tier === 'low' ? 'low' : 'high' },
      request: { signed: isSigned },
      nowMs: 0,
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    },
    risk: { low: 0, high: 0 },
    variables: new Map(),
  }));
}

/** The truth as a rank: 0 false, 1 unknown, 2 true. */
function rank(expression: Expression, scope: EvaluationScope): 0 | 1 | 2 {
  const truth = evaluateCondition(expression, scope);
  return truth === unknown ? 1 : truth === true ? 2 : 0;
}

describe('conclusions', () => {
  it('hold on every request', () => {
    let implied = 0;
    fc.assert(
      fc.property(condition, condition, fc.boolean(), (a, b, isNarrowed) => {
        const set = setWith(isNarrowed ? `${a} and (${b})` : a, b);
        const [first, second] = set.policies[0]!.rules.map((rule) => rule.condition) as [
          Expression,
          Expression,
        ];
        const valueOfLet = (id: string): Expression | undefined => set.lets.get(id)?.expression;
        const follows = implies(statementOf(first, valueOfLet), statementOf(second, valueOfLet));
        if (follows) implied += 1;
        const isNever = isNeverTrue(first, valueOfLet);
        const isAlways = isAlwaysTrue(first, valueOfLet);
        if (!follows && !isNever && !isAlways) return;
        for (const scope of scopesOf(set)) {
          const [one, other] = [rank(first, scope), rank(second, scope)];
          if (follows) expect(one).toBeLessThanOrEqual(other);
          if (isNever) expect(one).toBeLessThan(2);
          if (isAlways) expect(one).toBe(2);
        }
      }),
      { numRuns: 300 },
    );
    expect(implied).toBeGreaterThan(30);
  }, 60_000);
});
