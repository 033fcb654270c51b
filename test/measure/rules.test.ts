// What a report says about rules is true: a rule that took part was tried, and a rule that the index cannot
// use is tried for every request.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { explainIndexKey } from '../../src/language/program/index/explain-index-key.ts';
import { selectAll } from '../../src/language/program/index/rule-index.ts';
import { evenOrder } from '../../src/measure/measure.ts';
import { factsOf, readRequestLines } from '../../src/measure/read-requests.ts';
import { useOfRules } from '../../src/measure/rules.ts';
import { type CompileResult, compile } from '../../src/pipeline.ts';
import { readPolicies } from '../../src/service/policies/read-policies.ts';

describe('the rules that a decision tries', () => {
  it.each(['payments', 'banking', 'slack'])('are at least those that took part, in %s', async (pack) => {
    const { set, program, engine } = compile((await readPolicies(`policies/${pack}`)).sources);
    const { lines } = readRequestLines(readFileSync(`policies/${pack}/requests.jsonl`), pack);
    const { facts } = factsOf(lines, set!, []);
    const decided = facts.map((one) => ({
      facts: one,
      decision: engine!.decide(one),
      tried: engine!.tried(one),
    }));
    for (const { decision, tried } of decided)
      expect(tried).toEqual(expect.arrayContaining([...decision.rules]));
    const { rules, perDecision } = useOfRules(program!, decided, { indexedFrom: 20, ms: 1 });
    for (const { rule, tried, fired, decided: decides } of rules) {
      expect(tried).toBe(decided.filter((one) => one.tried.includes(rule)).length);
      expect(fired).toBe(decided.filter(({ decision }) => decision.rules.includes(rule)).length);
      expect(decides).toBe(decided.filter(({ decision }) => decision.by === rule).length);
    }
    expect(perDecision.max).toBe(Math.max(...decided.map(({ tried }) => tried.length)));
  });

  it('are fewer than all where an index is at work, and always those that it cannot use', () => {
    const { program, engine } = indexed();
    const action = program!.actions.get('a.b')!;
    const unfiled = explainIndexKey(action.rules, program!.lists);
    expect(unfiled).toEqual([
      { rule: 'p/always_there', why: 'no condition' },
      { rule: 'p/odd', why: 'no equality, range or literal condition that all must meet' },
    ]);
    const all = selectAll(program!, 'a.b').map(({ id }) => id);
    for (const v of ['v0', 'v29', 'other']) {
      const tried = engine!.tried({ ...facts, payload: { v, n: 1 } });
      expect(tried).toEqual(expect.arrayContaining(unfiled.map(({ rule }) => rule)));
      expect(tried.length).toBeLessThanOrEqual(3);
      expect(all).toEqual(expect.arrayContaining([...tried]));
    }
  });

  it('are none where the gate refuses', () => {
    const { engine } = indexed();
    expect(engine!.tried({ ...facts, payload: { v: 7 } })).toEqual([]);
    expect(engine!.tried({ ...facts, action: 'c.d' })).toEqual([]);
  });
});

describe('evenOrder', () => {
  it('takes every place once, each beginning from all over', () => {
    for (const length of [0, 1, 2, 7, 8, 1_000]) {
      const places = [...evenOrder(length)];
      expect(places.toSorted((a, b) => a - b)).toEqual([...Array(length).keys()]);
    }
    expect(
      [...evenOrder(1_000)]
        .slice(0, 4)
        .map((place) => Math.floor(place / 250))
        .toSorted(),
    ).toEqual([0, 1, 2, 3]);
  });
});

function indexed(): CompileResult {
  const rules = Array.from({ length: 30 }, (_, at) => `allow r${at} when payload.v == "v${at}"`);
  const text = `action a.b { v: string 1..20, n: integer }
policy p on a.b { ${rules.join(' ')} deny odd when payload.n / 2 * 2 != payload.n risk always_there +1 }`;
  return compile({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
}

const facts: Facts = {
  action: 'a.b',
  payload: {},
  agent: {},
  request: {},
  nowMs: 0,
  meters: {},
  satisfied: nothingSatisfied,
};
