// Packed programs: reading back gives what was packed, part by part and whole, in whatever order sets follow
// each other.

import { describe, expect, it } from 'vitest';
import type { PolicySet } from '../../../src/language/model/policy.ts';
import { anyText } from '../../../src/language/model/type.ts';
import { createIndex, keysBy } from '../../../src/language/program/index/rule-index.ts';
import { createAssembly } from '../../../src/language/program/packed/assemble.ts';
import { packPart } from '../../../src/language/program/packed/blocks.ts';
import { transferOf } from '../../../src/language/program/packed/packed.ts';
import { type OpenProgram, unpack, wholeAction } from '../../../src/language/program/packed/unpack.ts';
import { createTextPool, createValueWriter, readValue } from '../../../src/language/program/packed/values.ts';
import { createPlanCache, planPacked } from '../../../src/language/program/plan/incremental.ts';
import type { Program } from '../../../src/language/program/program.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { ByteReader, ByteWriter } from '../../../src/language/value/table/bytes.ts';
import { sha256 } from '../../../src/pipeline.ts';
import { corpus } from '../../laws/corpus.ts';
import { compileSet } from '../../laws/differential.ts';
import { randomSet } from '../../laws/policies.ts';
import { compileText } from '../emit/engine.ts';
import { opened as open, pack, plan } from './programs.ts';

/** The value after packing into bytes and reading back. */
function again(value: unknown): unknown {
  const bytes = new ByteWriter();
  const pool = createTextPool();
  createValueWriter(bytes, pool)(value);
  const reader = new ByteReader(bytes.take());
  const back = readValue(reader, (place) => pool.texts[place]!);
  expect(reader.at).toBe(reader.bytes.length);
  return back;
}

/** The program as plain maps, which `toStrictEqual` compares. */
function whole({ actions, lists, tables, hours }: Program) {
  return {
    actions: new Map(actions),
    lists: new Map(lists),
    tables: new Map(tables),
    hours: new Map(hours),
  };
}

function setOf(text: string): PolicySet {
  return compileText(text).set!;
}

describe('plain data in bytes', () => {
  const numbers = [
    0,
    31,
    32,
    -1,
    127,
    128,
    2 ** 31,
    2 ** 51,
    2 ** 51 + 1,
    -(2 ** 51),
    2 ** 53,
    1e300,
    0.1,
    -0,
  ];
  const special = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324];
  const bigints = [0n, 127n, 128n, -1n, 2n ** 64n, -(2n ** 200n)];
  const texts = ['', 'a', 'é', '\u{1f600}', '\ud800', '\0', 'x'.repeat(10_000)];

  it('keeps numbers, texts and the like', () => {
    for (const value of [...numbers, ...special, ...bigints, ...texts, null, undefined, true, false]) {
      expect(again(value)).toStrictEqual(value);
      expect(again([value, { value }])).toStrictEqual([value, { value }]);
    }
  });

  it('keeps records of one form, texts in a row, numbers in a row and maps', () => {
    const parts: readonly unknown[] = [
      Array.from({ length: 5 }, (_, at) => ({ kind: 'literal', value: `v${at}`, isThere: true })),
      Array.from({ length: 200 }, (_, at) => ({ [`key ${at}`]: at })),
      Array.from({ length: 300 }, (_, at) => `text ${at}`),
      ['a', 'b', 'c', 'a'],
      [[{ n: 1n }, { n: 2n }, { n: 3n }, { n: 4n }], []],
      new Map<unknown, unknown>([
        ['a', [1]],
        [1n, new Map()],
      ]),
      { a: Int32Array.of(1, -1), b: new Int32Array(), c: Float64Array.of(0.5, -0, Number.NaN) },
      { a: undefined, b: null },
      {},
      [],
    ];
    for (const part of parts) expect(again(part)).toStrictEqual(part);
    expect(again(parts)).toStrictEqual(parts);
  });

  it('keeps the order of keys and names that prototypes have', () => {
    const part = JSON.parse('{"toString":1,"b":{"__proto__":{"a":1}},"a":2}') as object;
    const back = again(part) as object;
    expect(JSON.stringify(back)).toBe(JSON.stringify(part));
    expect(again([part, part, part, part])).toStrictEqual([part, part, part, part]);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
  });

  it('keeps whatever is drawn', () => {
    const random = createRandom(7);
    for (let i = 0; i < 300; i += 1) {
      const part = randomPart(random, 4);
      expect(again(part)).toStrictEqual(part);
    }
  });

  it('is only for data', () => {
    expect(() => again(() => 1)).toThrow(TypeError);
    expect(() => again([new Date()])).toThrow(TypeError);
    expect(() => again(new Set(['a']))).toThrow(TypeError);
  });

  it('says so when it is cut off', () => {
    const bytes = new ByteWriter();
    createValueWriter(bytes, createTextPool())([300, 2.5, -7n]);
    const all = bytes.take();
    for (let length = 0; length < all.length; length += 1) {
      expect(() => readValue(new ByteReader(all.slice(0, length)), String)).toThrow(RangeError);
    }
  });
});

function randomPart(random: RandomSource, depth: number): unknown {
  const leaf = random.pick([
    null,
    true,
    false,
    'payload',
    'x',
    '',
    random.below(300),
    -random.below(300),
    0.25,
    12n,
  ]);
  if (depth === 0) return leaf;
  const inner = () => Array.from({ length: random.below(7) }, () => randomPart(random, depth - 1));
  const record = () =>
    Object.fromEntries(inner().map((value, at) => [random.pick(['kind', 'a', `k${at}`]), value]));
  const alike = () =>
    Array.from({ length: 6 }, () => ({ kind: random.pick(['a', 'b']), n: randomPart(random, depth - 1) }));
  return random.pick<() => unknown>([
    inner,
    record,
    alike,
    () => new Map(inner().map((value, at) => [at, value])),
    () => leaf,
  ])();
}

describe('a packed program', () => {
  it('is read back as it was, over all examples and random sets', () => {
    let actions = 0;
    const drawn = Array.from({ length: 30 }, (_, seed) => randomSet(createRandom(900 + seed)));
    for (const files of [...corpus(), ...drawn]) {
      const { set } = compileSet(files);
      if (set === null) continue;
      const program = plan(set);
      const opened = unpack(pack(program));
      expect(whole(opened)).toStrictEqual(whole(program));
      actions += opened.actions.size;
    }
    expect(actions).toBeGreaterThan(100);
  }, 60_000);

  it('is read rule by rule', () => {
    const set = setOf(`action a.b { n: number }\napprovers f "F"
      policy p on a.b {
        allow ok when payload.n < 5 for 1h\n shadow deny d when risk > 20 because "n is {payload.n}"
        escalate e to f needs 2 within 2h when payload.n > 3 risk +5
      }`);
    const program = plan(set);
    const opened = unpack(pack(program)).open('a.b')!;
    const { rules } = program.actions.get('a.b')!;
    for (const [place, { condition, ...head }] of [...rules.entries()].reverse()) {
      expect(opened.condition(place)).toStrictEqual(condition);
      expect(opened.head(place)).toStrictEqual(head);
      expect(opened.readsRisk(place)).toBe(head.readsRisk);
    }
    expect([opened.ruleCount, opened.hasAfterRisk, opened.hasShadow]).toEqual([3, true, true]);
    expect(wholeAction(opened)).toStrictEqual(program.actions.get('a.b'));
  });

  it('knows its actions and no others', () => {
    const keys = Array.from({ length: 700 }, (_, at) => `a.b${at}`);
    const opened = open(setOf(keys.map((key) => `action ${key} { n: number }\n`).join('')));
    expect([...opened.actions.keys()]).toEqual([...keys].sort());
    for (const key of keys) expect(opened.open(key)?.action).toBe(key);
    for (const other of ['', 'a', 'a.b', 'a.b0 ', 'a.b700', '__proto__', 'toString']) {
      expect(opened.open(other)).toBeNull();
      expect(opened.actions.has(other)).toBe(false);
      expect(opened.actions.get(other)).toBeUndefined();
    }
  });

  it('has an index for an action of many rules, equal to the one made from them', () => {
    const rules = Array.from({ length: 300 }, (_, at) =>
      at % 2 === 0
        ? `allow r${at} when payload.s == "v${at % 80}"`
        : `deny r${at} when payload.n in ${at}..${at + 3}`,
    );
    const set = setOf(
      `action a.b { n: number, s: string }\naction a.c { n: number }\npolicy p on a.b { ${rules.join('\n')} }`,
    );
    const program = plan(set);
    const opened = unpack(pack(program));
    expect(opened.index('a.b')).toStrictEqual(
      createIndex(program.actions.get('a.b')!.rules, keysBy(program.lists)),
    );
    expect(opened.index('a.c')).toBeNull();
  });

  it('moves in a message', () => {
    const program = plan(setOf('action a.b { n: number }\npolicy p on a.b { allow ok when payload.n < 5 }'));
    const packed = pack(program);
    const moved = structuredClone(packed, { transfer: transferOf(packed) });
    expect(whole(unpack(moved))).toStrictEqual(whole(program));
    expect(packed.actions.bytes.length).toBe(0);
  });
});

describe('one set after the other', () => {
  const actions = Array.from({ length: 12 }, (_, at) => `action a.b${at} { n: number, s: string }`).join(
    '\n',
  );
  const policiesCount = 60;

  /** A set with one of three states of the declarations that policies name, and with all policies. */
  function text(limit: number): string {
    const random = createRandom(11);
    const policies = Array.from({ length: policiesCount }, (_, at) => {
      const n = random.below(3);
      const conditions = [
        `payload.n < ${n}`,
        'payload.s in l',
        'big',
        `payload.s == "t${at}" and in_hours`,
        `payload.s in ["a${at}", "b", "c${n}", "d", "e"]`,
      ];
      const rules = Array.from({ length: 8 }, (_, r) => `deny r${r} when ${random.pick(conditions)}`);
      const target = at % 5 === 0 ? 'a.*' : `a.b${at % 3 === 0 ? 0 : at % 12}`;
      return `policy p${at} on ${target} { ${rules.join('\n')} }`;
    });
    return `${actions}
      list l = ["x"${limit === 0 ? '' : ', "y"'}]
      hours office = mon-fri 0${7 + limit}:00-17:00 in "Europe/Berlin"
      let big = payload.n > ${limit} + payload.n / 2
      let in_hours = now in office
      ${policies.join('\n')}`;
  }

  /**
   * Sets that differ in some policies, and sometimes in the declarations that these use; an unchanged part is
   * the same object.
   */
  function drawSet(random: RandomSource): PolicySet {
    const policies = states[0]!.policies.filter(() => random.chance(0.9));
    return { ...states[random.chance(0.8) ? 0 : random.below(3)]!, policies };
  }

  const states = [0, 1, 2].map((limit) => setOf(text(limit)));

  it('comes to what each comes to alone', () => {
    const random = createRandom(3);
    const memory = createPlanCache(sha256);
    const rules: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      const set = drawSet(random);
      const [opened, alone] = [unpack(planPacked(set, memory)), open(set)];
      expect(whole(opened)).toStrictEqual(whole(plan(set)));
      for (const key of set.actions.keys()) {
        expect(opened.index(key)).toStrictEqual(alone.index(key));
        rules.push(opened.open(key)!.ruleCount);
      }
    }
    // Some actions have enough rules to keep rules one by one, some do not.
    expect([Math.min(...rules) < 200, Math.max(...rules) > 200]).toEqual([true, true]);
  }, 60_000);

  it('has the hashes that each has alone, where rules are not kept one by one', () => {
    const random = createRandom(4);
    const memory = createPlanCache(sha256);
    for (let i = 0; i < 10; i += 1) {
      const set = drawSet(random);
      const few = { ...set, policies: set.policies.slice(0, 12) };
      expect(hashes(unpack(planPacked(few, memory)))).toEqual(hashes(open(few)));
    }
  });

  it('plans no rule anew that is as it was, where an action has many', () => {
    const memory = createPlanCache(sha256);
    planPacked(states[0]!, memory);
    const [key, { many }] = [...memory.actions].find(([, known]) => known.many !== null)!;
    const [, ...others] = states[0]!.policies;
    planPacked({ ...states[0]!, policies: others }, memory);
    const after = memory.actions.get(key)!.many!;
    for (const [rule, alone] of after.alone) expect(alone).toBe(many!.alone.get(rule));
    for (const [rule, bytes] of after.packed.bytes) {
      const isAlone = [...after.alone.values()].some((alone) => alone?.rule === rule);
      expect(many!.packed.bytes.get(rule)).toBe(isAlone ? bytes : undefined);
    }
    planPacked({ ...states[1]!, policies: others }, memory);
    const anew = memory.actions.get(key)!.many!;
    expect(
      [...anew.alone].filter(([rule, alone]) => alone !== null && alone === after.alone.get(rule)),
    ).toEqual([]);
  });

  it('plans nothing anew that is as it was', () => {
    const set = { ...states[0]!, policies: states[0]!.policies.slice(0, 12) };
    const memory = createPlanCache(sha256);
    planPacked(set, memory);
    const before = new Map(memory.actions);
    const [first, ...others] = set.policies;
    const changed = {
      ...first!,
      actions: ['a.b0'],
      rules: first!.rules.map((rule) => ({ ...rule, points: 7 })),
    };
    const wasOn = first!.actions;
    const next = { ...set, policies: [changed, ...others] };
    const packed = planPacked(next, memory);
    const kept = [...memory.actions].filter(([key, known]) => known === before.get(key)).map(([key]) => key);
    expect(kept).toEqual([...set.actions.keys()].filter((key) => key !== 'a.b0' && !wasOn.includes(key)));
    expect(whole(unpack(packed))).toStrictEqual(whole(plan(next)));
  });

  it('gives up the texts that are named no longer', () => {
    const assembly = createAssembly();
    const none = new Map<string, never>();
    for (let round = 0; round < 12; round += 1) {
      const entries = Array.from({ length: 3_000 }, (_, at) => `${round} ${at}`);
      const list = { name: 'l', type: anyText, ignoringCase: false, entries };
      const lists = new Map([['l', packPart(list, sha256)]]);
      const packed = assembly.assemble({ actions: none, tables: none, hours: none, indexes: none, lists });
      expect(packed.texts.ends.length).toBeLessThan(31_000);
      expect(unpack(packed).lists.get('l')).toStrictEqual(list);
    }
  });

  it('tells apart what differs in one text alone', () => {
    const program = (text: string) =>
      open(
        setOf(
          `action a.b { s: string }\nlist l = ["${text}"]\npolicy p on a.b { deny r when payload.s in l }`,
        ),
      );
    expect(program('x').listHash('l')).not.toBe(program('y').listHash('l'));
    const constant = (text: string) =>
      open(setOf(`action a.b { s: string }\npolicy p on a.b { deny r when payload.s == "${text}" }`));
    expect(constant('x').open('a.b')!.hash).not.toBe(constant('y').open('a.b')!.hash);
    expect(constant('x').open('a.b')!.hash).toBe(constant('x').open('a.b')!.hash);
  });

  function hashes(opened: OpenProgram): readonly string[] {
    return [
      ...[...opened.actions.keys()].map((key) => opened.open(key)!.hash),
      ...[...opened.lists.keys()].map((name) => opened.listHash(name)),
      ...[...opened.hours.keys()].map((name) => opened.hoursHash(name)),
    ];
  }
});
