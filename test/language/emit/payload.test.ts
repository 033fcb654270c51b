import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payloadIssues } from '../../../src/language/emit/code/payload-issues.ts';
import { link } from '../../../src/language/emit/link.ts';
import type { Json } from '../../../src/language/model/json.ts';
import type { PolicySet } from '../../../src/language/model/policy.ts';
import { type Field, listOf, quantity, type Type } from '../../../src/language/model/type.ts';
import { opened } from '../program/programs.ts';
import { compileText, engineOf } from './engine.ts';

function pointers(body: string, payload: Json): string[] {
  const engine = engineOf(`action a.b {\n${body}\n}`);
  return engine.checkPayload('a.b', payload)!.map(({ pointer }) => pointer);
}

const everyType = `
  flag: boolean
  text: string 2..4
  slug?: string matches '[a-z]+'
  kind: "a" | "b"
  count: integer 1..5
  ratio?: number 0..1 | null
  day?: date 2026-01-01..2026-12-31
  at?: timestamp
  wall?: datetime
  mail?: email
  href?: url
  site?: web_address
  peer?: ip
  file?: path
  tags: [string] ..2
  lines?: [{ sku: string, gift?: boolean }]
  amount: money(currency) 0.01..
  currency: string
  "__proto__"?: string
  constructor?: { "toString": integer }
  blob?: any`;

const good = {
  flag: true,
  text: 'ab',
  kind: 'a',
  count: 5,
  tags: [],
  amount: 0.01,
  currency: 'USD',
} as const;

describe('the payload check', () => {
  it('passes a payload of the shape', () => {
    expect(pointers(everyType, good)).toEqual([]);
    const full = `{"slug":"a","ratio":null,"day":"2026-12-31","at":"2026-01-01T00:00:00Z","wall":"2026-01-01 12:00",
      "mail":"a@b.example","href":"https://a.example/","site":"a.example","peer":"::1","file":"/a",
      "lines":[{"sku":"x"},{"sku":"y","gift":false}],"__proto__":"own","constructor":{"toString":1},"blob":[null]}`;
    const payload = JSON.parse(`${full.slice(0, -1)},${JSON.stringify(good).slice(1)}`) as Json;
    expect(pointers(everyType, payload)).toEqual([]);
  });

  it.each([
    ['flag', 'true'],
    ['text', 'a'],
    ['text', '🎫'],
    ['text', 'abcde'],
    ['slug', 'A'],
    ['slug', 'a\n'],
    ['kind', 'c'],
    ['count', 0],
    ['count', 2.5],
    ['ratio', 1.01],
    ['day', '2025-12-31'],
    ['day', '2026-02-30'],
    ['at', '2026-01-01'],
    ['wall', '2026-01-01T12:00Z'],
    ['mail', 'a'],
    ['href', 'a.example'],
    ['site', ''],
    ['peer', '10.0.0.256'],
    ['file', 'a\\b'],
    ['tags', ['a', 'b', 'c']],
    ['tags', { length: 0 }],
    ['lines', [[]]],
    ['amount', 0],
    ['amount', '1'],
    ['constructor', {}],
    ['currency', 'usd'],
  ] as const)('refuses %s %j', (field, value) => {
    expect(pointers(everyType, { ...good, [field]: value } as Json)).not.toEqual([]);
  });

  it('takes ranges with both ends, whole numbers with a point, and code points', () => {
    for (const change of [{ count: 1 }, { count: 5 }, { text: '🎫🎫🎫🎫' }, { ratio: 0 }, { ratio: 1 }]) {
      expect(pointers(everyType, { ...good, ...change })).toEqual([]);
    }
  });

  it('names places in the order of the shape, then undeclared keys in their own', () => {
    const integer = quantity('integer');
    const fields = [
      field('one', integer),
      field('two', listOf(integer)),
      field('three', { kind: 'record', shape: { fields: [field('x', integer)], isOpen: false } }),
      field('four', integer),
    ];
    const payload = { z: 1, four: 'x', three: { y: 1 }, two: [1, 'x', null], a: 1 };
    const issues = link(opened(setOf(fields))).checkPayload('a.b', payload)!;
    expect(issues.map(({ pointer }) => pointer)).toEqual([
      '/one',
      '/two/1',
      '/two/2',
      '/three/x',
      '/three/y',
      '/four',
      '/z',
      '/a',
    ]);
    expect(issues[0]).toEqual({ pointer: '/one', message: 'is required' });
    expect(issues[1]).toEqual({ pointer: '/two/1', message: 'must be integer' });
    expect(issues[6]).toEqual({ pointer: '/z', message: 'is not declared' });
  });

  it('stops after ten', () => {
    const keys = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, 1]));
    expect(pointers('x?: integer', keys)).toHaveLength(10);
  });

  it('escapes and cuts what an agent may choose', () => {
    const payload = { 'a/b~c': 1, '\u001b[0m\u202e': 1, ['k'.repeat(300)]: 1 };
    expect(pointers('x?: integer', payload)).toEqual([
      '/a~1b~0c',
      '/\\u001b[0m\\u202e',
      `/${'k'.repeat(100)}`,
    ]);
  });

  it('refuses what is no record', () => {
    for (const payload of [null, [], 'x', 1, true]) expect(pointers('x?: integer', payload)).toEqual(['']);
  });

  it('blames an unknown currency on the amount, a missing one on the currency', () => {
    const body = 'amount: money(currency)\ncurrency: string';
    expect(pointers(body, { amount: 1, currency: 'XQQ' })).toEqual(['/amount']);
    expect(pointers(body, { amount: 1 })).toEqual(['/currency']);
    expect(pointers(body, { amount: 1, currency: 5 })).toEqual(['/currency']);
  });

  it('does not take an inherited property for a field', () => {
    expect(pointers('constructor: any', {})).toEqual(['/constructor']);
    expect(pointers('x?: integer', JSON.parse('{"__proto__":{"x":1}}') as Json)).toEqual(['/__proto__']);
  });

  it('lets undeclared keys through where the body ends with dots', () => {
    expect(pointers('x: integer\n...', { x: 1, y: [null] })).toEqual([]);
  });

  it('answers null for an action that is not declared', () => {
    expect(engineOf('action a.b { x?: integer }').checkPayload('a.c', {})).toBeNull();
  });

  it('answers as the walk that names places does', () => {
    const { engine, program } = compileText(`action a.b {\n${everyType}\n}`);
    const { shape } = program!.actions.get('a.b')!;
    const keys = [...shape.fields.map(({ name }) => name), 'other'];
    const values = fc.oneof(
      fc.constantFrom<Json>('a', 'ab', '2026-01-01', 1, 0.5, true, null, 'USD', '::1', 'a.example'),
      fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), values, { maxKeys: 4 }), (changes) => {
        const payload = { ...good, ...changes } as Json;
        expect(engine!.checkPayload('a.b', payload)).toEqual(payloadIssues(shape, payload));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** A set with one action of this shape and nothing else. */
function setOf(fields: readonly Field[]): PolicySet {
  const span = { file: 'x', start: 0, end: 0 };
  const action = {
    key: 'a.b',
    groups: [],
    shape: { fields, isOpen: false },
    title: null,
    result: null,
    doc: null,
    span,
  };
  return {
    actions: new Map([['a.b', action]]),
    lists: new Map(),
    tables: new Map(),
    hours: new Map(),
    lets: new Map(),
    meters: new Map(),
    approvers: new Map(),
    policies: [],
    guarantees: [],
  };
}

function field(name: string, type: Type): Field {
  return { name, type, isOptional: false, isNullable: false, isSecret: false, isSigned: false };
}
