// The fields that random actions are made of: how each may be declared, values that are accepted and values
// that are refused, and what a condition can read of the field. The values are few and appear in the
// conditions too, so that comparisons are met as often as missed.

import type { Json } from '../../src/language/model/json.ts';

/** The kind of value in a readable place, as far as it decides which conditions may use the place. */
export type Sort = ScalarSort | ListSort | 'record' | 'any';

export type ScalarSort =
  | 'number'
  | 'money'
  | 'duration'
  | 'date'
  | 'timestamp'
  | 'datetime'
  | 'boolean'
  | 'text'
  | 'enumeration'
  | 'email'
  | 'url'
  | 'host'
  | 'path'
  | 'folded path'
  | 'ip';

/** Sorts whose values have an order. */
export const orderedSorts = ['number', 'money', 'duration', 'date', 'timestamp', 'datetime'] as const;
export type OrderedSort = (typeof orderedSorts)[number];

export type ListSort =
  | 'texts'
  | 'words'
  | 'mails'
  | 'sites'
  | 'kinds'
  | 'numbers'
  | 'gaps'
  | 'matrix'
  | 'dates'
  | 'moments'
  | 'walls'
  | 'flags'
  | 'peers'
  | 'lines'
  | 'fees'
  | 'dues'
  | 'runs';

/** A place that can be read: a field, a field of a nested record, an element of a list. */
export interface Part {
  /** The path from the field on, as written: `` or `.origin.zone`. */
  readonly steps: string;
  readonly sort: Sort;
  /** Some step may be absent or null even if the field is present. */
  readonly canMiss?: boolean;
  /** The last step may be null, and no step before it can be missing. */
  readonly isNullable?: boolean;
  readonly isSecret?: boolean;
  /** The values of an enumeration. */
  readonly values?: readonly string[];
}

/** One way to declare a field. */
export interface Form {
  readonly type: string;
  readonly isNullable?: boolean;
  readonly good: readonly Json[];
  readonly bad: readonly Json[];
}

export interface FieldKind {
  /** The key in the payload. */
  readonly key: string;
  /** The spelling after a dot, if it differs from the key. */
  readonly written?: string;
  readonly forms: readonly Form[];
  readonly parts: readonly Part[];
}

const words = [
  'alpha',
  'beta',
  'Alpha',
  'alpha  beta',
  '',
  'a-1',
  'VIP10',
  'a\nb',
  'see https://a.example.com/x now',
  'secret!',
  'ＡＬＰＨＡ',
  '\u0430lpha',
  '{risk}',
  "alpha -x 'VIP10'; beta >a-1",
  'alpha run test -w app && /usr/bin/beta build',
  'cat ./a-1 | grep -c x b/c.pem',
  '512Mi',
  '1.5 GB',
];

export const colours = ['red', 'green', 'blue'];

function field(key: string, sort: Sort, forms: readonly Form[], more: Partial<FieldKind> = {}): FieldKind {
  return { key, forms, parts: [{ steps: '', sort }], ...more };
}

function form(type: string, good: readonly Json[], bad: readonly Json[] = []): Form {
  return { type, good, bad, isNullable: type.endsWith('| null') };
}

/** Numbers of sixteen and seventeen digits, next to constants of the conditions. */
const longNumbers: readonly number[] = [
  0.30000000000000004, 0.29999999999999993, 0.09999999999999999, 3.0000000000000004, 9007199254740994,
];

const numberFields: readonly FieldKind[] = [
  field('price', 'money', [
    form('money(currency) 0..', [0, 0.1, 5, 100, 100.01, 2500], [-1, '5', null]),
    form('money(currency) -10..5_000', [-3, 0, 0.1, 5, 100], [5000.01]),
    form('money(currency) | null', [null, 0.1, 5, 100, 1e300]),
  ]),
  field('ratio', 'number', [
    form(
      'number',
      [0, 0.1, 0.2, 0.3, -1, 12, 1e15, 1e-9, 1e300, 123456789012345, ...longNumbers],
      ['0', true],
    ),
    form('number | null', [null, 0.3, 3]),
  ]),
  field('level', 'number', [
    form('number 0..10', [0, 1, 2.5, 10, 9.999999999999998], [10.5, -0.1, 10.000000000000002]),
    form('number -5..', [-5, 0, 3], [-5.1]),
  ]),
  field('times', 'number', [
    form('integer 0..20', [0, 1, 3, 20], [2.5, 21]),
    form('integer ..100', [-7, 0, 3, 5.0], ['1']),
  ]),
];

const textFields: readonly FieldKind[] = [
  field('flag', 'boolean', [form('boolean', [true, false], ['true', 0])]),
  field('label', 'text', [form('string', words, [7, ['alpha']])]),
  field('nick', 'text', [form('string | null', [null, 'alpha', 'beta'], [7])]),
  field('slug', 'text', [form("string matches '[a-z0-9-]+'", ['alpha', 'a-1', 'x'], ['A B', ''])]),
  field('short', 'text', [form('string 1..5', ['alpha', 'beta', '🎫🎫'], ['', 'toolong'])]),
  field('kind', 'enumeration', [
    form('"red" | "green" | "blue"', colours, ['Red', '']),
    form('"red" | "green"', ['red', 'green'], ['blue']),
    form('"blue" | "red" | null', [null, 'blue', 'red'], ['green']),
  ]),
  field('tier', 'enumeration', [form('tier', ['gold', 'silver'], ['bronze'])], {
    parts: [{ steps: '', sort: 'enumeration', values: ['gold', 'silver'] }],
  }),
  field('mail', 'email', [form('email', ['ann@example.com', 'bob@Evil.test'], ['ann', 'a@b@c.de'])]),
  field('contact', 'text', [
    form('string 1..99', ['ann@example.com']),
    form('string', ['alpha', 'ann@example.com']),
  ]),
  field('link', 'url', [
    form(
      'url',
      [
        'https://a.example.com/x',
        'HTTPS://A.Example.com:443/./%78',
        'http://evil.test:8080/',
        'ftp2://x.test/',
        'http://10.1.2.3/x',
        'https://[::1]:8443/',
      ],
      ['a.example.com'],
    ),
  ]),
  field('site', 'url', [
    form('web_address', ['www.example.com/x', 'https://a.example.com', 'a.b:99', '192.168.0.1'], ['no site']),
  ]),
  field('server', 'host', [
    form('host', ['a.example.com', 'Evil.TEST.', '10.1.2.3', 'bücher.example'], ['https://a.example.com']),
  ]),
  field('folder', 'folded path', [
    form('path ignoring case', ['/Workspace/A', '/workspace/./a//', 'B/c.pem', '/'], ['a\\b', '../a']),
  ]),
  field('peer', 'ip', [form('ip', ['10.1.2.3', '192.168.0.1', '::1', '::ffff:10.1.2.3'], ['10.1', 'x'])]),
  field('file', 'path', [
    form('path', ['/workspace/a', '/workspace/./a//', '/workspace/../etc', 'b/c.pem', '/'], ['a\\b', '../a']),
    form("path matches '/.*'", ['/workspace/a', '/workspace/./a//', '/b/../c.pem'], ['b/c.pem']),
  ]),
];

/** The time zones that a field may name. */
export const namedZones = ['Europe/Berlin', 'Asia/Tokyo', 'America/New_York'] as const;

/** Time fields; sometimes drawn together, so that times are compared with times. */
export const timeFields: readonly FieldKind[] = [
  field('day', 'date', [
    form('date', ['2026-03-01', '2026-12-25', '2024-02-29'], ['2026-02-30']),
    form('date 2026-01-01..2026-12-31', ['2026-03-29', '2026-01-01'], ['2025-12-31']),
  ]),
  field('at', 'timestamp', [
    form('timestamp', ['2026-03-01T12:00:00Z', '2026-03-02T01:30:00.5+02:00'], ['2026-03-01T12:00:00']),
    form('timestamp 2026-01-01T00:00Z..', ['2026-03-29T01:30:00Z'], ['2025-01-01T00:00:00Z']),
  ]),
  field('wall', 'datetime', [
    form('datetime', ['2026-03-01 12:00', '2026-03-02T01:30:15', '2025-12-31 23:59'], ['noon']),
  ]),
  field('zone', 'enumeration', [
    form(namedZones.map((zone) => JSON.stringify(zone)).join(' | '), namedZones, ['Europe/Paris']),
  ]),
];

const listFields: readonly FieldKind[] = [
  field('names', 'texts', [
    form('[string] ..4', [[], ['alpha'], ['beta', 'alpha'], ['x', 'y', 'z']], [['a', 'b', 'c', 'd', 'e']]),
    form('[string 1..9]', [[], ['alpha', '10.0.0.1']], [[''], [1]]),
    form('[string] | null', [null, ['alpha']], [[null]]),
  ]),
  field('mails', 'mails', [form('[email] 1..50', [['ann@example.com'], ['a@b.de', 'c@Evil.test']], [[]])]),
  field('sites', 'sites', [form('[web_address]', [[], ['a.example.com', 'http://evil.test']], [['']])]),
  field('kinds', 'kinds', [form('["red" | "green"]', [[], ['red', 'green']], [['blue']])]),
  field('sizes', 'gaps', [
    form('[number | null]', [[], [1], [0.1, 0.2], [5, null, 12], [0.1, 0.2, ...longNumbers]], [['1']]),
  ]),
  field('counts', 'numbers', [form('[integer 0..] ..3', [[], [1], [3, 0, 3]], [[-1], [1, 1, 1, 1]])]),
  field('matrix', 'matrix', [form('[[number]]', [[], [[]], [[1, 2], [0.3]]], [[1]])]),
  field('days', 'dates', [form('[date]', [[], ['2026-03-01'], ['2026-12-25', '2026-03-01']], [['x']])]),
  field('moments', 'moments', [form('[timestamp]', [[], ['2026-03-01T12:00:00Z']], [['x']])]),
  field('walls', 'walls', [form('[datetime]', [[], ['2026-03-01 12:00']], [['x']])]),
  field('flags', 'flags', [form('[boolean]', [[], [true], [false, true]], [[1]])]),
  field('peers', 'peers', [form('[ip]', [[], ['10.1.2.3'], ['::1', '192.168.0.1']], [['x']])]),
  field('lines', 'lines', [
    form(
      '[{ sku: string, quantity: integer 1.., gift?: boolean, cost: money(unit), unit: "USD" | "EUR", tags?: [string] | null }] ..5',
      [
        [],
        [{ sku: 'X-1', quantity: 1, cost: 5, unit: 'USD' }],
        [
          { sku: 'X-1', quantity: 5, gift: true, cost: 0.1, unit: 'USD', tags: ['alpha', 'x'] },
          { sku: 'alpha', quantity: 12, gift: false, cost: 100, unit: 'USD', tags: null },
        ],
        [
          { sku: '', quantity: 2, cost: 3, unit: 'USD', tags: [] },
          { sku: 'X-2', quantity: 3, cost: 3, unit: 'EUR' },
        ],
      ],
      [[{ sku: 'X-1' }], [{ sku: 'X-1', quantity: 0, cost: 1, unit: 'USD' }], {}],
    ),
  ]),
];

const metaForm =
  '{ source: string, priority?: integer 1..5, origin: { zone?: string | null, level: number } | null, pin: secret string }';

const recordFields: readonly FieldKind[] = [
  field(
    'meta',
    'record',
    [
      form(
        metaForm,
        [
          { source: 'alpha', origin: null, pin: '1' },
          { source: 'beta', priority: 4, origin: { level: 3 }, pin: '' },
          { source: '', priority: 1, origin: { zone: null, level: 0.3 }, pin: '1' },
          { source: 'VIP10', origin: { zone: 'alpha', level: 12 }, pin: '1' },
        ],
        [{ priority: 4 }, [], { source: 'alpha', origin: { level: '3' }, pin: '1', other: 1 }],
      ),
    ],
    {
      parts: [
        { steps: '', sort: 'record' },
        { steps: '.source', sort: 'text' },
        { steps: '.priority', sort: 'number', canMiss: true },
        { steps: '.origin', sort: 'record', canMiss: true, isNullable: true },
        { steps: '.origin.zone', sort: 'text', canMiss: true },
        { steps: '.origin.level', sort: 'number', canMiss: true },
        { steps: '.pin', sort: 'text', isSecret: true },
      ],
    },
  ),
  field(
    'place',
    'record',
    [
      form(
        'address',
        [
          { street: 'alpha' },
          { street: '', point: { x: 0.3, y: -1 } },
          { street: 'a-1', point: { x: 3, y: 7 } },
        ],
        [{ street: 'alpha', point: {} }, 'alpha'],
      ),
      form('address | null', [null, { street: 'beta', point: { x: 0, y: 0 } }], [7]),
    ],
    {
      parts: [
        { steps: '', sort: 'record' },
        { steps: '.street', sort: 'text' },
        { steps: '.point', sort: 'record', canMiss: true },
        { steps: '.point.x', sort: 'number', canMiss: true },
      ],
    },
  ),
  field(
    'bill',
    'record',
    [
      form(
        '{ net: money(currency) 0.., tip?: money(currency) | null, fees: [{ fee: money(currency) }] }',
        [
          { net: 5, fees: [] },
          { net: 100.01, tip: 3, fees: [{ fee: 5 }, { fee: 0.1 }] },
          { net: 0, tip: null, fees: [{ fee: 2500 }] },
        ],
        [{ net: -1, fees: [] }, { net: 5, fees: [{}] }, 5],
      ),
    ],
    {
      parts: [
        { steps: '', sort: 'record' },
        { steps: '.net', sort: 'money' },
        { steps: '.tip', sort: 'money', canMiss: true },
        { steps: '.fees', sort: 'fees' },
      ],
    },
  ),
  field(
    'invoice',
    'record',
    [
      form(
        '{ unit?: string | null, sum: { net?: money(unit) }, rows: [{ fee?: money(unit) | null }] } | null',
        [
          null,
          { sum: {}, rows: [] },
          { unit: 'USD', sum: { net: 5 }, rows: [{ fee: 100 }, {}] },
          { unit: 'EUR', sum: { net: 0.1 }, rows: [{ fee: null }, { fee: 5 }] },
          { unit: null, sum: { net: 5 }, rows: [{ fee: 100 }] },
          { sum: { net: 2500 }, rows: [{ fee: 3 }] },
        ],
        [
          { unit: 'usd', sum: { net: 5 }, rows: [] },
          { unit: 'USD', sum: {}, rows: [{ fee: '5' }] },
        ],
      ),
    ],
    {
      parts: [
        { steps: '', sort: 'record' },
        { steps: '.sum.net', sort: 'money', canMiss: true },
        { steps: '.rows', sort: 'dues', canMiss: true },
      ],
    },
  ),
  field('blob', 'any', [form('any', [1, { deep: [null] }, 'text', null])]),
  field('x-id', 'text', [form('string', ['alpha', 'a-1', ''])], { written: '"x-id"' }),
  field('__proto__', 'number', [form('number', [0, 3, 7])]),
  field('to', 'text', [form('string', words)]),
  field('when', 'number', [form('number', [0, 3])], { written: '"when"' }),
];

export const fieldKinds: readonly FieldKind[] = [
  ...numberFields,
  ...textFields,
  ...timeFields,
  ...listFields,
  ...recordFields,
];

/** The currency field that accompanies every amount of money. */
export const currencyField: FieldKind = field('currency', 'enumeration', [
  form('"USD" | "EUR" | "JPY"', ['USD', 'EUR', 'JPY'], ['usd', 'XXX1']),
  form('"USD"', ['USD'], ['EUR']),
]);

/** Declarations of the types that forms name. */
export const typeDeclarations: readonly string[] = [
  'type tier = "gold" | "silver"',
  'type point = { x: number, y: number }',
  'type address = { street: string, point?: point }',
];

/** What a quantifier's variable offers, by the sort of the list. */
export const elementParts: Readonly<Record<ListSort, readonly Part[]>> = {
  texts: [{ steps: '', sort: 'text' }],
  words: [{ steps: '', sort: 'enumeration', values: ['alpha', 'secret'] }],
  mails: [{ steps: '', sort: 'email' }],
  sites: [{ steps: '', sort: 'url' }],
  kinds: [{ steps: '', sort: 'enumeration', values: ['red', 'green'] }],
  numbers: [{ steps: '', sort: 'number' }],
  gaps: [{ steps: '', sort: 'number', canMiss: true, isNullable: true }],
  matrix: [{ steps: '', sort: 'numbers' }],
  dates: [{ steps: '', sort: 'date' }],
  moments: [{ steps: '', sort: 'timestamp' }],
  walls: [{ steps: '', sort: 'datetime' }],
  flags: [{ steps: '', sort: 'boolean' }],
  peers: [{ steps: '', sort: 'ip' }],
  lines: [
    { steps: '.sku', sort: 'text' },
    { steps: '.quantity', sort: 'number' },
    { steps: '.gift', sort: 'boolean', canMiss: true },
    { steps: '.cost', sort: 'money' },
    { steps: '.unit', sort: 'enumeration', values: ['USD', 'EUR'] },
    { steps: '.tags', sort: 'texts', canMiss: true },
  ],
  // An amount in the currency of the payload.
  fees: [{ steps: '.fee', sort: 'money' }],
  // An amount in the currency of an enclosing record.
  dues: [{ steps: '.fee', sort: 'money', canMiss: true }],
  runs: [
    { steps: '.program', sort: 'text' },
    { steps: '.subcommand', sort: 'text' },
    { steps: '.args', sort: 'texts' },
    { steps: '.options', sort: 'texts' },
    { steps: '.words', sort: 'texts' },
    { steps: '.files', sort: 'texts' },
    { steps: '.only_reads', sort: 'boolean' },
  ],
};

export function isList(sort: Sort): sort is ListSort {
  return Object.hasOwn(elementParts, sort);
}
