// Writes expressions of the model in the language, so that a proposed change reads as a condition of a
// policy. Nested operations are in parentheses, except for tests that `and` or `or` joins. Literals are escaped as
// data.

import { elementsOf } from '../../language/model/children.ts';
import { pathText, quoted, stepText } from '../../language/model/describe.ts';
import { type Call, type Expression, oppositeComparison } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { showValue } from '../../language/spec/show.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { formatCidr } from '../../language/value/ip.ts';
import { escapeControls } from '../../language/value/text.ts';

/** The expression on one line. */
export function expressionText(set: PolicySet, expression: Expression): string {
  const text = (operand: Expression): string => expressionText(set, operand);
  const inner = (operand: Expression): string =>
    isOperation(operand) ? `(${text(operand)})` : text(operand);
  const joined = (operands: readonly Expression[]): string => operands.map(text).join(', ');
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string'
        ? quoted(expression.value)
        : expression.value === null
          ? 'null'
          : showValue(expression.type, expression.value);
    case 'field':
      return pathText(expression.root, expression.steps);
    case 'fact':
      return expression.fact;
    case 'meter':
      return expression.meter;
    case 'column':
      return `${expression.table}[${text(expression.key)}]${expression.column === '' ? '' : `.${stepText(expression.column)}`}`;
    case 'let':
      return set.lets.get(expression.id)?.name ?? expression.id;
    case 'now':
    case 'risk':
      return expression.kind;
    case 'not':
      return negatedText(set, expression.operand);
    case 'and':
      return joinedText(set, expression);
    case 'or':
      return withinText(set, expression) ?? joinedText(set, expression);
    case 'compare':
    case 'text-test':
    case 'arithmetic':
      return `${inner(expression.left)} ${expression.operator} ${inner(expression.right)}`;
    case 'is-null':
      return `${text(expression.subject)} == null`;
    case 'has': {
      const { root, steps } = expression.subject;
      return steps.length === 0 ? `${root} != null` : `${root} has ${steps.map(stepText).join('.')}`;
    }
    case 'has-cell': {
      const { table, key, column } = expression.cell;
      return `${table}[${text(key)}] has ${stepText(column)}`;
    }
    case 'if': {
      const { condition, whenTrue, otherwise } = expression;
      return `if ${text(condition)} then ${inner(whenTrue)} else ${text(otherwise)}`;
    }
    case 'list-prefix':
      return `${inner(expression.subject)} starts with [${expression.texts.map(quoted).join(', ')}]`;
    case 'else':
      return `${text(expression.subject)} else ${inner(expression.fallback)}`;
    case 'in-list':
    case 'in-table':
    case 'in-elements':
    case 'in-range':
    case 'in-hours':
    case 'in-cidr':
      return `${inner(expression.subject)} in ${containerText(set, expression)}`;
    case 'like':
    case 'matches':
      return `${inner(expression.subject)} ${expression.kind} '${escapeControls(expression.pattern)}'`;
    case 'mentions': {
      const { words } = expression;
      const source = words.kind === 'list' ? words.list : `[${words.words.map(quoted).join(', ')}]`;
      return `${inner(expression.subject)} mentions any of ${source}`;
    }
    case 'single-script':
      return `${inner(expression.subject)} is single_script`;
    case 'negate':
      return `-${inner(expression.operand)}`;
    case 'quantify':
      return quantifiedText(expression, expression.quantifier, joined, text(expression.body));
    case 'list':
    case 'text-list':
      return `[${joined(elementsOf(expression)!)}]`;
    case 'call':
      if (expression.builtin === 'months_later') return monthsText(expression, inner);
      return expression.builtin === 'today'
        ? `today in ${joined(expression.args)}`
        : `${expression.builtin}(${joined(expression.args)})`;
  }
}

type Junction = Extract<Expression, { readonly kind: 'and' | 'or' }>;

function joinedText(set: PolicySet, { kind, operands }: Junction): string {
  const text = (operand: Expression): string => {
    const isWithin = operand.kind === 'or' && withinText(set, operand) !== null;
    const isBracketed = ['and', 'or', 'if', 'else'].includes(operand.kind) && !isWithin;
    return isBracketed ? `(${expressionText(set, operand)})` : expressionText(set, operand);
  };
  return operands.map(text).join(` ${kind} `);
}

/** The test `within`, which the model has as two tests for each domain; null for any other `or`. */
function withinText(set: PolicySet, { operands }: Junction): string | null {
  const hosts = new Set<string>();
  const domains: string[] = [];
  for (let at = 0; at < operands.length; at += 2) {
    const [same, below] = [operands[at], operands[at + 1]];
    if (same?.kind !== 'compare' || same.operator !== '==' || same.right.kind !== 'literal') return null;
    if (below?.kind !== 'text-test' || below.operator !== 'ends with' || below.right.kind !== 'literal')
      return null;
    const domain = same.right.value;
    if (typeof domain !== 'string' || below.right.value !== `.${domain}`) return null;
    for (const { left } of [same, below])
      hosts.add(isOperation(left) ? `(${expressionText(set, left)})` : expressionText(set, left));
    domains.push(domain);
  }
  const [host] = hosts;
  return hosts.size === 1 ? `${host} within ${domainsText(set, domains)}` : null;
}

/** The name of the list with these domains; the domains themselves when no list has exactly these. */
function domainsText({ lists }: PolicySet, domains: readonly string[]): string {
  const isSame = ({ entries }: { readonly entries: readonly unknown[] }): boolean =>
    entries.length === domains.length && entries.every((entry, at) => entry === domains[at]);
  const list = [...lists.values()].find(isSame);
  if (list !== undefined) return list.name;
  return domains.length === 1 ? quoted(domains[0]!) : `[${domains.map(quoted).join(', ')}]`;
}

/** A date that is moved by years or months, such as `payload.born + 18 years`. */
function monthsText({ args }: Call, inner: (operand: Expression) => string): string {
  const [date, later] = args as readonly [Expression, Expression];
  const months = later.kind === 'literal' ? toNumber(later.value as Decimal) : 0;
  const [count, unit] = months % 12 === 0 ? [Math.abs(months) / 12, 'year'] : [Math.abs(months), 'month'];
  return `${inner(date)} ${months < 0 ? '-' : '+'} ${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The opposite of the condition, on one line. */
export function negatedText(set: PolicySet, condition: Expression): string {
  const text = (operand: Expression): string => expressionText(set, operand);
  switch (condition.kind) {
    case 'not':
      return text(condition.operand);
    case 'compare':
      return text({ ...condition, operator: oppositeComparison[condition.operator] });
    case 'is-null':
      return `${text(condition.subject)} != null`;
    case 'in-list':
    case 'in-table':
    case 'in-elements':
    case 'in-range':
    case 'in-hours':
    case 'in-cidr': {
      const { subject } = condition;
      const subjectText = isOperation(subject) ? `(${text(subject)})` : text(subject);
      return `${subjectText} not in ${containerText(set, condition)}`;
    }
    case 'quantify':
      if (condition.quantifier === 'some') {
        const joined = (sources: readonly Expression[]): string => sources.map(text).join(', ');
        return quantifiedText(condition, 'no', joined, text(condition.body));
      }
      return `not (${text(condition)})`;
    case 'field':
    case 'fact':
    case 'let':
      return `not ${text(condition)}`;
    default:
      return `not (${text(condition)})`;
  }
}

const operations: ReadonlySet<Expression['kind']> = new Set([
  'not',
  'and',
  'or',
  'compare',
  'text-test',
  'arithmetic',
  'is-null',
  'has',
  'has-cell',
  'if',
  'list-prefix',
  'else',
  'in-list',
  'in-table',
  'in-elements',
  'in-range',
  'in-hours',
  'in-cidr',
  'like',
  'matches',
  'mentions',
  'single-script',
]);

function isOperation({ kind }: Expression): boolean {
  return operations.has(kind);
}

type Membership = Extract<
  Expression,
  { readonly kind: 'in-list' | 'in-table' | 'in-elements' | 'in-range' | 'in-hours' | 'in-cidr' }
>;

function containerText(set: PolicySet, membership: Membership): string {
  switch (membership.kind) {
    case 'in-list':
      return membership.list;
    case 'in-table':
      return membership.table;
    case 'in-elements':
      return expressionText(set, membership.elements);
    case 'in-range':
      return `${expressionText(set, membership.low)}..${expressionText(set, membership.high)}`;
    case 'in-hours':
      return membership.hours;
    case 'in-cidr':
      return quoted(formatCidr(membership.cidr));
  }
}

function quantifiedText(
  { variable, sources }: Extract<Expression, { readonly kind: 'quantify' }>,
  quantifier: string,
  joined: (sources: readonly Expression[]) => string,
  body: string,
): string {
  return `${quantifier} ${variable} in ${joined(sources)} (${body})`;
}
