import { describe, expect, it } from 'vitest';
import { createFunctionCache } from '../../../src/language/emit/cache.ts';
import { type LinkedFunctions, link } from '../../../src/language/emit/link.ts';
import type { Json } from '../../../src/language/model/json.ts';
import { transferOf } from '../../../src/language/program/packed/packed.ts';
import { unpack } from '../../../src/language/program/packed/unpack.ts';
import { createPlanCache, planPacked } from '../../../src/language/program/plan/incremental.ts';
import { sha256 } from '../../../src/pipeline.ts';
import { compileText, engineOf, factsOf } from './engine.ts';

const policies = (limit: number, entries: string): string => `
  action a.b { n: number, s: string }
  action a.c { n: number }
  list blocked ignoring case = [${entries}]
  policy p on a.b { deny d when payload.s in blocked\n allow ok when payload.n < 10 }
  policy q on a.c { allow ok when payload.n < ${limit} }`;

describe('the function cache', () => {
  it('keeps the functions of actions that are equal after a reload', () => {
    const cache = createFunctionCache();
    const before = engineOf(policies(1, '"x"'), cache);
    const [b, c] = [before.code('a.b'), before.code('a.c')];
    const after = engineOf(policies(2, '"x"'), cache);
    expect(after.code('a.b')).toBe(b);
    expect(after.code('a.c')).not.toBe(c);
    expect(before.decide(factsOf({ n: 1 }, { action: 'a.c' })).outcome).toBe('DENY');
    expect(after.decide(factsOf({ n: 1 }, { action: 'a.c' })).outcome).toBe('ALLOW');
  });

  it('keeps nothing that reads a list whose entries have changed', () => {
    const cache = createFunctionCache();
    const before = engineOf(policies(1, '"x"'), cache);
    const [b, c] = [before.code('a.b'), before.code('a.c')];
    const after = engineOf(policies(1, '"y"'), cache);
    expect(after.code('a.b')).not.toBe(b);
    expect(after.code('a.c')).toBe(c);
    for (const [engine, entry] of [
      [before, 'X'],
      [after, 'Y'],
    ] as const) {
      expect(engine.decide(factsOf({ n: 1, s: entry })).by).toBe('p/d');
      expect(engine.decide(factsOf({ n: 1, s: 'other' })).by).toBe('p/ok');
    }
  });

  it('drops what the newest set does not declare, also where an older one is still in use', () => {
    const cache = createFunctionCache();
    const old = engineOf(policies(1, '"x"'), cache);
    for (const action of ['a.b', 'a.c']) old.code(action);
    const full = cache.size;
    const small = 'action a.c { n: number }\npolicy q on a.c { allow ok when payload.n < 1 }';
    engineOf(small, cache).code('a.c');
    expect(cache.size).toBeLessThan(full);
    const bounded = cache.size;
    expect(engineOf(policies(3, '"z"')).decide(factsOf({ n: 1, s: 'Z' })).by).toBe('p/d');
    expect(old.decide(factsOf({ n: 1, s: 'X' })).by).toBe('p/d');
    expect(cache.size).toBe(bounded);
  });

  it('stays the same size over many reloads', () => {
    const cache = createFunctionCache();
    const sizes = [1, 2, 3, 4, 5].map((limit) => {
      const engine = engineOf(policies(limit, `"entry ${limit}"`), cache);
      for (const action of ['a.b', 'a.c']) engine.decide(factsOf({ n: 1, s: 'x' }, { action }));
      return cache.size;
    });
    expect(new Set(sizes).size).toBe(1);
  });
});

describe('a packed program', () => {
  const program = (constant: string) =>
    planPacked(
      compileText(`action a.b { s: string }\npolicy p on a.b { allow ok when payload.s == "${constant}" }`)
        .set!,
      createPlanCache(sha256),
    );
  const outcome = (engine: LinkedFunctions, s: string) => engine.decide(factsOf({ s })).outcome;

  it('keeps functions of equal content, whoever packed it', () => {
    const cache = createFunctionCache();
    const [before, after] = [program('x'), structuredClone(program('x'))].map((packed) =>
      link(unpack(packed), cache),
    ) as [LinkedFunctions, LinkedFunctions];
    expect(after.code('a.b')).toBe(before.code('a.b'));
  });

  it('keeps none where texts alone are others under the same numbers', () => {
    const cache = createFunctionCache();
    const [x, y] = [program('x'), program('y')];
    expect(x.actions.bytes).toEqual(y.actions.bytes);
    expect(x.actions.pools).toEqual(y.actions.pools);
    const [before, after] = [link(unpack(x), cache), link(unpack(y), cache)];
    for (const s of ['x', 'y']) {
      expect([s, outcome(before, s), outcome(after, s)]).toEqual([
        s,
        s === 'x' ? 'ALLOW' : 'DENY',
        s === 'y' ? 'ALLOW' : 'DENY',
      ]);
    }
  });

  it('decides when a message has moved it', () => {
    const packed = program('x');
    const engine = link(unpack(structuredClone(packed, { transfer: transferOf(packed) })));
    expect([outcome(engine, 'x'), outcome(engine, 'y')]).toEqual(['ALLOW', 'DENY']);
    expect(engine.decide(factsOf({ s: 'x' }, { action: 'a.c' })).by).toBe('undeclared_action');
  });
});

describe('text that comes from policies and agents', () => {
  const hostile = [
    '"; throw 1; "',
    "');globalThis.stolen = 1;('",
    ['`$', '{x}`'].join(''),
    '\u2028',
    '</script>',
  ];

  it.each(hostile)('stays data as a field, an entry, a value, a pattern and a constant: %j', (text) => {
    const quoted = JSON.stringify(text).replace('\u2028', '\\u2028');
    const sentence = quoted.replace('{', '{{');
    const engine = engineOf(`
      action a.b { ${quoted}: string, kind: ${quoted} | "other", free: string }
      list entries = [${quoted}, "1", "2", "3", "4", "5", "6", "7", "8", "9"]
      policy p on a.b {
        allow a when payload.${quoted} == ${quoted}
        allow b when payload.free in entries
        allow c when payload.kind == ${quoted}
        allow d when payload.free like ${quoted}
        allow e when payload.free in [${quoted}, "x"]
        allow f when payload has ${quoted} because ${sentence.slice(0, -1)}, says {payload.free}"
      }`);
    const payload = JSON.parse(`{${quoted}:${quoted},"kind":${quoted},"free":${quoted}}`) as Record<
      string,
      Json
    >;
    const decision = engine.decide(factsOf(payload));
    expect(decision.rules).toEqual(['p/a', 'p/b', 'p/c', 'p/d', 'p/e', 'p/f']);
    const other = engine.decide(factsOf({ ...payload, free: 'y', kind: 'other', [text]: 'z' }));
    expect(other.rules).toEqual(['p/f']);
    expect(other.reason).toBe(`${text}, says y`);
    expect('stolen' in globalThis).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'reads a field that is called %s from the payload alone',
    (name) => {
      const engine = engineOf(`
        action a.b { "${name}"?: { "${name}"?: string } }
        policy p on a.b {
          allow ok when payload has "${name}"."${name}" and payload."${name}"."${name}" == "x"
          allow there when payload has "${name}"
          allow none unless payload has "${name}"
        }`);
      const rules = (payload: string) =>
        engine.decide(factsOf(JSON.parse(payload) as Record<string, Json>)).rules;
      expect(rules('{}')).toEqual(['p/none']);
      expect(rules(`{"${name}":{}}`)).toEqual(['p/there']);
      expect(rules(`{"${name}":{"${name}":"x"}}`)).toEqual(['p/ok', 'p/there']);
    },
  );

  it('is unseen where the shape lets it through undeclared', () => {
    const engine = engineOf(`
      action a.b { s: string ... }
      action a.c { s: string, n?: number }
      policy p on a.* {
        allow ok
        deny high when payload has n and payload.n > 5
        deny odd when (payload.n else 9) < 5
      }`);
    const rules = (action: string, n: Json) => engine.decide(factsOf({ s: 'x', n }, { action })).rules;
    expect(rules('a.b', 7)).toEqual(['p/ok']);
    expect(rules('a.b', { deep: [] })).toEqual(['p/ok']);
    expect(rules('a.c', 7)).toEqual(['p/high', 'p/ok']);
    expect(rules('a.c', 1)).toEqual(['p/odd', 'p/ok']);
  });
});

describe('values', () => {
  it('compares lists of every type as their elements compare', () => {
    const engine = engineOf(
      `
      action a.b {
        day: date
        peer: ip
        cost: money(currency)
        currency: string
        ratio: number
        days: [date] ..9
      }
      list days = [2026-01-01, 2026-02-01]
      list costs = [5 USD, 7.50 USD, 5 EUR]
      list ratios = [0.3, 2, 1e3]
      policy p on a.b {
        allow day when payload.day in days
        deny cost when payload.cost in costs
        allow ratio when payload.ratio in ratios
        allow sum when payload.ratio + 0.1 in ratios
        allow listed when payload.day in payload.days
        allow between when some d in payload.days (d > 2026-05-01 and d - payload.day > 24h)
      }`.replace('1e3', '1_000'),
    );
    const payload = {
      day: '2026-02-01',
      peer: '::1',
      cost: 7.5,
      currency: 'USD',
      ratio: 0.2,
      days: ['2026-02-01'],
    };
    const rules = (changes: Record<string, Json>) => engine.decide(factsOf({ ...payload, ...changes })).rules;
    expect(rules({})).toEqual(['p/cost', 'p/day', 'p/listed', 'p/sum']);
    // The amount is not among the dollars, and the entry in euros is unknown.
    expect(rules({ cost: 8 })).toContain('p/cost');
    expect(rules({ cost: 8, currency: 'GBP', ratio: 1000 })).toEqual([
      'p/cost',
      'p/day',
      'p/listed',
      'p/ratio',
    ]);
    expect(rules({ day: '2026-03-01', days: ['2026-05-02', '2026-04-30'] })).toEqual([
      'p/between',
      'p/cost',
      'p/sum',
    ]);
  });

  it('counts, sums and nests over several lists', () => {
    const engine = engineOf(`
      action a.b {
        lines: [{ sku: string, price: money(currency), currency: "USD" | "EUR" }]
        extras?: [{ sku: string, price: money(currency), currency: "USD" | "EUR" }] | null
      }
      policy p on a.b {
        allow cheap when sum line in payload.lines, payload.extras (line.price) <= 10 USD
        allow few when count line in payload.lines, payload.extras (line.sku starts with "x") < 2
        allow marked when some prefix in ["A-", "B-"] (some line in payload.lines (line.sku starts with prefix))
      }`);
    const line = (sku: string, price: number, currency = 'USD') => ({ sku, price, currency });
    const rules = (payload: Record<string, Json>) => engine.decide(factsOf(payload)).rules;
    expect(rules({ lines: [] })).toEqual(['p/cheap', 'p/few']);
    expect(rules({ lines: [line('x', 0.1), line('x', 9.9)], extras: null })).toEqual(['p/cheap']);
    expect(rules({ lines: [line('B-1', 9.9)], extras: [line('x', 0.2)] })).toEqual(['p/few', 'p/marked']);
    expect(rules({ lines: [line('y', 1, 'EUR')] })).toEqual(['p/few']);
    expect(rules({ lines: [line('y', 1, 'EUR'), line('y', 0)] })).toEqual(['p/few']);
  });

  it('takes x in xs as the Kleene or of its elements', () => {
    const engine = engineOf(`
      action a.b { s: string, xs: [string | null] }
      policy p on a.b {
        deny one when agent.name in payload.xs
        deny two when payload.s in [agent.name, "b"]
      }`);
    const truths = (payload: Record<string, Json>) =>
      engine.trace(factsOf(payload, { agent: {} })).map(({ truth }) => truth);
    expect(truths({ s: 'b', xs: [] })).toEqual(['false', 'true']);
    expect(truths({ s: 'c', xs: [null] })).toEqual(['false', 'unknown']);
    expect(truths({ s: 'c', xs: ['x'] })).toEqual(['unknown', 'unknown']);
  });
});
