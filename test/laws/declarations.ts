// What every random set declares besides actions and policies: lists of each type, hours, constants, people, groups.

import type { JsonObject } from '../../src/language/model/json.ts';
import type { ScalarSort, Sort } from './fields.ts';

/** Constants for places that accept nothing else: the declaration, and its name. */
export const constantLets = {
  pattern: ['let any_alpha = "*a*"', 'any_alpha'],
  regex: ["let letters = '[a-z]+'", 'letters'],
  network: ['let inner_net = "10.0.0.0/8"', 'inner_net'],
  zone: ['let home_zone = "Europe/Berlin"', 'home_zone'],
  words: ['let odd_words = ["alpha beta", "secret"]', 'odd_words'],
  number: ['let seven = 3 + 4', 'seven'],
  money: ['let ceiling = 2 * 50 USD', 'ceiling'],
} as const satisfies Record<string, readonly [string, string]>;

/** Declared lists by the sort of value that may be looked up in them. */
export const declaredLists: Partial<Readonly<Record<ScalarSort, readonly string[]>>> = {
  text: ['friends', 'folded', 'joined', 'nobody', 'from_lines', 'from_yaml'],
  enumeration: ['friends', 'colours'],
  email: ['mail_list', 'folded'],
  url: ['friends'],
  path: ['friends'],
  host: ['hosts'],
  'folded path': ['folders'],
  number: ['some_numbers', 'from_json'],
  money: ['amounts', 'dollars'],
  duration: ['spells'],
  date: ['holidays'],
  timestamp: ['instants'],
  datetime: ['wall_times'],
  ip: ['addresses'],
  boolean: ['truths'],
};

/** Cells of declared tables by the sort of their value: the table, the sort of its key, the column. */
export const declaredColumns: Partial<
  Readonly<Record<Sort, readonly (readonly [table: string, key: 'text' | 'number', column: string])[]>>
> = {
  text: [
    ['things', 'text', '.label'],
    ['things', 'text', '.note'],
    ['grades', 'number', '.label'],
    ['parcels', 'text', '.label'],
    ['lots', 'number', '.label'],
  ],
  number: [
    ['things', 'text', '.rank'],
    ['grades', 'number', '.weight'],
    ['parcels', 'text', '.rank'],
  ],
  money: [
    ['things', 'text', '.price'],
    ['caps', 'text', ''],
    ['parcels', 'text', '.price'],
  ],
  duration: [['spans', 'text', '']],
  date: [
    ['things', 'text', '.born'],
    ['parcels', 'text', '.born'],
  ],
  timestamp: [
    ['things', 'text', '.at'],
    ['parcels', 'text', '.at'],
  ],
  datetime: [
    ['things', 'text', '.wall'],
    ['parcels', 'text', '.wall'],
  ],
  boolean: [
    ['things', 'text', '.ok'],
    ['parcels', 'text', '.ok'],
  ],
  ip: [
    ['things', 'text', '.peer'],
    ['parcels', 'text', '.peer'],
  ],
  email: [['things', 'text', '.mail']],
  url: [['things', 'text', '.site']],
  path: [
    ['things', 'text', '."the place"'],
    ['parcels', 'text', '."the place"'],
  ],
  texts: [
    ['things', 'text', '.tags'],
    ['parcels', 'text', '.tags'],
  ],
  numbers: [['things', 'text', '.sizes']],
  dates: [
    ['grades', 'number', '.days'],
    ['lots', 'number', '.days'],
  ],
};

/** The rows of declared tables that lets name. */
export const namedRows: Readonly<Record<string, string>> = { things: 'thing', parcels: 'parcel' };

/** Keys with a row, and some without. */
export const tableKeys = {
  text: ['"alpha"', '"USD"', '"low"', '"buyer-1"', '"nothing"'],
  number: ['3', '1_000', '-2', '7'],
} as const;

/** Declared tables by the sort of their keys. */
export const declaredTables = {
  text: ['things', 'caps', 'spans', 'parcels'],
  number: ['grades', 'lots'],
} as const;

export const hoursNames = ['office', 'nights', 'days_off', 'all_week', 'freezes', 'closed'];
export const groupNames = ['careful', 'open_ended'];
export const approverNames = ['finance', 'legal', 'owner'];

/** Expressions that name approvers; `KEY` is the text of a key. */
export const namedApprovers = [
  'things[KEY].mail',
  'things[KEY].label',
  'parcels[KEY].label',
  'things[KEY].note',
  'asks[KEY]',
  'desks[KEY].boss',
  'desks[KEY].desk',
  'chief',
  'deputy',
  'boss',
] as const;

/** All declarations but actions, meters and policies. */
export const fixedDeclarations: readonly string[] = [
  '# Who is asked.\napprovers finance "Finance" by chat up to risk 40',
  'approvers legal "Legal"',
  'table asks = { alpha: "finance", USD: "legal", low: "owner" }',
  'let chief = if agent.risk_tier == "low" then "legal" else asks["USD"]',
  'let deputy = things[agent.name].mail',
  'table desks pushed by "crm" key id: string { boss?: email, desk?: "finance" | "legal" | "owner" }',
  'let desk = desks[agent.name]',
  'let boss = desk.boss',
  ...Object.values(constantLets).map(([declaration]) => declaration),
  'list friends = ["alpha", "buyer-1", "VIP10", "/workspace/a", "https://a.example.com/x"]',
  'list folded ignoring case = ["ALPHA  beta", "Bob", "Ann@Example.com"]',
  'list joined ignoring case = friends + folded',
  'list nobody = [] may be empty',
  'list from_lines ignoring case from "lists/lines.txt"',
  'list from_yaml from "lists/texts.yaml"',
  'list from_json: number from "lists/numbers.json"',
  'list colours: "red" | "green" = ["red"]',
  'list mail_list: email = ["ann@example.com"]',
  'list hosts: host = ["A.example.com.", "evil.test", "10.1.2.3"]',
  'list folders: path ignoring case = ["/Workspace/./A", "b/c.pem"]',
  'list some_numbers = [0.1, -1, 3, 1_000]',
  'list amounts = [5 USD, 100 EUR, -0.5 USD]',
  'list dollars = [5 USD, 0.1 USD, 100 USD]',
  'list spells = [24h, -30s]',
  'list holidays = [2026-03-03, 2026-12-25]',
  'list instants = [2026-03-01T12:00:00Z]',
  'list wall_times: datetime = ["2026-03-01 12:00"]',
  'list addresses: ip = ["10.1.2.3", "::1"]',
  'list internal: network = ["10.0.0.0/8", "192.168.0.7", "::ffff:127.0.0.0/104", "FD00::/8"]',
  'list truths: boolean = [true]',
  `table things from "lists/things.csv" key id: string {
  label: string ..40, rank: integer, price: money(cur), cur: string, born: date, at: timestamp, wall?: datetime
  ok: boolean, tags: [string], sizes: [number], peer: ip, mail: email, site: url, "the place": path
  kind: "red" | "green", note?: string
}`,
  'table grades from "lists/grades.jsonl" key n: integer { label: string, weight: number, days: [date], ... }',
  `table parcels pushed by "crm", "gate way" key id: string {
  label: string ..40, rank: integer, price?: money(cur), cur: "USD" | "EUR", born: date, at?: timestamp, wall?: datetime
  ok: boolean, tags: [string] ..3, peer: ip, "the place": path
}`,
  'table lots pushed key n: integer { label?: string, days: [date], ... }',
  'table caps = { USD: 5 USD, alpha: 100 EUR, low: 0.1 USD }',
  'table spans = { alpha: 24h, low: 30s, "buyer-1": 7d }',
  'let thing = things["alpha"]',
  'let parcel = parcels[agent.id]',
  'let alike(t: string, u: string) = t == u or some item in agent.tags (item == t)',
  'let between(n: number) = n > 3 and n * 2 < (if thing.ok then 1_000 else 20)',
  'let costly(m: money) = m > 5 USD',
  'let ranked(key: string) = (things[key].rank else 0) > 3 or alike(key, things[key].label else key)',
  'let placed(where: address) = where.street == "alpha" or where has point and where.point.x > 0',
  'let present(t: string, all: [string]) = t in all and count item in all (item != t) < 2',
  'let doubled(n: number) = n * 2 + (if thing has note then 1 else 0)',
  'let labelled(t: string) = join(t, "-", lower(parcel.label else "none"))',
  'let at_most(m: money) = min(m, 100 USD)',
  'let later(d: date) = d + 1 month',
  'hours office = mon-fri 09:00-17:00 in "Europe/Berlin" except holidays',
  'hours nights = sat-mon 22:00-06:00, wed 01:30-02:30, 2026-03-05..2026-03-06 in "America/New_York"',
  'hours days_off = 2026-03-29, 2026-10-25, every year 12-24..01-02, every year 02-29, fri 20:00-24:00 in "Asia/Kathmandu"',
  'hours freezes from "lists/freezes.txt" in "America/New_York" except holidays',
  'hours closed from "lists/freezes.txt" in "Asia/Tokyo"',
  'hours all_week = mon-sun 00:00-24:00 in "Europe/London" except holidays',
];

/**
 * Rows of pushed tables. Some lack the declared columns or have others, like rows that were pushed before a
 * change of the table.
 */
export const pushedRows: Readonly<Record<string, readonly JsonObject[]>> = {
  parcels: [
    {
      label: 'alpha',
      rank: 3,
      price: 5,
      cur: 'USD',
      born: '2026-03-01',
      at: '2026-03-01T12:00:00Z',
      wall: '2026-03-01 12:00',
      ok: true,
      tags: ['alpha', 'beta'],
      peer: '10.1.2.3',
      'the place': '/workspace/./a',
    },
    {
      label: '',
      rank: -2,
      cur: 'EUR',
      born: '2024-02-29',
      ok: false,
      tags: [],
      peer: '::ffff:10.1.2.3',
      'the place': 'b/c.pem',
    },
    { label: 'beta', rank: 'three' },
  ],
  lots: [{ label: 'alpha', days: ['2026-03-01'], more: 1 }, { days: [] }, {}],
  desks: [{ boss: 'Ann@EXAMPLE.com', desk: 'legal' }, { desk: 'finance' }, { boss: ' ', desk: 'nobody' }, {}],
};

/** The list files that the declarations name, by path. */
export const listFiles: Readonly<Record<string, string>> = {
  'lists/lines.txt': '# names\nAlpha  Beta\n\n  bob \r\nsecret!\n',
  'lists/texts.yaml': '- alpha\n- "a-1"\n- a.example.com\n',
  'lists/freezes.txt': '# freezes\n2026-03-05..2026-03-08\n2026-11-01\nevery year 12-18..01-03\n',
  'lists/things.csv': [
    'id,label,rank,price,cur,born,at,wall,ok,tags,sizes,peer,mail,site,the place,kind,note',
    'alpha,alpha,3,5,USD,2026-03-01,2026-03-01T12:00:00Z,2026-03-01 12:00,true,alpha;beta,0.3;7,10.1.2.3,ann@EXAMPLE.com,https://a.example.com,/workspace/./a,red,note',
    'USD,"a ""b"", c",1000,0.1,EUR,2026-12-25,2026-03-29T02:30:00+02:00,,false,secret,3,::1,bob@evil.test,HTTPS://b.example.com/x,b/c.pem,green,',
    'low,"two\nlines",-2,-3,USD,2024-02-29,2026-03-02T00:00:00Z,,true,X-;b,1;1,::ffff:10.1.2.3,ann@example.com,https://a.example.com/x,/,red,VIP10',
    'buyer-1,BETA,7,2500,JPY,2026-03-01,2026-03-01T12:00:00Z,2026-03-01 12:00,false,alpha,0.1,10.1.2.3,ann@example.com,https://a.example.com/x,/workspace/a,green,alpha',
  ].join('\r\n'),
  'lists/grades.jsonl':
    '{"n": 3, "label": "alpha", "weight": 0.1, "days": ["2026-03-01"], "more": null}\n\n{"n":1000,"label":"","weight":7,"days":[]}\n{"n":-2,"label":"beta","weight":1e3,"days":["2026-12-25","2026-03-01"]}\n',
  'lists/numbers.json': '[0.3, 7, 1e3]',
};
