// The law of proposed changes: making the change gives the promised outcome, on the definition and on the
// compiled function alike, for random policy sets and random requests.

import { describe, expect, it } from 'vitest';
import { gates, type Outcome, outcomes } from '../../../src/language/model/decision.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { checkPayload } from '../../../src/language/spec/payload.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { compile } from '../../../src/pipeline.ts';
import { smallestChange } from '../../../src/reasoning/counterfactual/change.ts';
import { compileSet, ruleIdsOf } from '../../laws/differential.ts';
import { randomSet } from '../../laws/policies.ts';
import { randomFacts } from '../../laws/requests.ts';
import { tries } from '../../support/tries.ts';

const sets = tries(10);
const requestsPerSet = 5;
const triesMax = 300;

function rank(outcome: Outcome): number {
  return outcomes.indexOf(outcome);
}

describe('a proposed change', () => {
  it('has the outcome that it promises, and is one that was wanted', () => {
    const reached: Record<string, number> = {};
    let asked = 0;
    for (let seed = 31; seed < 31 + sets; seed++) {
      const random = createRandom(seed);
      const generated = randomSet(random);
      const { set, engine } = compileSet(generated);
      if (set === null || engine === null) throw new Error(`seed ${seed} does not compile`);
      const ids = ruleIdsOf(set);
      for (let i = 0; i < requestsPerSet; i++) {
        const facts = randomFacts(random, generated, ids);
        const base = authorize(set, facts);
        let tries = 0;
        const decide: typeof engine.decide = (changed) => {
          tries++;
          return engine.decide(changed);
        };
        const changes = smallestChange(set, facts, { decide, triesMax });
        asked++;
        expect(tries).toBeLessThanOrEqual(triesMax + 1);
        for (const change of changes) {
          const place = `${change.text} (seed ${seed}, request ${i})`;
          const shape = set.actions.get(change.facts.action)!.shape;
          expect(checkPayload(shape, change.facts.payload), place).toEqual([]);
          expect(authorize(set, change.facts), place).toMatchObject({
            outcome: change.outcome,
            by: change.by,
          });
          expect(engine.decide(change.facts).outcome, place).toBe(change.outcome);
          expect(rank(change.outcome) < rank(base.outcome), place).toBe(base.outcome !== 'ALLOW');
          expect(change.outcome, place).not.toBe(base.outcome);
          expect(change.parts.length, place).toBeLessThanOrEqual(2);
          expect(change.facts.action, place).toBe(facts.action);
          const key = `${base.outcome} to ${change.outcome}`;
          reached[key] = (reached[key] ?? 0) + 1;
        }
        if (gates.includes(base.by as 'invalid_payload') && base.by !== 'default_deny')
          expect(changes).toEqual([]);
      }
    }
    expect(asked).toBe(sets * requestsPerSet);
    for (const key of ['DENY to ALLOW', 'ESCALATE to ALLOW', 'REAUTH_REQUIRED to ALLOW', 'ALLOW to DENY'])
      expect(reached[key], key).toBeGreaterThan(0);
    expect(Object.values(reached).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20);
  });

  it('is the same each time it is asked for', () => {
    for (let seed = 100; seed < 100 + tries(4); seed++) {
      const random = createRandom(seed);
      const generated = randomSet(random);
      const { set, engine } = compileSet(generated);
      if (set === null || engine === null) throw new Error(`seed ${seed} does not compile`);
      const facts = randomFacts(random, generated, ruleIdsOf(set));
      const ask = () => smallestChange(set, facts, { decide: engine.decide, triesMax });
      expect(ask()).toEqual(ask());
    }
  });
});

const comparisons = ['<', '<=', '>', '>=', '==', '!='];
const constants = [-7, -2.5, 0, 1, 3, 4.25, 9];

/** Rules over one number, checked by trying all of its values. */
function numberPolicy(random: RandomSource): string {
  const atom = (): string => `payload.n ${random.pick(comparisons)} ${random.pick(constants)}`;
  const condition = (): string =>
    `${atom()} ${random.pick(['and', 'or'])} ${random.pick(['', 'not '])}(${atom()})`;
  const rules = Array.from({ length: 3 }, (_, index) => {
    const effect = random.pick(['allow', 'allow', 'deny', 'escalate', 'reauth']);
    return `  ${effect} rule_${index} ${effect === 'escalate' ? 'to owner' : ''} when ${condition()}`;
  });
  return `action a.b { n: number -20..20 }\npolicy p on a.b {\n  allow any_n when ${condition()}\n${rules.join('\n')}\n}`;
}

function isMet(text: string, n: number): boolean {
  const tests: Readonly<Record<string, (end: number) => boolean>> = {
    '<': (end) => n < end,
    '<=': (end) => n <= end,
    '>': (end) => n > end,
    '>=': (end) => n >= end,
    '==': (end) => n === end,
  };
  return text.split(' and ').every((part) => {
    const [, operator = '', end = ''] = /^payload\.n (\S+) (\S+)$/.exec(part) ?? [];
    return tests[operator]!(Number(end));
  });
}

describe('a range of numbers', () => {
  const grid = Array.from({ length: 161 }, (_, index) => (index - 80) / 4);

  it('is as good as promised throughout, and found wherever there is one', () => {
    let ranges = 0;
    for (let seed = 1; seed <= tries(60); seed++) {
      const random = createRandom(seed);
      const text = numberPolicy(random);
      const { set, engine, problem } = compileText(text);
      if (set === null || engine === null) throw new Error(`${problem}${text}`);
      const at = random.pick(grid);
      const ask = (n: number): Facts => ({
        action: 'a.b',
        payload: { n },
        agent: {},
        request: {},
        nowMs: 0,
        meters: {},
        satisfied: nothingSatisfied,
      });
      const base = engine.decide(ask(at));
      const direction = base.outcome === 'ALLOW' ? 1 : -1;
      const changes = smallestChange(set, ask(at), { decide: engine.decide });
      const own = changes.filter(({ parts }) => parts.every(({ of }) => of === 'payload'));
      for (const { outcome, parts } of own) {
        const range = parts[0]!.text;
        const inside = grid.filter((n) => isMet(range, n));
        for (const n of inside) {
          const difference = (rank(engine.decide(ask(n)).outcome) - rank(outcome)) * direction;
          expect(difference, `${range} at ${n}, from ${at}\n${text}`).toBeGreaterThanOrEqual(0);
        }
        expect(isMet(range, at), range).toBe(false);
        ranges++;
      }
      // If some number would lead to a grant or end one, a change is proposed.
      const isReachable = grid.some(
        (n) => (rank(engine.decide(ask(n)).outcome) - rank(base.outcome)) * direction > 0,
      );
      if (isReachable) expect(own.length, text).toBeGreaterThan(0);
    }
    expect(ranges).toBeGreaterThan(tries(40));
  });
});

function compileText(text: string) {
  const { diagnostics, ...compiled } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  return { ...compiled, problem: JSON.stringify(diagnostics) };
}
