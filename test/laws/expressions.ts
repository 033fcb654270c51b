// Random expressions as text, well typed by construction: each function yields an expression of the kind it is named
// after, built from what the scope offers. Optional fields are read behind `has` or `else` only.

import type { Random } from '../../src/prove/random.ts';
import type { FieldKind, Sort } from './fields.ts';

/** What a condition may read. */
export interface ExpressionScope {
  readonly random: Random;
  readonly fields: readonly ScopedField[];
  /** Names of declared lets that are conditions. */
  readonly conditions: readonly string[];
  readonly meters: readonly { readonly name: string; readonly currency: string | null }[];
  readonly textLists: readonly string[];
  readonly hours: readonly string[];
  readonly actionKeys: readonly string[];
  /** How risk may be compared here: it must never let a guard lapse. */
  readonly risk: 'guard' | 'allow' | 'none';
}

export interface ScopedField extends FieldKind {
  readonly isOptional: boolean;
}

/** A condition with at most `depth` connectives above its atoms. */
export function condition(scope: ExpressionScope, depth: number): string {
  const { random } = scope;
  if (depth <= 0 || random.chance(0.25)) return atom(scope);
  const parts = Array.from({ length: 2 + random.below(2) }, () => condition(scope, depth - 1));
  switch (random.below(3)) {
    case 0:
      return `(${parts.join(' and ')})`;
    case 1:
      return `(${parts.join(' or ')})`;
    default:
      // Under `not` a comparison of risk would turn round.
      return `not (${condition({ ...scope, risk: 'none' }, depth - 1)})`;
  }
}

function atom(scope: ExpressionScope): string {
  const { random } = scope;
  const makers = [fieldAtom, fieldAtom, fieldAtom, fieldAtom, factAtom, arithmeticAtom, timeAtom];
  if (scope.conditions.length > 0) makers.push(() => random.pick(scope.conditions));
  if (scope.meters.length > 0) makers.push(meterAtom);
  if (scope.risk !== 'none' && random.chance(0.15)) return riskAtom(scope);
  return random.pick(makers)(scope);
}

function riskAtom({ random, risk }: ExpressionScope): string {
  return `risk ${random.pick(risk === 'guard' ? ['>=', '>'] : ['<=', '<'])} ${random.pick([10, 30, 60])}`;
}

/** A condition on one field, guarded where the field may be absent or null. */
function fieldAtom(scope: ExpressionScope): string {
  const { random } = scope;
  if (scope.fields.length === 0) return factAtom(scope);
  const field = random.pick(scope.fields);
  const path = `payload.${field.name}`;
  const presence = `payload has ${field.name}`;
  const canMiss = field.isOptional || field.isNullable === true;
  if (field.sort === 'any' || field.isSecret) return presence;
  if (canMiss && random.chance(0.2)) return presence;
  if (field.isNullable && !field.isOptional && random.chance(0.3))
    return `${path} ${random.pick(['==', '!='])} null`;
  if (canMiss && field.sort === 'text' && random.chance(0.3))
    return comparedText(scope, `(${path} else "alpha")`);
  const plain = sortAtom(scope, path, field);
  if (!canMiss) return plain;
  return random.chance(0.5) ? `(${presence} and ${plain})` : `(not (${presence}) or ${plain})`;
}

function sortAtom(scope: ExpressionScope, path: string, field: ScopedField): string {
  const { random } = scope;
  const comparison = random.pick(['<', '<=', '>', '>=', '==', '!=']);
  switch (field.sort) {
    case 'number':
    case 'integer':
      return random.chance(0.8)
        ? `${path} ${comparison} ${random.pick([0, 0.3, 1, 3, 10, 100, 700])}`
        : `${path} ${random.pick(['in', 'not in'])} ${random.pick(['0..3', '0.1..0.3', '-5..100'])}`;
    case 'money':
      return random.chance(0.8)
        ? `${path} ${comparison} ${random.pick(['5 USD', '100 EUR', '0.1 USD', '2_500 JPY'])}`
        : `${path} in 0.01 USD..100 USD`;
    case 'boolean':
      return random.pick([path, `not ${path}`, `${path} == true`]);
    case 'text':
      return comparedText(scope, path);
    case 'enumeration':
      return random.pick([
        `${path} == "${field.good[0]}"`,
        `${path} != "${field.good[1]}"`,
        `${path} in ["${field.good[0]}", "${field.good[2]}"]`,
        `${path} not in ["${field.good[1]}"]`,
      ]);
    case 'email':
      return random.pick([
        `domain(${path}) == "example.com"`,
        `${path} == "ann@example.com"`,
        `${path} ends with "@example.com"`,
      ]);
    case 'url':
    case 'web_address':
      return random.pick([
        `host(${path}) == "a.example.com"`,
        `host(${path}) ends with ".example.com"`,
        `scheme(${path}) != "https"`,
        `port(${path}) == 443`,
        `${path} contains "evil"`,
      ]);
    case 'ip':
      return random.pick([
        `${path} in "10.0.0.0/8"`,
        `${path} not in "192.168.0.0/16"`,
        `${path} == "10.1.2.3"`,
      ]);
    case 'path':
      return random.pick([`${path} inside "/workspace"`, `${path} like "*.pem"`, `not (${path} inside "b")`]);
    case 'date':
      return random.pick([
        `${path} ${comparison} 2026-03-01`,
        `${path} - 2026-03-01 > 24h`,
        `${path} < today in "Europe/Berlin"`,
      ]);
    case 'timestamp':
      return random.pick([
        `${path} ${comparison} 2026-03-01T12:00:00Z`,
        `now - ${path} > 24h`,
        `date(${path}, "Asia/Tokyo") == 2026-03-02`,
        `${path} + 1h < now`,
      ]);
    case 'datetime':
      return `${path} == ${path}`;
    case 'texts':
      return random.pick([
        `"alpha" in ${path}`,
        `length(${path}) ${comparison} 2`,
        `${quantifier(random)} x in ${path} (${comparedText(scope, 'x')})`,
        `count x in ${path} (x == "alpha" or x like "b*") >= 1`,
        `some x in ${path}, agent.tags (x == "alpha")`,
      ]);
    case 'numbers':
      return random.pick([
        `length(${path}) > 1`,
        `${quantifier(random)} x in ${path} (x != null and x > 1)`,
        `sum x in ${path} (x else 0) > 0.3`,
      ]);
    case 'lines':
      return random.pick([
        `${quantifier(random)} line in ${path} (line.sku starts with "X-" and line.quantity > 1)`,
        `sum line in ${path} (line.quantity * 2) >= 10`,
        `count line in ${path} (line has gift and line.gift) ${comparison} 1`,
        `every line in ${path} (line.quantity <= 10)`,
        `some prefix in ["X-", "al"] (some line in ${path} (line.sku starts with prefix))`,
      ]);
    case 'meta':
      return random.pick([
        `${path}.source == "alpha"`,
        `(payload has ${field.name}.priority and ${path}.priority ${comparison} 3)`,
        `(${path}.priority else 0) > 3`,
      ]);
    case 'any':
      return `payload has ${field.name}`;
  }
}

function quantifier(random: Random): string {
  return random.pick(['some', 'every', 'no']);
}

function comparedText(scope: ExpressionScope, subject: string): string {
  const { random, textLists } = scope;
  const word = random.pick(['alpha', 'beta', 'a-1', '', 'VIP10']);
  const tests = [
    `${subject} == "${word}"`,
    `${subject} != "${word}"`,
    `${subject} like "${random.pick(['a*', '*a', '*VIP*', '*'])}"`,
    `${subject} matches '${random.pick(['[a-z]+', 'VIP.*', '.*', '\\w*-\\d'])}'`,
    `${subject} contains "a"`,
    `${subject} starts with "${random.pick(['a', 'VIP'])}"`,
    `${subject} ends with "a"`,
    `${subject} in ["alpha", "beta"]`,
    `lower(${subject}) == "alpha"`,
    `fold(${subject}) == "alpha beta"`,
    `trim(${subject}) != ""`,
    `length(${subject}) > 4`,
    `length(links(${subject})) > 0`,
    `${subject} mentions any of ["secret", "alpha beta"]`,
  ];
  if (textLists.length > 0) {
    tests.push(
      `${subject} in ${random.pick(textLists)}`,
      `${subject} not in ${random.pick(textLists)}`,
      `${subject} mentions any of ${random.pick(textLists)}`,
    );
  }
  return random.pick(tests);
}

function factAtom({ random, textLists, actionKeys }: ExpressionScope): string {
  return random.pick([
    'agent.risk_tier in ["high", "critical"]',
    'agent.risk_tier == "low"',
    'agent.name == "buyer-1"',
    '"trusted" in agent.tags',
    'some tag in agent.tags (tag starts with "t")',
    'agent.control_owner ends with "@example.com"',
    'agent.id != "agt-1"',
    'request.signed',
    'not request.signed',
    'request.ip in "10.0.0.0/8"',
    'request.session == "s-1"',
    `action.key == "${random.pick(actionKeys)}"`,
    `action.verb != "${random.pick(actionKeys).split('.').at(-1)}"`,
    'action.area starts with "a"',
    ...(textLists.length > 0 ? [`agent.name in ${random.pick(textLists)}`] : []),
  ]);
}

function timeAtom({ random, hours }: ExpressionScope): string {
  return random.pick([
    ...hours.flatMap((name) => [`now in ${name}`, `now not in ${name}`]),
    'now > 2026-03-02T00:00:00Z',
    'today in "America/New_York" >= 2026-03-02',
  ]);
}

function meterAtom({ random, meters }: ExpressionScope): string {
  const { name, currency } = random.pick(meters);
  const unit = currency === null ? '' : ` ${currency}`;
  const comparison = random.pick(['<', '<=', '>', '>=', '==', '!=']);
  return random.pick([
    `${name} ${comparison} ${random.pick([0, 5, 20])}${unit}`,
    `${name} * 2 ${comparison} 10${unit}`,
    `${name} in 0${unit}..20${unit}`,
    `max(${name}, 5${unit}) > 5${unit}`,
  ]);
}

function arithmeticAtom(scope: ExpressionScope): string {
  const { random } = scope;
  const comparison = random.pick(['<', '<=', '>', '>=', '==', '!=']);
  const numbers = scope.fields.filter((field) => isPlain(field, ['number', 'integer']));
  const left = number(random, numbers, 2);
  return `${left} ${comparison} ${number(random, numbers, 1)}`;
}

function number(random: Random, fields: readonly ScopedField[], depth: number): string {
  const leaf = (): string =>
    fields.length > 0 && random.chance(0.6)
      ? `payload.${random.pick(fields).name}`
      : random.pick(['0.1', '3', '0', '7', '1_000', '0.3']);
  if (depth === 0) return leaf();
  const next = (): string => number(random, fields, depth - 1);
  return random.pick([
    leaf,
    () => `(${next()} + ${next()})`,
    () => `(${next()} - ${next()})`,
    () => `(${next()} * ${next()})`,
    () => `(${next()} / ${next()})`,
    () => `-(${next()})`,
    () => `min(${next()}, ${next()})`,
    () => `abs(${next()})`,
  ])();
}

function isPlain(field: ScopedField, sorts: readonly Sort[]): boolean {
  return sorts.includes(field.sort) && !field.isOptional && !field.isNullable;
}

/** Over one element or more, for the text of a `because`. */
export function reasonPlaces({ random, fields, meters }: ExpressionScope): string {
  const shown = fields.filter(
    (field) =>
      !field.isOptional &&
      !field.isNullable &&
      !field.isSecret &&
      field.sort !== 'any' &&
      field.sort !== 'texts' &&
      field.sort !== 'lines' &&
      field.sort !== 'meta' &&
      field.sort !== 'numbers',
  );
  const places = [
    ...random.some(shown, 0.3).map(({ name }) => `{payload.${name}}`),
    ...meters.map(({ name }) => `{${name}}`),
  ];
  return `Because ${random.some([...places, '{agent.name}', '{action.key}', '{{braces'], 0.5).join(', ')}`;
}
