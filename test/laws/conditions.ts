// Random conditions as text: connectives over atoms, each atom one operator or test of the language over random terms.

import { constantLets, declaredLists, declaredTables, tableKeys } from './declarations.ts';
import { colours, type OrderedSort, orderedSorts, type ScalarSort, type Sort } from './fields.ts';
import { letsHere, type Readable, readableHere, type Scope, withoutRisk, withPresent } from './scope.ts';
import { constant, enter, listOf, listSortsOf, subject, term } from './terms.ts';

type Atom = (scope: Scope, depth: number) => string | null;

/** A condition with at most `depth` connectives above its atoms. */
export function condition(scope: Scope, depth: number): string {
  const { random } = scope;
  if (depth <= 0 || random.chance(0.2)) return atom(scope, Math.max(depth, 1));
  switch (random.below(5)) {
    case 0:
      return joined(scope, depth, 'and');
    case 1:
      return joined(scope, depth, 'or');
    case 2:
      return `not (${condition(turned(scope), depth - 1)})`;
    case 3:
      return guarded(scope, depth) ?? joined(scope, depth, 'and');
    default:
      return quantified(scope, depth) ?? joined(scope, depth, 'or');
  }
}

/**
 * A test that some field is present, followed by a condition on that field; null when no field can be
 * missing.
 */
export function presenceGuard(
  scope: Scope,
): { readonly test: string; readonly texts: readonly string[] } | null {
  const missing = scope.readables.filter(
    (one) =>
      one.canMiss && !one.isSecret && one.sort !== 'any' && !scope.present.has(one.text) && hasTest(one),
  );
  if (missing.length === 0) return null;
  const chosen = scope.random.pick(missing);
  return { test: hasTest(chosen) ?? 'true', texts: [chosen.text] };
}

function hasTest(one: Readable): string | null {
  return one.has ?? (one.isNullable ? `${one.text} != null` : null);
}

function joined(scope: Scope, depth: number, word: 'and' | 'or'): string {
  const parts = Array.from({ length: 2 + scope.random.below(2) }, () => condition(scope, depth - 1));
  return `(${parts.join(` ${word} `)})`;
}

function guarded(scope: Scope, depth: number): string | null {
  const guard = presenceGuard(scope);
  if (guard === null) return null;
  const rest = condition(withPresent(scope, guard.texts), depth - 1);
  return scope.random.chance(0.5) ? `(${guard.test} and ${rest})` : `(not (${guard.test}) or ${rest})`;
}

function quantified(scope: Scope, depth: number): string | null {
  const inner = enter(scope);
  if (inner === null) return null;
  const word = scope.random.pick(['some', 'every', 'no']);
  const within = word === 'no' ? turned(inner.scope) : inner.scope;
  return `${word} ${inner.variable} in ${inner.sources} (${condition(within, depth - 1)})`;
}

/** The scope inside `not`, where the allowed direction of risk comparisons is reversed. */
function turned(scope: Scope): Scope {
  const risk = scope.risk === 'rise' ? 'fall' : scope.risk === 'fall' ? 'rise' : 'none';
  return { ...scope, risk };
}

function atom(scope: Scope, depth: number): string {
  const { random } = scope;
  if (scope.risk !== 'none' && random.chance(0.2)) return riskAtom(scope);
  for (let i = 0; i < 8; i++) {
    const text = random.pick(atoms)(scope, depth);
    if (text !== null) return text;
  }
  return 'request.signed';
}

function riskAtom({ random, risk }: Scope): string {
  const bound = random.pick(['10', '30', '60', '100', constantLets.number[1]]);
  const [straight, reversed] =
    risk === 'rise'
      ? [
          ['>=', '>'],
          ['<=', '<'],
        ]
      : [
          ['<=', '<'],
          ['>=', '>'],
        ];
  return random.chance(0.8)
    ? `risk ${random.pick(straight)} ${bound}`
    : `${bound} ${random.pick(reversed)} risk`;
}

const orders = ['<', '<=', '>', '>=', '==', '!='];
const equalities = ['==', '!='];

/** Mostly a sort that some field has, because conditions on the payload are the most valuable. */
function orderedSort({ random, readables }: Scope): OrderedSort {
  const own = readables.map(({ sort }) => sort).filter(isOrdered);
  return random.pick(
    own.length > 0 && random.chance(0.5)
      ? own
      : [...orderedSorts, 'duration', 'duration', 'datetime', 'datetime', 'datetime'],
  );
}

function isOrdered(sort: Sort): sort is OrderedSort {
  return (orderedSorts as readonly Sort[]).includes(sort);
}

const compared: Atom = (scope, depth) => {
  const sort = orderedSort(scope);
  const left = subject(scope, sort, depth);
  const right = scope.random.chance(0.6) ? constant(scope, sort) : term(scope, sort, depth);
  if (left === null || right === null) return null;
  const operator = scope.random.pick(orders);
  return scope.random.chance(0.9) ? `${left} ${operator} ${right}` : `${right} ${operator} ${left}`;
};

const inRange: Atom = (scope, depth) => {
  const sort = orderedSort(scope);
  const left = subject(scope, sort, depth);
  const [low, high] = rangeOf(scope, sort);
  if (left === null || low === null || high === null) return null;
  return `${left} ${membership(scope)} ${low}..${high}`;
};

function rangeOf(scope: Scope, sort: OrderedSort): readonly [string | null, string | null] {
  const ends = ranges[sort];
  if (scope.random.chance(0.7)) return scope.random.pick(ends);
  return [constant(scope, sort), term(scope, sort, 1)];
}

const ranges: Readonly<Record<OrderedSort, readonly (readonly [string, string])[]>> = {
  number: [
    ['0', '3'],
    ['0.1', '0.3'],
    ['-5', '100'],
  ],
  money: [
    ['0.01 USD', '100 USD'],
    ['0 EUR', '5 USD'],
  ],
  duration: [
    ['-24h', '24h'],
    ['30s', '7d'],
  ],
  date: [['2026-03-01', '2026-06-30']],
  timestamp: [['2026-03-01T00:00Z', '2026-03-29T02:00Z']],
  datetime: [['"2026-03-01 00:00"', '"2026-03-02 01:30:15"']],
};

function membership({ random }: Scope): string {
  return random.chance(0.7) ? 'in' : 'not in';
}

/** A literal that this kind of text may be compared with. */
function textLiteral({ random }: Scope, sort: ScalarSort): string {
  const samples: Partial<Record<ScalarSort, readonly string[]>> = {
    email: ['"ann@example.com"', '"bob@Evil.test"'],
    url: ['"https://a.example.com/x"', '"www.example.com/x"'],
    host: ['"A.example.com"', '"evil.test."', '"10.1.2.3"'],
    'folded path': ['"/Workspace/a"', '"B/c.pem"'],
    path: ['"/workspace/a"', '"b/c.pem"'],
  };
  return random.pick(
    samples[sort] ?? ['"alpha"', '"beta"', "'a-1'", '""', '"VIP10"', '"a.example.com"', '"\\u0061lpha"'],
  );
}

const freeTexts: readonly ScalarSort[] = ['text', 'text', 'email', 'url', 'host', 'path', 'folded path'];

/**
 * A term of any text sort but enumerations, because a literal compared with an enumeration must be one of its
 * values.
 */
function freeText(scope: Scope, depth: number): { readonly text: string; readonly sort: ScalarSort } | null {
  const sort = scope.random.pick(freeTexts);
  const text = subject(scope, sort, depth);
  return text === null ? null : { text, sort };
}

const textEqual: Atom = (scope, depth) => {
  const left = freeText(scope, depth);
  if (left === null) return null;
  const other = scope.random.chance(0.3) ? subject(scope, left.sort, depth) : null;
  return `${left.text} ${scope.random.pick(equalities)} ${other ?? textLiteral(scope, left.sort)}`;
};

const enumerated: Atom = (scope) => {
  const { random, actionKeys } = scope;
  const own = readableHere(scope, ['enumeration']).map(({ text, values }) => ({ text, values }));
  const areas = actionKeys.map((key) => key.slice(0, key.lastIndexOf('.')));
  const verbs = actionKeys.map((key) => key.slice(key.lastIndexOf('.') + 1));
  const { text, values } = random.pick([
    ...own,
    ...own,
    { text: 'agent.risk_tier', values: ['low', 'medium', 'high', 'critical'] },
    { text: 'action.key', values: actionKeys },
    { text: 'action.area', values: areas },
    { text: 'action.verb', values: verbs },
  ]);
  const lists = readableHere(scope, ['kinds']);
  if (lists.length > 0 && random.chance(0.3)) return `"red" ${membership(scope)} ${random.pick(lists).text}`;
  const some = random.some(values, 0.5);
  const list = (some.length === 0 ? values.slice(0, 1) : some).map((value) => JSON.stringify(value));
  if (random.chance(0.4)) return `${text} ${membership(scope)} [${[...new Set(list)].join(', ')}]`;
  const other = random.chance(0.15) ? subject(scope, 'text', 1) : null;
  return `${text} ${random.pick(equalities)} ${other ?? random.pick(list)}`;
};

const addressEqual: Atom = (scope, depth) => {
  const left = subject(scope, 'ip', depth);
  if (left === null) return null;
  const right = scope.random.pick([
    '"10.1.2.3"',
    '"::ffff:10.1.2.3"',
    subject(scope, 'ip', depth) ?? '"::1"',
  ]);
  return `${left} ${scope.random.pick(equalities)} ${right}`;
};

const flagEqual: Atom = (scope, depth) => {
  const left = subject(scope, 'boolean', depth);
  if (left === null) return null;
  const inner = withoutRisk(scope);
  const right = scope.random.pick(['true', 'false', `(${condition(inner, depth - 1)})`]);
  return `${left} ${scope.random.pick(equalities)} ${right}`;
};

const flag: Atom = (scope, depth) => subject(scope, 'boolean', depth);

const namedCondition: Atom = (scope) => {
  const lets = letsHere(scope, 'boolean');
  return lets.length === 0 ? null : scope.random.pick(lets).name;
};

const scalarSorts = [
  ...orderedSorts,
  ...(['text', 'email', 'url', 'host', 'path', 'folded path', 'ip', 'boolean'] as const),
] as const;

const inDeclared: Atom = (scope, depth) => {
  const { random } = scope;
  const sort = random.chance(0.4)
    ? orderedSort(scope)
    : random.pick([...scalarSorts, 'text', 'enumeration'] as const);
  const left = subject(scope, sort, depth);
  if (left === null) return null;
  return `${left} ${membership(scope)} ${scope.random.pick(declaredLists[sort] ?? ['friends'])}`;
};

const inTable: Atom = (scope, depth) => {
  const { random, isMeter } = scope;
  const sort = random.pick(['text', 'text', 'number'] as const);
  const left = isMeter ? null : subject(scope, sort, depth);
  return left === null ? null : `${left} ${membership(scope)} ${random.pick(declaredTables[sort])}`;
};

const inElements: Atom = (scope, depth) => {
  const { random } = scope;
  const sort = random.pick(scalarSorts);
  const sorts = listSortsOf(sort);
  if (sorts.length === 0 || random.chance(0.4)) return inLiteral(scope, sort, depth);
  const list = listOf(scope, random.pick(sorts), depth);
  // A literal must fit every entry of the list, so literals stand only before lists that are read from
  // somewhere.
  const isRead = list !== null && /^[a-z]+[.([]/.test(list);
  const literals = isRead ? (single[sort] ?? []) : [];
  const left =
    literals.length > 0 && random.chance(0.4) ? random.pick(literals) : subject(scope, sort, depth);
  return left === null || list === null ? null : `${left} ${membership(scope)} ${list}`;
};

/** Literals that may stand left of `in` a list of the payload. */
const single: Partial<Readonly<Record<ScalarSort, readonly string[]>>> = {
  text: ['"alpha"', '"trusted"'],
  number: ['3', '0.1'],
  date: ['2026-03-01'],
  ip: ['"10.1.2.3"'],
  email: ['"ann@example.com"'],
};

function inLiteral(scope: Scope, sort: ScalarSort, depth: number): string | null {
  const left = subject(scope, sort, depth);
  const entries = Array.from({ length: 1 + scope.random.below(3) }, () => literalOf(scope, sort, depth));
  if (left === null || entries.includes(null)) return null;
  return `${left} ${membership(scope)} [${entries.join(', ')}]`;
}

function literalOf(scope: Scope, sort: ScalarSort, depth: number): string | null {
  switch (sort) {
    case 'number':
    case 'money':
    case 'duration':
    case 'date':
    case 'timestamp':
      return scope.random.chance(0.2) ? term(scope, sort, depth - 1) : constant(scope, sort);
    case 'datetime':
      return constant(scope, sort);
    case 'ip':
      return scope.random.pick(['"10.1.2.3"', '"::1"']);
    case 'boolean':
      return scope.random.pick(['true', 'false']);
    case 'enumeration':
      return `"${scope.random.pick(colours)}"`;
    default:
      return textLiteral(scope, sort);
  }
}

const inHours: Atom = (scope, depth) => {
  if (scope.isMeter) return null;
  const instant = scope.random.chance(0.6) ? 'now' : subject(scope, 'timestamp', depth);
  return instant === null
    ? null
    : `${instant} ${membership(scope)} ${scope.random.pick(['office', 'nights', 'days_off', 'closed'])}`;
};

const inNetwork: Atom = (scope, depth) => {
  const left = subject(scope, 'ip', depth);
  const networks = [
    '"10.0.0.0/8"',
    '"192.168.0.0/16"',
    '"::/0"',
    '["10.0.0.0/8", "192.168.0.7", "fd00::/8"]',
    'internal',
    ...(scope.isMeter ? [] : [constantLets.network[1]]),
  ];
  return left === null ? null : `${left} ${membership(scope)} ${scope.random.pick(networks)}`;
};

const patterned: Atom = (scope, depth) => {
  const { random } = scope;
  const left = freeText(scope, depth)?.text;
  if (left === undefined) return null;
  const globs = ['"a*"', '"*a"', '"*VIP*"', '"*"', '"\\u0061*"', "'\\*'", '"a-1"', 'any of ["a*", "*1"]'];
  const regexes = ["'[a-z]+'", "'VIP.*'", "'.*'", "'\\w*-\\d'", '"a\\\\S*"', "'(?i)ALPHA'"];
  regexes.push("'(?s).*'", "'(?s:a.)b'", "'(?m)a$.^b'", "'(?ms)^a$.*'", "'a[^a]b'");
  regexes.push("any of ['VIP.*', '[a-c]+']");
  if (!scope.isMeter) {
    globs.push(constantLets.pattern[1]);
    regexes.push(constantLets.regex[1]);
  }
  return random.chance(0.5)
    ? `${left} like ${random.pick(globs)}`
    : `${left} matches ${random.pick(regexes)}`;
};

const textsInText = [
  ...['"a"', '"alpha"', '"VIP"', '""', '"@example.com"', '"X-"'],
  ...['any of friends', 'any of ["a", "VIP"]', 'any of ["X-"]'],
];

const textTest: Atom = (scope, depth) => {
  const { random } = scope;
  const left = random.chance(0.2) ? textLiteral(scope, 'text') : (freeText(scope, depth)?.text ?? null);
  const other = random.chance(0.3) ? subject(scope, 'text', depth) : null;
  const right = other ?? random.pick(textsInText);
  return left === null ? null : `${left} ${random.pick(['contains', 'starts with', 'ends with'])} ${right}`;
};

const inside: Atom = (scope, depth) => {
  const sort = scope.random.pick(['path', 'path', 'folded path'] as const);
  const left = subject(scope, sort, depth);
  const folders = [
    '"/workspace"',
    '"b"',
    '"/"',
    'any of ["/workspace", "b"]',
    subject(scope, sort, depth) ?? '"."',
  ];
  return left === null ? null : `${left} inside ${scope.random.pick(folders)}`;
};

const within: Atom = (scope, depth) => {
  const left = subject(scope, 'host', depth);
  const domains = ['"example.com"', '"test"', '["a.example.com", "Evil.test."]', '"com"'];
  return left === null ? null : `${left} within ${scope.random.pick(domains)}`;
};

const mentions: Atom = (scope, depth) => {
  // Few values mention a listed word; most of those that do are of the sort `text`.
  const left = scope.random.chance(0.7) ? subject(scope, 'text', depth) : freeText(scope, depth)?.text;
  const words = scope.isMeter ? '["alpha", "secret"]' : constantLets.words[1];
  const lists = ['["secret", "alpha beta"]', 'friends', 'folded', words, words];
  return left === undefined || left === null ? null : `${left} mentions any of ${scope.random.pick(lists)}`;
};

const singleScript: Atom = (scope, depth) => {
  const left = freeText(scope, depth)?.text;
  return left === undefined ? null : `${left} is single_script`;
};

const presence: Atom = (scope) => {
  const found = scope.readables.filter((one) => one.has !== null);
  return found.length === 0 ? null : scope.random.pick(found).has;
};

const nullTest: Atom = (scope) => {
  const found = scope.readables.filter((one) => one.isNullable && !one.isSecret && one.sort !== 'any');
  return found.length === 0 ? null : `${scope.random.pick(found).text} ${scope.random.pick(equalities)} null`;
};

/** Texts that the first elements of lists may be. */
const beginnings = ['["alpha"]', '["alpha", "beta"]', '["-x"]', '["trusted", "alpha"]', 'odd_words'];

const listPrefix: Atom = (scope) => {
  const { random } = scope;
  const lists = readableHere(scope, ['texts']).map(({ text }) => text);
  const words = lists.filter((text) => text.endsWith('.words'));
  const cells = scope.isMeter ? [] : ['things["alpha"].tags', 'parcels[agent.id].tags'];
  const begun = scope.isMeter ? beginnings.slice(0, -1) : beginnings;
  if (words.length > 0 && random.chance(0.6))
    return `${random.pick(words)} starts with ${random.pick(['["run"]', '["run", "test"]', '["ci"]', '["build"]'])}`;
  return `${random.pick([...lists, ...cells, 'agent.tags'])} starts with ${random.pick(begun)}`;
};

const cellPresence: Atom = (scope, depth) => {
  const [table, sort, columns] = scope.random.pick([
    ['things', 'text', ['note', 'wall', 'label']],
    ['parcels', 'text', ['price', 'at', '"the place"']],
    ['lots', 'number', ['label', 'days']],
    ['grades', 'number', ['label']],
  ] as const);
  if (scope.isMeter) return null;
  if (scope.random.chance(0.2)) return scope.random.pick(['thing has note', 'parcel has price']);
  const key = scope.random.chance(0.5) ? scope.random.pick(tableKeys[sort]) : term(scope, sort, depth - 1);
  return key === null ? null : `${table}[${key}] has ${scope.random.pick(columns)}`;
};

const conditionalTruth: Atom = (scope, depth) => {
  const test = condition(withoutRisk(scope), depth - 1);
  const whenTrue = condition(scope, depth - 1);
  if (scope.random.chance(0.3)) return `(if ${test} then ${whenTrue})`;
  return `(if ${test} then ${whenTrue} else ${condition(scope, depth - 1)})`;
};

/** A call of a let with parameters. */
const definition: Atom = (scope, depth) => {
  if (scope.isMeter) return null;
  // A definition may have a quantifier around its arguments, and at most two may nest.
  const argumentDepth = scope.variables.length === 0 ? depth - 1 : 0;
  const call = (name: string, ...sorts: readonly ScalarSort[]): string | null => {
    const args = sorts.map((sort) => term(scope, sort, argumentDepth));
    return args.includes(null) ? null : `${name}(${args.join(', ')})`;
  };
  const placed = (): string | null => {
    const found = readableHere(scope, ['record']).filter(({ text }) => text.endsWith('.place'));
    return found.length === 0 ? null : `placed(${scope.random.pick(found).text})`;
  };
  const present = (): string | null => {
    const [one, list] = [term(scope, 'text', argumentDepth), listOf(scope, 'texts', 0)];
    return one === null || list === null || list.startsWith('(') ? null : `present(${one}, ${list})`;
  };
  const plain = [() => call('between', 'number'), () => call('costly', 'money'), placed];
  const looping = [() => call('alike', 'text', 'text'), () => call('ranked', 'text'), present];
  return scope.random.pick(scope.variables.length > 1 ? plain : [...plain, ...looping])();
};

const atoms: readonly Atom[] = [
  listPrefix,
  cellPresence,
  conditionalTruth,
  definition,
  compared,
  compared,
  compared,
  compared,
  inRange,
  textEqual,
  textEqual,
  enumerated,
  enumerated,
  addressEqual,
  flagEqual,
  flag,
  namedCondition,
  namedCondition,
  inDeclared,
  inTable,
  inDeclared,
  inElements,
  inElements,
  inHours,
  inNetwork,
  patterned,
  textTest,
  inside,
  within,
  mentions,
  singleScript,
  singleScript,
  singleScript,
  presence,
  nullTest,
  (scope, depth) => quantified(scope, depth),
];
