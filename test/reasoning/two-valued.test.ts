// Conditions that count as never unknown, compared with the definition.

import { describe, expect, it } from 'vitest';
import type { PolicySet, Rule } from '../../src/language/model/policy.ts';
import { unknown } from '../../src/language/model/value.ts';
import { judge } from '../../src/language/spec/authorize.ts';
import { checkPayload } from '../../src/language/spec/payload.ts';
import { checkSources } from '../../src/pipeline.ts';
import { isTwoValued } from '../../src/reasoning/cells/two-valued.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { enforcedOf } from '../../src/reasoning/prove/problem.ts';
import { lawSets } from '../laws/proofs.ts';
import { tries } from '../support/tries.ts';

function twoValuedRules(set: PolicySet, action: string): readonly Rule[] {
  const rules = enforcedOf(set, action);
  const isRiskKnown = rules.every(({ points }) => points === 0);
  const { shape } = set.actions.get(action)!;
  return rules.filter(({ condition }) => isTwoValued(condition, { set, shape, isRiskKnown }));
}

/**
 * Ids of rules that count as never unknown but are unknown for a random request, and how many rules were
 * tried.
 */
function tryRules(set: PolicySet): { readonly asked: number; readonly wrong: readonly string[] } {
  const source = requestSource(set, 7);
  let asked = 0;
  const wrong: string[] = [];
  for (const action of set.actions.values()) {
    const rules = twoValuedRules(set, action.key);
    for (let round = 0; rules.length > 0 && round < 40; round += 1) {
      const facts = { ...randomRequest(source, action), satisfied: { escalate: [], reauth: [] } };
      if (checkPayload(action.shape, facts.payload).length > 0) continue;
      const { judged } = judge(set, facts, ({ isShadow }) => !isShadow);
      asked += rules.length;
      wrong.push(
        ...judged.flatMap(({ rule, truth }) => (truth === unknown && rules.includes(rule) ? [rule.id] : [])),
      );
    }
  }
  return { asked, wrong };
}

describe('a condition that is said to be true or false', () => {
  it('is so of every random request', async () => {
    const tried = (await lawSets(tries(8))).map(({ set }) => tryRules(set));
    expect(tried.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(tried.reduce((sum, { asked }) => sum + asked, 0)).toBeGreaterThan(1_000);
  });

  it('reads nothing that may be absent, unknown or huge', () => {
    const conditions = {
      number: 'payload.amount > 3 and not (payload.amount in 5..6)',
      texts: 'payload.kind == "a" or payload.kind starts with "b" or payload.kind in ["c", "d"]',
      flag: 'payload.sure',
      optional: 'payload has note and payload.note == "a"',
      fact: 'agent.risk_tier == "high"',
      no_risk: 'risk >= 10',
      metered: 'spent > 10',
      signed: 'payload.by == "a"',
      quantified: 'some tag in payload.tags (tag == "a")',
    };
    const rules = Object.entries(conditions).map(([name, condition]) => `deny ${name} when ${condition}\n`);
    const { set, diagnostics } = checkSources({
      files: [
        {
          path: 'a.policy',
          text: `meter spent = sum(payload.amount) of pay.make per agent over 24h
action pay.make { amount: number 0.., kind: string, sure: boolean, note?: string, by: signed string, tags: [string] }
policy p on pay.make { ${rules.join('')} }`,
        },
      ],
      readListFile: (path) => ({ code: 'list-file-missing', message: path }),
    });
    if (set === null) throw new Error(JSON.stringify(diagnostics));
    const found = twoValuedRules(set, 'pay.make').map(({ name }) => name);
    expect(found).toEqual(['flag', 'no_risk', 'number', 'texts']);
  });
});
