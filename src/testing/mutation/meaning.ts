// Turns a policy set into a text that is equal for sets which no request can tell apart, as far as that is
// cheap to see. Forms that are equal because of whole numbers, declared ranges or reachable risk sums are
// written alike. Shadow rules are left out: they are never enforced, and no test sees their decisions.
// INVARIANT: equal texts mean equal decisions; different texts may mean equal decisions, too.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { elementsOf, writtenList } from '../../language/model/children.ts';
import {
  type Compare,
  type ComparisonOperator,
  type Expression,
  type Literal,
  mirroredComparison,
  oppositeComparison,
} from '../../language/model/expression.ts';
import type { Policy, PolicySet, Rule } from '../../language/model/policy.ts';
import { booleanType, type Range } from '../../language/model/type.ts';
import {
  add,
  compare,
  type Decimal,
  floor,
  fromNumber,
  isInteger,
  toNumber,
} from '../../language/value/decimal.ts';

export function meaningOf(set: PolicySet): string {
  const ctx: Context = { set, risks: reachableRisks(set) };
  const lets = [...set.lets].filter(([, { expression }]) => expression.kind !== 'literal');
  return canonicalMeaning({
    ...set,
    lets: new Map(lets.map(([id, one]) => [id, { ...one, expression: normalize(one.expression, ctx) }])),
    policies: set.policies.map((policy) => ({
      ...policy,
      rules: enforced(policy).map((rule) => normalizeRule(rule, ctx)),
    })),
    guarantees: [],
  });
}

interface Context {
  readonly set: PolicySet;
  /** Reachable risk scores, ascending. */
  readonly risks: readonly number[];
}

const riskMax = 100;

/**
 * Every risk score that some request for some action can reach; each contribution may be present or not,
 * independently of others.
 */
function reachableRisks({ actions, policies }: PolicySet): readonly number[] {
  const reached = new Set<number>();
  for (const action of actions.keys()) {
    let sums = new Set([0]);
    const rules = policies.flatMap((one) => (one.actions.includes(action) ? enforced(one) : []));
    for (const { points } of rules) {
      if (points !== 0) sums = new Set([...sums].flatMap((sum) => [sum, sum + points]));
    }
    for (const sum of sums) reached.add(Math.min(riskMax, Math.max(0, sum)));
  }
  return [...reached].toSorted((a, b) => a - b);
}

function enforced({ rules }: Policy): readonly Rule[] {
  return rules.filter(({ isShadow }) => !isShadow);
}

function normalizeRule(rule: Rule, ctx: Context): Rule {
  const reason = rule.reason?.map((part) => (typeof part === 'string' ? part : normalize(part, ctx))) ?? null;
  return { ...rule, reason, condition: normalize(rule.condition, ctx), conditionText: '' };
}

function normalize(expression: Expression, ctx: Context): Expression {
  const inner = (operand: Expression): Expression => normalize(operand, ctx);
  switch (expression.kind) {
    case 'let': {
      const constant = ctx.set.lets.get(expression.id)?.expression;
      return constant?.kind === 'literal' ? constant : expression;
    }
    case 'not':
      return opposite(inner(expression.operand), expression);
    case 'and':
    case 'or':
      return joined(expression.kind, expression.operands.map(inner), expression);
    case 'compare':
      return normalizeCompare(
        { ...expression, left: inner(expression.left), right: inner(expression.right) },
        ctx,
      );
    case 'in-range': {
      const [subject, low, high] = [expression.subject, expression.low, expression.high].map(inner) as [
        Expression,
        Expression,
        Expression,
      ];
      const base = { kind: 'compare', type: booleanType, span: expression.span, left: subject } as const;
      const ends: readonly Compare[] = [
        { ...base, operator: '>=', right: low },
        { ...base, operator: '<=', right: high },
      ];
      return joined(
        'and',
        ends.map((end) => normalizeCompare(end, ctx)),
        expression,
      );
    }
    case 'text-test':
    case 'arithmetic':
      return { ...expression, left: inner(expression.left), right: inner(expression.right) };
    case 'in-list':
    case 'in-table':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'mentions':
    case 'single-script':
    case 'list-prefix':
      return { ...expression, subject: inner(expression.subject) };
    case 'column':
      return { ...expression, key: inner(expression.key) };
    case 'has-cell':
      return { ...expression, cell: { ...expression.cell, key: inner(expression.cell.key) } };
    case 'if':
      return {
        ...expression,
        condition: inner(expression.condition),
        whenTrue: inner(expression.whenTrue),
        otherwise: inner(expression.otherwise),
      };
    case 'in-elements':
      return { ...expression, subject: inner(expression.subject), elements: inner(expression.elements) };
    case 'else':
      return { ...expression, fallback: inner(expression.fallback) };
    case 'negate':
      return { ...expression, operand: inner(expression.operand) };
    case 'quantify':
      return { ...expression, sources: expression.sources.map(inner), body: inner(expression.body) };
    case 'list':
    case 'text-list':
      return writtenList(elementsOf(expression)!.map(inner), expression);
    case 'call':
      return { ...expression, args: expression.args.map(inner) };
    case 'literal':
    case 'field':
    case 'fact':
    case 'meter':
    case 'now':
    case 'risk':
    case 'is-null':
    case 'has':
      return expression;
  }
}

function opposite(operand: Expression, whole: Expression & { readonly kind: 'not' }): Expression {
  if (operand.kind === 'not') return operand.operand;
  if (operand.kind === 'literal') return truth(operand.value !== true, operand);
  return operand.kind === 'compare'
    ? { ...operand, operator: oppositeComparison[operand.operator] }
    : { ...whole, operand };
}

/**
 * Flattens operands, drops those that change nothing, and returns one truth if an operand decides;
 * three-valued logic allows all of it.
 */
function joined(kind: 'and' | 'or', operands: readonly Expression[], whole: Expression): Expression {
  const decisive = kind === 'or';
  const flat = operands.flatMap((operand) => (operand.kind === kind ? operand.operands : [operand]));
  if (flat.some((operand) => isTruth(operand, decisive))) return truth(decisive, whole);
  const remaining = flat.filter((operand) => !isTruth(operand, !decisive));
  const [only] = remaining;
  if (only === undefined) return truth(!decisive, whole);
  return remaining.length === 1 ? only : { kind, operands: remaining, type: booleanType, span: whole.span };
}

function truth(value: boolean, { span }: Expression): Literal {
  return { kind: 'literal', value, type: booleanType, span };
}

function isTruth(expression: Expression, value: boolean): boolean {
  return expression.kind === 'literal' && expression.value === value;
}

function normalizeCompare(whole: Compare, ctx: Context): Expression {
  const { left, right } = whole;
  if (left.kind === 'literal' && right.kind !== 'literal') {
    return normalizeCompare(
      { ...whole, operator: mirroredComparison[whole.operator], left: right, right: left },
      ctx,
    );
  }
  const bound = right.kind === 'literal' ? quantityOf(right) : null;
  if (bound === null || whole.operator === '==' || whole.operator === '!=') return whole;
  const isWhole = left.type.kind === 'integer' || left.type.kind === 'date';
  const end = isWhole ? wholeEnd(whole.operator, bound) : { operator: whole.operator, bound };
  if (left.kind === 'risk') return comparison(whole, reachedEnd(end, ctx.risks));
  const settled =
    left.kind === 'field' && !left.isSigned && 'range' in left.type ? settle(end, left.type.range) : null;
  return settled === null ? comparison(whole, end) : truth(settled, whole);
}

/** Numbers, dates and durations are single decimals; money is not, since it has a currency. */
function quantityOf({ type, value }: Literal): Decimal | null {
  const isQuantity = 'range' in type && type.kind !== 'money';
  return isQuantity && typeof value === 'object' && value !== null && 'coefficient' in value
    ? (value as Decimal)
    : null;
}

type Inequality = Exclude<ComparisonOperator, '==' | '!='>;

interface End {
  readonly operator: Inequality;
  readonly bound: Decimal;
}

/** For whole numbers, `< 5` means `<= 4`. */
function wholeEnd(operator: Inequality, bound: Decimal): End {
  const below = floor(bound);
  const isExact = isInteger(bound);
  switch (operator) {
    case '<':
      return { operator: '<=', bound: isExact ? next(below, -1) : below };
    case '<=':
      return { operator: '<=', bound: below };
    case '>':
      return { operator: '>=', bound: next(below, 1) };
    case '>=':
      return { operator: '>=', bound: isExact ? below : next(below, 1) };
  }
}

/**
 * The next whole number, or the bound itself if precision does not allow a step; such bounds are far from the
 * limit.
 */
function next(bound: Decimal, step: 1 | -1): Decimal {
  return add(bound, fromNumber(step)) ?? bound;
}

/** Moves the bound to the nearest reachable risk, or beyond all risks if none satisfies the comparison. */
function reachedEnd({ operator, bound }: End, risks: readonly number[]): End {
  const at = toNumber(bound);
  const nearest =
    operator === '>='
      ? (risks.find((risk) => risk >= at) ?? riskMax + 1)
      : (risks.findLast((risk) => risk <= at) ?? -1);
  return { operator, bound: fromNumber(nearest) };
}

/** The comparison's truth if the declared range alone decides it, else null. */
function settle({ operator, bound }: End, { low, high }: Range): boolean | null {
  const toLow = low === null ? null : compare(bound, low);
  const toHigh = high === null ? null : compare(bound, high);
  switch (operator) {
    case '<=':
      return toHigh !== null && toHigh >= 0 ? true : toLow === -1 ? false : null;
    case '<':
      return toHigh === 1 ? true : toLow !== null && toLow <= 0 ? false : null;
    case '>=':
      return toLow !== null && toLow <= 0 ? true : toHigh === 1 ? false : null;
    case '>':
      return toLow === -1 ? true : toHigh !== null && toHigh >= 0 ? false : null;
  }
}

function comparison(whole: Compare, { operator, bound }: End): Compare {
  // The literal's own type may hold how it was written; only its value counts.
  const right: Literal = { kind: 'literal', value: bound, type: whole.left.type, span: whole.right.span };
  return { ...whole, operator, right };
}
