// The index is not observable: over sets of a thousand rules of one action, decisions with the index equal
// those of trying all rules one by one, whatever facts are missing or unknown.

import { describe, expect, it } from 'vitest';
import { createFunctionCache } from '../../../src/language/emit/cache.ts';
import { link } from '../../../src/language/emit/link.ts';
import type { Json } from '../../../src/language/model/json.ts';
import { takesPartUnknown } from '../../../src/language/model/policy.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import { tracedRules } from '../../../src/language/model/trace.ts';
import { applyPrefilter } from '../../../src/language/program/index/prefilter.ts';
import { createIndex, keysBy, select } from '../../../src/language/program/index/rule-index.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import type { CompileResult } from '../../../src/pipeline.ts';
import { readTrace, traceText } from '../../../src/service/requests/record/stored-trace.ts';
import { tries } from '../../support/tries.ts';
import { opened } from '../program/programs.ts';
import { compileText, factsOf } from './engine.ts';

const declarations = `
  action a.b {
    amount: number, cost: money(currency), currency: "USD" | "EUR", vendor: string,
    kind?: string, score?: integer, ref: signed string, deep?: { code: string }
  }
  approvers finance "Finance"
  list few = ["v1", "v2", "v3"]
  list loud ignoring case = ["V4", "V5"]
`;

const vendors = Array.from({ length: 40 }, (_, at) => `v${at}`);

/** A condition of one of the forms under which the index files rules, or of a form that it cannot file. */
function part(random: RandomSource): string {
  const number = random.below(1_000);
  const vendor = random.pick(vendors);
  return random.pick([
    `payload.amount >= ${number}`,
    `payload.amount < ${number}`,
    `${number} < payload.amount`,
    `payload.amount in ${number}..${number + random.below(40)}`,
    `payload.amount == ${number}`,
    `payload.cost > ${number} USD`,
    `payload.cost <= ${number} EUR`,
    `payload.vendor == "${vendor}"`,
    `payload.vendor in ["${vendor}", "${random.pick(vendors)}x"]`,
    `(payload.vendor == "${vendor}" or payload.vendor == "v7")`,
    'payload.vendor in few',
    'payload.vendor in loud',
    `payload.vendor like "${vendor}*"`,
    `payload.vendor starts with "v${random.below(4)}"`,
    `payload.vendor contains "${random.below(10)}"`,
    `not (payload.vendor == "${vendor}")`,
    `lower(payload.vendor) == "${vendor}"`,
    `length(payload.vendor) < ${1 + random.below(4)}`,
    `payload has kind and payload.kind == "${vendor}"`,
    `payload has score and payload.score in ${number}..${number + 30}`,
    `payload has deep and payload.deep.code == "${vendor}"`,
    `(payload.kind else "none") == "${vendor}"`,
    `agent.name == "${vendor}"`,
    `agent.risk_tier in ["low", "high"]`,
    `payload.ref == "${vendor}"`,
    `payload has ref`,
    `request.session == "s-${random.below(30)}"`,
  ]);
}

function rule(random: RandomSource, at: number): string {
  const parts = Array.from({ length: 1 + random.below(3) }, () => part(random)).join(' and ');
  const effect = random.pick([
    'allow',
    'allow',
    'deny',
    'escalate',
    'reauth',
    'risk',
    'shadow deny',
    'shadow allow',
  ]);
  const target = effect === 'escalate' ? ' to finance' : '';
  const points = effect === 'risk' ? ` ${random.pick(['+5', '-3', '+1'])}` : '';
  const risk = effect === 'deny' && random.chance(0.3) ? ' risk +2' : '';
  return effect === 'risk'
    ? `risk r${at}${points} when ${parts}`
    : `${effect} r${at}${target} when ${parts}${risk}`;
}

/** Some rules read the risk, so that rules of both strata exist. */
function policies(random: RandomSource, rules: number): string {
  const lines = Array.from({ length: rules }, (_, at) => rule(random, at));
  const reading = [
    'escalate high to finance when risk >= 40',
    `deny far when risk > 90 and payload.amount > 5`,
  ];
  return `${declarations}\npolicy p on a.b {\n${[...lines, ...reading].join('\n')}\n}`;
}

function request(random: RandomSource): Facts {
  const optional = (name: string, value: Json) => (random.chance(0.5) ? { [name]: value } : {});
  const known = <T extends object>(facts: T): T =>
    Object.fromEntries(Object.entries(facts).filter(() => random.chance(0.7))) as T;
  const payload = {
    amount: random.pick([random.below(1_000), random.below(10_000) / 10, -1]),
    cost: random.below(1_000),
    currency: random.pick(['USD', 'EUR']),
    vendor: random.pick([...vendors, 'V5', 'other', '']),
    ref: random.pick(vendors),
    ...optional('kind', random.pick(vendors)),
    ...optional('score', random.below(1_000)),
    ...optional('deep', { code: random.pick(vendors) }),
  };
  const agent = {
    id: 'agt-1',
    name: random.pick(vendors),
    risk_tier: random.pick(['low', 'medium', 'high'] as const),
  };
  return factsOf(payload, {
    agent: known(agent),
    request: known({ signed: random.chance(0.7), session: `s-${random.below(30)}`, ip: '10.0.0.7' }),
    satisfied: { escalate: random.chance(0.2) ? ['p/high', 'p/r1', 'p/r2'] : [], reauth: [] },
  });
}

/**
 * Checking a thousand rules against each other takes longer than the rest of this test, so larger sets are
 * joined from smaller ones.
 */
function joined(parts: readonly CompileResult[]): NonNullable<CompileResult['set']> {
  const [first] = parts.map(({ set }) => set!);
  const all = parts.flatMap(({ set }, at) =>
    set!.policies.map((policy) => ({
      ...policy,
      name: `p${at}`,
      rules: policy.rules.map((one) => ({ ...one, policy: `p${at}`, id: `p${at}/${one.name}` })),
    })),
  );
  return { ...first!, policies: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

describe('the index', () => {
  const partRules = 36;
  const library = Array.from({ length: 40 }, (_, seed) =>
    compileText(policies(createRandom(seed + 1), partRules)),
  );

  it('finds every rule that takes part, once, in sets of a thousand rules', () => {
    // The sets share templates, so most rules need no new code.
    const [indexedCache, plainCache] = [createFunctionCache(), createFunctionCache()];
    let left = 0;
    for (let seed = 1; seed <= tries(15); seed += 1) {
      const random = createRandom(1_000 + seed);
      const set = joined(Array.from({ length: 28 }, () => random.pick(library)));
      const program = opened(set);
      expect(program.actions.get('a.b')!.rules.length).toBeGreaterThan(1_000);
      const indexed = link(program, indexedCache, 'indexed');
      const plain = link(program, plainCache, 'without index');
      for (let i = 0; i < 20; i += 1) {
        const facts = request(random);
        const decided = indexed.decide(facts);
        expect({ seed, i, decided }).toEqual({ seed, i, decided: plain.decide(facts) });
        left += 1_000 - decided.rules.length;
      }
    }
    expect(left).toBeGreaterThan(0);
  }, 120_000);

  it('agrees with the definition', () => {
    for (const [seed, { set, program }] of library.slice(0, 12).entries()) {
      const random = createRandom(seed);
      const engine = link(program!, createFunctionCache(), 'indexed');
      for (let i = 0; i < 20; i += 1) {
        const facts = request(random);
        expect({ seed, i, decided: engine.decide(facts) }).toEqual({
          seed,
          i,
          decided: authorize(set!, facts),
        });
      }
    }
  }, 60_000);

  it('has traces name the rules that took part, as all of them tried one by one say', () => {
    const [indexedCache, plainCache] = [createFunctionCache(), createFunctionCache()];
    const seen = { named: 0, unknown: 0, satisfied: 0 };
    for (let seed = 1; seed <= 15; seed += 1) {
      const random = createRandom(2_000 + seed);
      const set = joined(Array.from({ length: 2 }, () => random.pick(library)));
      const indexed = link(opened(set), indexedCache, 'indexed');
      const plain = link(opened(set), plainCache, 'without index');
      for (let i = 0; i < 30; i += 1) {
        // Without facts of the agent, most rules that can be unknown are unknown.
        const asked = random.chance(0.3) ? { ...request(random), agent: {} } : request(random);
        const escalate = asked.satisfied.escalate.flatMap((id) => [
          id.replace('p/', 'p0/'),
          id.replace('p/', 'p1/'),
        ]);
        const facts = { ...asked, satisfied: { escalate, reauth: [] } };
        const { decision, trace } = indexed.decideTraced(facts);
        expect(decision).toEqual(plain.decide(facts));
        const all = plain.trace(facts);
        const tookPart = all.filter(
          (rule) => rule.truth === 'true' || (rule.truth === 'unknown' && takesPartUnknown(rule)),
        );
        expect({ seed, i, named: tracedRules(trace) }).toEqual({ seed, i, named: tookPart });
        expect(trace.form.others).toBe(all.length - tookPart.length);
        expect(readTrace(JSON.parse(traceText(trace)))).toEqual(trace);
        seen.named += tookPart.length;
        seen.unknown += all.filter(({ truth }) => truth === 'unknown').length;
        seen.satisfied += tookPart.filter(({ isSatisfied }) => isSatisfied).length;
      }
    }
    expect(Object.values(seen).every((count) => count > 0)).toBe(true);
  }, 60_000);

  it('drops only what is false, and decides only what is true', () => {
    const random = createRandom(5);
    const bound = () =>
      `payload.amount ${random.pick(['<', '<=', '>', '>=', '=='])} ${random.below(40) / 10}`;
    const first = () =>
      random.pick([
        `payload.vendor == "v${random.below(9)}"`,
        `payload.vendor like "v${random.below(9)}*"`,
        `payload.vendor like "v*${random.below(9)}"`,
        `payload.vendor in ["v${random.below(9)}", "v1"]`,
        `payload.amount in ${random.below(20) / 10}..${2 + random.below(9) / 10}`,
        `agent.name == "v${random.below(9)}"`,
      ]);
    const effect = () => random.pick(['allow', 'deny']);
    const more = () =>
      random.pick(['', ` and ${bound()}`, ` and ${bound()} and ${bound()}`, ` and ${first()}`]);
    const lines = Array.from({ length: 600 }, (_, at) => `${effect()} r${at} when ${first()}${more()}`);
    const { program, engine } = compileText(`${declarations}\npolicy p on a.b {\n${lines.join('\n')}\n}`);
    const { rules } = program!.actions.get('a.b')!;
    const index = createIndex(rules, keysBy(program!.lists));
    const found = new Int32Array(rules.length);
    const counts = { dropped: 0, decided: 0 };
    for (let i = 0; i < 200; i += 1) {
      const amount = random.below(41) / 10;
      const vendor = `v${random.below(10)}`;
      const agent = random.chance(0.5) ? {} : { name: `v${random.below(9)}` };
      const all: Readonly<Record<string, unknown>> = { amount, vendor };
      const payload = { amount, vendor, cost: 1, currency: 'USD', ref: 'r' };
      const values = index.subjects.map(({ term }) =>
        term.kind === 'read' ? all[term.read.steps[0]!] : agent.name,
      );
      const selected = select(index, values, found);
      const count = applyPrefilter(index.prefilter, values, { found, count: selected });
      const kept = [...found.subarray(0, count)];
      const truths = engine!.trace(factsOf(payload, { agent })).map(({ truth }) => truth);
      const decided = kept.filter((place) => place < 0).map((place) => truths[~place]);
      expect(new Set(decided)).toEqual(new Set(decided.length === 0 ? [] : ['true']));
      const left = new Set(kept.map((place) => (place < 0 ? ~place : place)));
      expect(left.size).toBe(count);
      const dropped = truths.filter((_, place) => !left.has(place) && rules[place]!.effect === 'deny');
      expect(new Set(dropped)).toEqual(new Set(['false']));
      counts.dropped += selected - count;
      counts.decided += decided.length;
    }
    expect(counts.dropped).toBeGreaterThan(tries(350));
    expect(counts.decided).toBeGreaterThan(tries(350));
  });

  it('names few rules where each is told by a value of its own', () => {
    const lines = Array.from({ length: 400 }, (_, at) =>
      at % 2 === 0
        ? `allow r${at} when payload.vendor == "v${at}" and payload.amount < 900`
        : `deny r${at} when payload.amount in ${at}..${at + 1} and payload.currency == "USD"`,
    );
    const { program } = compileText(`${declarations}\npolicy p on a.b {\n${lines.join('\n')}\n}`);
    const { rules } = program!.actions.get('a.b')!;
    const index = createIndex(rules, keysBy(program!.lists));
    const payload: Readonly<Record<string, unknown>> = { vendor: 'v8', amount: 121.5, currency: 'USD' };
    const values = index.subjects.map(({ term }) => term.kind === 'read' && payload[term.read.steps[0]!]);
    const found = new Int32Array(rules.length);
    const count = select(index, values, found);
    expect([...found.subarray(0, count)].map((place) => rules[place]!.id).toSorted()).toEqual([
      'p/r121',
      'p/r8',
    ]);
  });
});
