// Random terms as text, well typed by construction: each entry of the table makes an expression of its sort
// from what the scope offers. Compound terms stand in parentheses, so that they fit anywhere.

import { constantLets, declaredColumns, namedRows, tableKeys } from './declarations.ts';
import {
  elementParts,
  isList,
  type ListSort,
  namedZones,
  type OrderedSort,
  type ScalarSort,
  type Sort,
} from './fields.ts';
import {
  elementReadables,
  letsHere,
  missingHere,
  type Readable,
  readableHere,
  type Scope,
  withoutRisk,
} from './scope.ts';

type Maker = (scope: Scope, depth: number) => string | null;

const literals: Readonly<Record<Exclude<OrderedSort, 'datetime'>, readonly string[]>> = {
  number: [
    ...['0', '1', '3', '0.1', '0.3', '7', '1_000', '-2', '12', '4.5', '20'],
    // A number of a payload, the same number with a digit more, and one that lies between two doubles.
    ...['0.30000000000000004', '0.300000000000000041', '9_007_199_254_740_993'],
  ],
  money: ['5 USD', '100 EUR', '0.1 USD', '2_500 JPY', '-3 USD', '0 USD'],
  duration: ['30s', '1h', '24h', '7d', '1h', '-30s'],
  date: ['2026-03-01', '2026-12-25', '2024-02-29', '2026-03-29'],
  timestamp: ['2026-03-01T12:00:00Z', '2026-03-29T02:30:00+02:00', '2026-03-02T01:30:00.5+02:00'],
};

const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Asia/Kathmandu'];

/** A literal, or for sorts without literals an expression that always has a value. */
export function constant(scope: Scope, sort: OrderedSort): string | null {
  const { random } = scope;
  if (sort === 'datetime') return '"2026-03-01 12:00"';
  if (!scope.isMeter && random.chance(0.1)) {
    if (sort === 'number') return constantLets.number[1];
    if (sort === 'money') return constantLets.money[1];
  }
  if (sort === 'number' && random.chance(0.03)) return '9_999_999_999_999_999_999_999_999_999_999_999';
  return random.pick(literals[sort]);
}

/** A random expression of the sort; null when the scope offers none. */
export function term(scope: Scope, sort: ScalarSort, depth: number): string | null {
  return (
    named(scope, sort) ??
    firstOf(scope, depth > 0 && scope.random.chance(0.6) ? compound[sort] : plain[sort], depth)
  );
}

/** Like `term`, but never a lone literal, so that a literal can be compared with it. */
export function subject(scope: Scope, sort: ScalarSort, depth: number): string | null {
  const made =
    named(scope, sort) ?? firstOf(scope, scope.random.chance(0.5) ? compound[sort] : reads[sort], depth);
  return made ?? firstOf(scope, [...reads[sort], ...compound[sort]], depth);
}

/**
 * Sometimes a let of the sort. Lets that read risk are excluded, because a comparison may reverse their
 * direction.
 */
function named(scope: Scope, sort: ScalarSort): string | null {
  const lets = letsHere(withoutRisk(scope), sort);
  return lets.length > 0 && scope.random.chance(0.2) ? scope.random.pick(lets).name : null;
}

function firstOf(scope: Scope, makers: readonly Maker[], depth: number): string | null {
  const start = scope.random.below(Math.max(makers.length, 1));
  for (let i = 0; i < makers.length; i++) {
    const made = makers[(start + i) % makers.length]!(scope, depth - 1);
    if (made !== null) return made;
  }
  return null;
}

/** Joins parts into a text; null when any part is null. */
function made(parts: TemplateStringsArray, ...values: readonly (string | null)[]): string | null {
  if (values.includes(null)) return null;
  return parts.reduce((text, part, index) => `${text}${values[index - 1]}${part}`);
}

function read(...sorts: readonly Sort[]): Maker {
  return (scope) => {
    const found = readableHere(scope, sorts);
    return found.length === 0 ? null : scope.random.pick(found).text;
  };
}

/** A field that may be missing, with a value for that case. */
function otherwise(
  sorts: readonly Sort[],
  fallback: (scope: Scope, subject: Readable) => string | null,
): Maker {
  return (scope) => {
    const found = missingHere(scope, sorts);
    if (found.length === 0) return null;
    const one = scope.random.pick(found);
    return made`(${one.text} else ${fallback(scope, one)})`;
  };
}

function fact(...names: readonly string[]): Maker {
  return ({ random }) => random.pick(names);
}

/** Wraps a maker that reads time, which a meter may not. */
function timely(maker: Maker): Maker {
  return (scope, depth) => (scope.isMeter ? null : maker(scope, depth));
}

function operation(operator: string, left: ScalarSort, right: ScalarSort): Maker {
  return (scope, depth) => made`(${term(scope, left, depth)} ${operator} ${term(scope, right, depth)})`;
}

function called(name: string, ...sorts: readonly ScalarSort[]): Maker {
  return (scope, depth) => {
    const args = sorts.map((sort) => term(scope, sort, depth));
    return args.includes(null) ? null : `${name}(${args.join(', ')})`;
  };
}

function negative(sort: ScalarSort): Maker {
  return (scope, depth) => made`-(${term(scope, sort, depth)})`;
}

/** A call of a let with one parameter, which a meter may not read. */
function defined(name: string, sort: ScalarSort): Maker {
  return timely(called(name, sort));
}

/** Makers of `min` and `max`, which take two values and more. */
function extremes(sort: ScalarSort): readonly Maker[] {
  return [called('min', sort, sort), called('max', sort, sort), called('max', sort, sort, sort)];
}

function meter(currency: string | null): Maker {
  return (scope) => {
    const found = scope.isMeter ? [] : scope.meters.filter((one) => one.currency === currency);
    return found.length === 0 ? null : scope.random.pick(found).name;
  };
}

/** `sum x in xs (e)` with a body of the sort. */
function summed(sort: ScalarSort): Maker {
  return (scope, depth) => {
    const inner = enter(scope);
    if (inner === null) return null;
    const body = term(inner.scope, sort, depth);
    return made`sum ${inner.variable} in ${inner.sources} (${body})`;
  };
}

const counted: Maker = (scope, depth) => {
  const inner = enter(scope);
  if (inner === null) return null;
  return `count ${inner.variable} in ${inner.sources} (${scope.condition(withoutRisk(inner.scope), depth)})`;
};

/** A cell of a declared table, found by a constant or by a value of the request. */
function column(sort: Sort): Maker {
  return timely((scope, depth) => {
    const found = declaredColumns[sort];
    if (found === undefined) return null;
    const [table, keySort, step] = scope.random.pick(found);
    const named = namedRows[table];
    if (named !== undefined && scope.random.chance(0.15)) return `${named}${step}`;
    const key = scope.random.chance(0.6)
      ? scope.random.pick(tableKeys[keySort])
      : term(scope, keySort, depth);
    return made`${table}[${key}]${step}`;
  });
}

/** A cell of a declared table, with a value for the case that there is none. */
function cellOtherwise(sort: ScalarSort): Maker {
  return (scope, depth) => made`(${column(sort)(scope, depth)} else (${term(scope, sort, depth)}))`;
}

/** A value of two, by a condition. */
function conditional(sort: ScalarSort): Maker {
  return (scope, depth) => {
    // Each condition may have values by other conditions, without end.
    const { conditionals = 0 } = scope;
    if (conditionals > 3) return null;
    const inner = { ...withoutRisk(scope), conditionals: conditionals + 1 };
    const test = scope.condition(inner, Math.max(depth, 0));
    const [first, second] = [term(scope, sort, depth), term(scope, sort, depth)];
    return made`(if ${test} then (${first}) else ${second})`;
  };
}

const quantityOf: Maker = (scope, depth) =>
  scope.random.chance(0.5)
    ? `quantity(${scope.random.pick(['"512Mi"', '"100m"', '"1.5 GB"', '"1.5"', '"x"', '"9E"'])})`
    : made`quantity(${term(scope, 'text', depth)})`;

const lengthOfList: Maker = (scope, depth) => made`length(${listTerm(scope, depth)})`;

/** All kinds of text, for places that accept any of them. */
const textKinds = ['text', 'email', 'url', 'host', 'path', 'folded path', 'enumeration'] as const;
const anyText: Maker = (scope, depth) => term(scope, scope.random.pick(textKinds), depth);

function textCall(name: string): Maker {
  return (scope, depth) => made`${name}(${anyText(scope, depth)})`;
}

const zone: Maker = (scope) => {
  const { random } = scope;
  const fields = readableHere(scope, ['enumeration']).filter(({ values }) =>
    values.every((value) => namedZones.some((one) => one === value)),
  );
  if (fields.length > 0 && random.chance(0.5)) return random.pick(fields).text;
  return scope.isMeter || random.chance(0.7) ? `"${random.pick(zones)}"` : constantLets.zone[1];
};
const today: Maker = timely(({ random }) => `today in "${random.pick(zones)}"`);
const literal =
  (sort: OrderedSort): Maker =>
  (scope) =>
    constant(scope, sort);

const textFallback = (scope: Scope): string | null =>
  scope.random.pick([
    '"none"',
    '"alpha"',
    "'a-1'",
    '("alpha")',
    ...readableHere(scope, ['text']).map((one) => one.text),
  ]);

/** Steps of months; the last one leads out of the calendar. */
const monthsSteps = ['+ 1 month', '+ 18 years', '- 6 months', '- 1 year', '+ 9_000 years'];

/** Makers of plain reads. */
const reads: Readonly<Record<ScalarSort, readonly Maker[]>> = {
  number: [
    read('number'),
    read('number'),
    meter(null),
    otherwise(['number'], (scope) => scope.random.pick(['0', '-2', '(3 / 0)'])),
    otherwise(['number'], (scope) => read('number')(scope, 0)),
  ],
  money: [
    read('money'),
    meter('USD'),
    otherwise(['money'], (scope) => scope.random.pick(['5 USD', '(0 USD)'])),
  ],
  duration: [],
  date: [read('date'), today, otherwise(['date'], () => '2026-03-01')],
  timestamp: [
    read('timestamp'),
    timely(fact('now')),
    otherwise(['timestamp'], (scope) => (scope.isMeter ? '2026-03-01T12:00:00Z' : 'now')),
  ],
  datetime: [
    read('datetime'),
    read('datetime'),
    otherwise(['datetime'], (scope) => read('datetime')(scope, 0)),
  ],
  boolean: [
    read('boolean'),
    read('boolean'),
    fact('request.signed', 'request.delegated'),
    otherwise(['boolean'], (scope) => scope.random.pick(['true', 'false'])),
  ],
  text: [
    read('text'),
    read('text'),
    fact(
      'agent.id',
      'agent.name',
      'agent.control_owner',
      'request.session',
      'request.point',
      'request.delegate',
    ),
    fact('request.user.id'),
    otherwise(['text'], textFallback),
  ],
  enumeration: [read('enumeration')],
  email: [read('email'), fact('request.user.email'), otherwise(['email'], () => '"ann@Example.com"')],
  url: [read('url'), otherwise(['url'], () => '"HTTPS://A.example.com/./x"')],
  host: [read('host'), read('host'), otherwise(['host'], () => '"A.example.com."')],
  path: [read('path'), otherwise(['path'], (scope) => read('path')(scope, 0))],
  'folded path': [read('folded path'), otherwise(['folded path'], () => '"/WORKSPACE/a/"')],
  ip: [read('ip'), fact('request.ip'), otherwise(['ip'], () => 'request.ip')],
};

/** Makers of terms from other terms. */
const compound: Readonly<Record<ScalarSort, readonly Maker[]>> = {
  number: [
    conditional('number'),
    cellOtherwise('number'),
    defined('doubled', 'number'),
    operation('+', 'number', 'number'),
    operation('-', 'number', 'number'),
    operation('*', 'number', 'number'),
    operation('/', 'number', 'number'),
    operation('/', 'money', 'money'),
    negative('number'),
    ...extremes('number'),
    called('abs', 'number'),
    textCall('length'),
    lengthOfList,
    called('port', 'url'),
    quantityOf,
    counted,
    summed('number'),
  ],
  money: [
    conditional('money'),
    cellOtherwise('money'),
    defined('at_most', 'money'),
    operation('+', 'money', 'money'),
    operation('-', 'money', 'money'),
    operation('*', 'money', 'number'),
    operation('*', 'number', 'money'),
    operation('/', 'money', 'number'),
    negative('money'),
    ...extremes('money'),
    called('abs', 'money'),
    summed('money'),
  ],
  duration: [
    conditional('duration'),
    operation('-', 'date', 'date'),
    operation('-', 'timestamp', 'timestamp'),
    operation('-', 'datetime', 'datetime'),
    operation('+', 'duration', 'duration'),
    operation('-', 'duration', 'duration'),
    operation('*', 'duration', 'number'),
    operation('*', 'number', 'duration'),
    operation('/', 'duration', 'number'),
    negative('duration'),
    negative('duration'),
    // What is between two instants may be unknown.
    operation('-', 'timestamp', 'timestamp'),
    operation('-', 'datetime', 'datetime'),
    operation('-', 'timestamp', 'timestamp'),
    operation('-', 'datetime', 'datetime'),
    ...extremes('duration'),
    called('abs', 'duration'),
    summed('duration'),
  ],
  date: [
    conditional('date'),
    cellOtherwise('date'),
    defined('later', 'date'),
    (scope, depth) => made`date(${term(scope, 'timestamp', depth)}, ${zone(scope, depth)})`,
    (scope, depth) => made`(${term(scope, 'date', depth)} ${scope.random.pick(monthsSteps)})`,
    ...extremes('date'),
  ],
  timestamp: [
    conditional('timestamp'),
    cellOtherwise('timestamp'),
    operation('+', 'timestamp', 'duration'),
    operation('-', 'timestamp', 'duration'),
    ...extremes('timestamp'),
  ],
  datetime: [...extremes('datetime'), conditional('datetime')],
  boolean: [cellOtherwise('boolean')],
  text: [
    conditional('text'),
    defined('labelled', 'text'),
    called('join', 'text', 'text'),
    called('join', 'text', 'text', 'text'),
    cellOtherwise('text'),
    textCall('lower'),
    textCall('trim'),
    textCall('fold'),
    (scope, depth) => made`lower(domain(${term(scope, 'email', depth)}))`,
    (scope, depth) => made`lower(host(${term(scope, 'url', depth)}))`,
    called('scheme', 'url'),
    (scope, depth) => made`lower(first(${listOf(scope, 'texts', depth)}))`,
  ],
  enumeration: [],
  email: [conditional('email'), cellOtherwise('email')],
  url: [conditional('url')],
  host: [
    conditional('host'),
    (scope, depth) => made`host(${term(scope, 'url', depth)})`,
    (scope, depth) => made`domain(${term(scope, 'email', depth)})`,
  ],
  path: [conditional('path')],
  'folded path': [conditional('folded path')],
  ip: [conditional('ip'), cellOtherwise('ip'), (scope, depth) => made`ip(${term(scope, 'host', depth)})`],
};

for (const sort of Object.keys(reads) as readonly ScalarSort[])
  if (declaredColumns[sort] !== undefined) (reads[sort] as Maker[]).push(column(sort));

const plain: Readonly<Record<ScalarSort, readonly Maker[]>> = {
  ...reads,
  number: [...reads.number, literal('number'), literal('number')],
  money: [...reads.money, literal('money'), literal('money')],
  duration: [literal('duration')],
  date: [...reads.date, literal('date')],
  timestamp: [...reads.timestamp, literal('timestamp')],
};

/** List literals that a list term or a quantifier may go through, by sort. */
const listLiterals: Partial<Readonly<Record<ListSort, readonly string[]>>> = {
  texts: ['["alpha", agent.name]', '["X-", agent.id, "beta"]'],
  numbers: ['[1, 0.3]', '[7]'],
  dates: ['[2026-03-01, 2026-12-25]'],
  moments: ['[2026-03-01T12:00:00Z]'],
  flags: ['[true]'],
  words: ['["alpha", "secret"]'],
  kinds: ['["red", "green"]'],
  runs: ['commands("npm run test -w app")', 'commands("npm ci && cat ./a-1")', 'commands("npm $x")'],
};

/** An expression for a whole list of the sort. */
export function listOf(scope: Scope, sort: ListSort, depth: number): string | null {
  const options: Maker[] = [read(sort), read(sort)];
  if (sort === 'texts')
    options.push(fact('agent.tags', 'request.chain', 'request.user.roles', 'request.user.groups'));
  if (sort === 'sites') options.push((inner) => made`links(${term(inner, 'text', depth)})`);
  if (sort === 'runs') options.push((inner) => made`commands(${term(inner, 'text', depth)})`);
  options.push(column(sort));
  options.push(otherwise([sort], () => '([])'));
  options.push(({ random }) => (listLiterals[sort] === undefined ? null : random.pick(listLiterals[sort])));
  const lets = letsHere(scope, sort);
  if (lets.length > 0) options.push(() => scope.random.pick(lets).name);
  return firstOf(scope, options, depth);
}

function listTerm(scope: Scope, depth: number): string | null {
  const sorts = scope.readables.map(({ sort }) => sort).filter(isList);
  return listOf(scope, scope.random.pick([...sorts, 'texts', 'runs']), depth);
}

const variableNames = ['item', 'inner'];

/** Opens a quantifier over one to three lists of one element type; null inside of two quantifiers. */
export function enter(
  scope: Scope,
): { readonly variable: string; readonly sources: string; readonly scope: Scope } | null {
  const { random } = scope;
  const variable = variableNames[scope.variables.length];
  if (variable === undefined) return null;
  const sort = random.pick(sourceSorts(scope));
  const sources = sourcesOf(scope, sort);
  if (sources.length === 0) return null;
  const chosen = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => random.pick(sources));
  return {
    variable,
    sources: [...new Set(chosen)].join(', '),
    scope: {
      ...scope,
      variables: [...scope.variables, variable],
      readables: [...scope.readables, ...elementReadables(variable, sort)],
    },
  };
}

function sourceSorts(scope: Scope): readonly ListSort[] {
  const own = scope.readables.map(({ sort }) => sort).filter(isList);
  // Lists of an outer variable are drawn more often, because they test nesting.
  const nested = scope.readables.flatMap(({ text, sort }) =>
    scope.variables.some((name) => text.startsWith(name)) && isList(sort) ? [sort, sort, sort] : [],
  );
  return [...own, ...nested, 'texts', 'sites', 'runs', 'numbers'];
}

/** Lists of the sort; an absent list counts as empty, so presence is not required. */
function sourcesOf(scope: Scope, sort: ListSort): readonly string[] {
  const fields = scope.readables.filter((one) => one.sort === sort && !one.isSecret).map(({ text }) => text);
  const lets = letsHere(scope, sort).map(({ name }) => name);
  const cell = scope.isMeter ? null : column(sort)(scope, 0);
  const written = [...(listLiterals[sort] ?? []), ...(cell === null ? [] : [cell])];
  if (sort === 'texts') return [...fields, ...lets, ...written, 'agent.tags', 'request.user.groups'];
  const made = sort === 'sites' ? 'links' : sort === 'runs' ? 'commands' : null;
  if (made === null) return [...fields, ...lets, ...written];
  const parsed = readableHere(scope, ['text']).map(({ text }) => `${made}(${text})`);
  return [...fields, ...written, ...parsed];
}

/** Sorts of lists whose elements are compared as values of this sort. */
export function listSortsOf(sort: ScalarSort): readonly ListSort[] {
  const sorts = Object.keys(elementParts) as readonly ListSort[];
  return sorts.filter((one) => elementParts[one].some((part) => part.steps === '' && part.sort === sort));
}
