// The fields that random actions are made of: a declaration each, values that pass it, and values that do not. The
// values are few and stand in the conditions too, so that comparisons are met as often as missed.

import type { Json } from '../../src/model/json.ts';

export type Sort =
  | 'number'
  | 'integer'
  | 'money'
  | 'boolean'
  | 'text'
  | 'enumeration'
  | 'email'
  | 'url'
  | 'web_address'
  | 'ip'
  | 'path'
  | 'date'
  | 'timestamp'
  | 'datetime'
  | 'texts'
  | 'numbers'
  | 'lines'
  | 'meta'
  | 'any';

export interface FieldKind {
  readonly name: string;
  readonly sort: Sort;
  readonly declaration: string;
  readonly isNullable?: boolean;
  readonly isSigned?: boolean;
  readonly isSecret?: boolean;
  readonly good: readonly Json[];
  readonly bad: readonly Json[];
}

const words = [
  'alpha',
  'beta',
  'Alpha',
  'alpha beta',
  '',
  'a-1',
  'VIP10',
  'see https://a.example.com/x now',
  'secret!',
];

export const fieldKinds: readonly FieldKind[] = [
  {
    name: 'price',
    sort: 'money',
    declaration: 'money(currency) 0..',
    good: [0, 0.1, 5, 100, 100.01, 2500],
    bad: [-1, '5', null],
  },
  {
    name: 'ratio',
    sort: 'number',
    declaration: 'number',
    good: [0, 0.1, 0.2, 0.3, -1, 12, 1e15, 1e-9],
    bad: ['0', true],
  },
  { name: 'level', sort: 'number', declaration: 'number 0..10', good: [0, 1, 2.5, 10], bad: [10.5, -0.1] },
  { name: 'times', sort: 'integer', declaration: 'integer 0..20', good: [0, 1, 3, 20], bad: [2.5, 21] },
  { name: 'flag', sort: 'boolean', declaration: 'boolean', good: [true, false], bad: ['true', 0] },
  { name: 'label', sort: 'text', declaration: 'string', good: words, bad: [7, ['alpha']] },
  {
    name: 'nick',
    sort: 'text',
    declaration: 'string | null',
    isNullable: true,
    good: [null, 'alpha', 'beta'],
    bad: [7],
  },
  {
    name: 'slug',
    sort: 'text',
    declaration: "string matches '[a-z0-9-]+'",
    good: ['alpha', 'a-1', 'x'],
    bad: ['A B', ''],
  },
  {
    name: 'short',
    sort: 'text',
    declaration: 'string 1..5',
    good: ['alpha', 'beta', '🎫🎫'],
    bad: ['', 'toolong'],
  },
  {
    name: 'kind',
    sort: 'enumeration',
    declaration: '"red" | "green" | "blue"',
    good: ['red', 'green', 'blue'],
    bad: ['Red', ''],
  },
  {
    name: 'mail',
    sort: 'email',
    declaration: 'email',
    good: ['ann@example.com', 'bob@Evil.test'],
    bad: ['ann', 'a@b@c.de'],
  },
  {
    name: 'link',
    sort: 'url',
    declaration: 'url',
    good: ['https://a.example.com/x', 'http://evil.test:8080/'],
    bad: ['a.example.com'],
  },
  {
    name: 'site',
    sort: 'web_address',
    declaration: 'web_address',
    good: ['www.example.com/x', 'https://a.example.com'],
    bad: ['no site'],
  },
  {
    name: 'peer',
    sort: 'ip',
    declaration: 'ip',
    good: ['10.1.2.3', '192.168.0.1', '::1', '::ffff:10.1.2.3'],
    bad: ['10.1', 'x'],
  },
  {
    name: 'file',
    sort: 'path',
    declaration: 'path',
    good: ['/workspace/a', '/workspace/../etc', 'b/c.pem'],
    bad: ['a\\b'],
  },
  {
    name: 'day',
    sort: 'date',
    declaration: 'date',
    good: ['2026-03-01', '2026-12-25', '2024-02-29'],
    bad: ['2026-02-30'],
  },
  {
    name: 'at',
    sort: 'timestamp',
    declaration: 'timestamp',
    good: ['2026-03-01T12:00:00Z', '2026-03-02T01:30:00.5+02:00'],
    bad: ['2026-03-01T12:00:00'],
  },
  {
    name: 'wall',
    sort: 'datetime',
    declaration: 'datetime',
    good: ['2026-03-01 12:00', '2026-03-02T01:30:15'],
    bad: ['noon'],
  },
  {
    name: 'names',
    sort: 'texts',
    declaration: '[string] ..4',
    good: [[], ['alpha'], ['beta', 'alpha'], ['x', 'y', 'z']],
    bad: [['a', 'b', 'c', 'd', 'e'], [1]],
  },
  {
    name: 'sizes',
    sort: 'numbers',
    declaration: '[number | null]',
    good: [[], [1], [0.1, 0.2], [5, null, 12]],
    bad: [['1']],
  },
  {
    name: 'lines',
    sort: 'lines',
    declaration: '[{ sku: string, quantity: integer 1.., gift?: boolean }] ..5',
    good: [
      [],
      [{ sku: 'X-1', quantity: 1 }],
      [
        { sku: 'X-1', quantity: 5, gift: true },
        { sku: 'alpha', quantity: 12, gift: false },
      ],
    ],
    bad: [[{ sku: 'X-1' }], [{ sku: 'X-1', quantity: 0 }], {}],
  },
  {
    name: 'meta',
    sort: 'meta',
    declaration: '{ source: string, priority?: integer 1..5 }',
    good: [{ source: 'alpha' }, { source: 'beta', priority: 4 }, { source: '', priority: 1 }],
    bad: [{ priority: 4 }, [], { source: 'alpha', other: 1 }],
  },
  { name: 'blob', sort: 'any', declaration: 'any', good: [1, { deep: [null] }, 'text'], bad: [] },
  {
    name: 'score',
    sort: 'integer',
    declaration: 'signed integer 0..1_000',
    isSigned: true,
    good: [0, 3, 20, 700],
    bad: [1001],
  },
  {
    name: 'listed',
    sort: 'boolean',
    declaration: 'signed boolean',
    isSigned: true,
    good: [true, false],
    bad: ['no'],
  },
  {
    name: 'pin',
    sort: 'text',
    declaration: 'secret string',
    isSecret: true,
    good: ['1234', '0000'],
    bad: [1234],
  },
];

/** Goes with `price`. */
export const currencyField: FieldKind = {
  name: 'currency',
  sort: 'enumeration',
  declaration: '"USD" | "EUR" | "JPY"',
  good: ['USD', 'EUR', 'JPY'],
  bad: ['usd', 'XXX1'],
};
