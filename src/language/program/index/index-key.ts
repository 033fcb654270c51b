// Derives index keys: what one part of a rule's condition requires of one value of the request, in a form
// under which many rules can be filed. A key is a set of texts, one of which the value must be, a prefix that
// it must have, or bounds between which it must lie. INVARIANT: when the value is known and does not meet the
// key, the rule's condition is false.

import type { Builtin } from '../../model/builtins.ts';
import { mirroredComparison } from '../../model/expression.ts';
import type { List } from '../../model/policy.ts';
import { globLiteralParts } from '../../value/glob.ts';
import { fold } from '../../value/text.ts';
import { isDecimal, isMoneyTerm } from '../condition.ts';
import { isPayloadAmount, isPlain, isPlainMoney, plainNumber } from '../plain.ts';
import type { ComparisonTest, Condition, ReadFrom, Term } from '../program.ts';
import { globForm, termTemplate } from '../template.ts';

/**
 * A value of the request under which rules are filed. An amount in another currency than `currency` is
 * unknown.
 */
export interface IndexSubject {
  readonly key: string;
  readonly kind: 'text' | 'number';
  readonly term: Term;
  readonly currency: string | null;
  readonly mayBeUnknown: boolean;
}

export interface IndexKey {
  readonly subject: IndexSubject;
  /** Whether the condition is false when the value is not there. */
  readonly needsValue: boolean;
  readonly test: KeyTest;
  /**
   * The number of parts of the condition that are true whenever the value meets the test, and require nothing
   * else.
   */
  readonly exactParts: number;
}

export type KeyTest =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'prefix'; readonly prefix: string }
  | Bounds;

export interface Bounds {
  readonly kind: 'bounds';
  /** The lower bound; minus infinity when open. `high` is infinity when open. */
  readonly low: number;
  readonly high: number;
  readonly isLowIncluded: boolean;
  readonly isHighIncluded: boolean;
}

/** The most texts of an index key. A rule with more texts is filed under another key. */
export const textsMax = 64;

type Lists = ReadonlyMap<string, List>;

/** Returns all index keys of a condition. Bounds of the same value are joined. */
export function indexKeysOf(condition: Condition, lists: Lists): readonly IndexKey[] {
  const operands = partsOf(condition);
  const needed = operands.flatMap((operand) => (operand.kind === 'has' ? [operand.read] : []));
  const indexKeys = new Map<string, IndexKey>();
  for (const operand of operands) {
    const indexKey = indexKeyOf(operand, lists);
    if (indexKey === null) continue;
    const { subject, test, isExact } = indexKey;
    const key = `${test.kind} ${subject.key}`;
    const cached = indexKeys.get(key);
    const joined = cached === undefined ? test : join(cached.test, test);
    // Of several sets of texts or prefixes only the first is kept. The kept one says nothing about the
    // others, so those are not exact parts.
    const isSaid = isExact && (cached === undefined || test.kind === 'bounds');
    const exactParts = (cached?.exactParts ?? 0) + (isSaid ? 1 : 0);
    indexKeys.set(key, { subject, test: joined, exactParts, needsValue: needsValue(subject, needed) });
  }
  return [...indexKeys.values()];
}

interface KeyCandidate {
  readonly subject: IndexSubject;
  readonly test: KeyTest;
  /** Whether the condition is true of every value that meets the test. */
  readonly isExact: boolean;
}

/** Returns the parts of a condition that all have to hold. */
export function partsOf(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.operands : [condition];
}

function indexKeyOf(condition: Condition, lists: Lists): KeyCandidate | null {
  switch (condition.kind) {
    case 'compare':
      return comparisonKey(condition, lists);
    case 'in-elements':
      return condition.elements.kind === 'text-list'
        ? textsKey(condition.subject, condition.elements.texts, lists)
        : null;
    case 'in-list': {
      const { type, entries, ignoringCase } = lists.get(condition.list)!;
      if (type.kind !== 'text' || entries.length > textsMax) return null;
      const texts = entries as readonly string[];
      const { subject } = condition;
      return ignoringCase
        ? textsKey(folded(subject), texts.map(fold), lists)
        : textsKey(subject, texts, lists);
    }
    case 'like': {
      const [first = ''] = globLiteralParts(condition.pattern);
      if (globForm(condition.pattern) === 'whole') return textsKey(condition.subject, [first], lists);
      const prefix = prefixKey(condition.subject, first, lists);
      return prefix === null ? null : { ...prefix, isExact: globForm(condition.pattern) === 'prefix' };
    }
    case 'text-test': {
      const { operator, left, right } = condition;
      if (operator !== 'starts with' || right.kind !== 'literal') return null;
      return prefixKey(left, right.value as string, lists);
    }
    case 'or':
      return alternativesKey(condition.operands, lists);
    default:
      return null;
  }
}

/** Joins several equalities of one text into a set of texts. Null when the alternatives are anything else. */
function alternativesKey(operands: readonly Condition[], lists: Lists): KeyCandidate | null {
  const texts: string[] = [];
  let subject: IndexSubject | null = null;
  for (const operand of operands) {
    const key = indexKeyOf(operand, lists);
    if (key?.test.kind !== 'texts' || (subject !== null && subject.key !== key.subject.key)) return null;
    if (!key.isExact) return null;
    subject = key.subject;
    texts.push(...key.test.texts);
  }
  if (subject === null || texts.length > textsMax) return null;
  return { subject, test: { kind: 'texts', texts: [...new Set(texts)] }, isExact: true };
}

function comparisonKey({ operator, left, right }: ComparisonTest, lists: Lists): KeyCandidate | null {
  if (right.kind === 'literal') return againstConstant(left, operator, right, lists);
  return left.kind === 'literal' ? againstConstant(right, mirroredComparison[operator], left, lists) : null;
}

function againstConstant(
  term: Term,
  operator: ComparisonTest['operator'],
  constant: Extract<Term, { kind: 'literal' }>,
  lists: Lists,
): KeyCandidate | null {
  const { value } = constant;
  if (typeof value === 'string') return operator === '==' ? textsKey(term, [value], lists) : null;
  const subject = numberSubject(term, constant, lists);
  const exact = isMoneyTerm(value) ? value.amount : value;
  const number = isDecimal(exact) ? plainNumber(exact) : null;
  return subject === null || number === null
    ? null
    : { subject, test: bounds(operator, number), isExact: true };
}

function bounds(operator: ComparisonTest['operator'], number: number): Bounds {
  const isUpper = operator === '<' || operator === '<=';
  const isLower = operator === '>' || operator === '>=';
  return {
    kind: 'bounds',
    low: isUpper ? Number.NEGATIVE_INFINITY : number,
    high: isLower ? Number.POSITIVE_INFINITY : number,
    isLowIncluded: operator !== '>',
    isHighIncluded: operator !== '<',
  };
}

/**
 * Joins two tests of one value. Bounds are intersected. Of texts and prefixes the first test is kept, which
 * finds no fewer rules.
 */
function join(before: KeyTest, test: KeyTest): KeyTest {
  if (before.kind !== 'bounds' || test.kind !== 'bounds') return before;
  const isLowFromKnown = before.low > test.low || (before.low === test.low && !before.isLowIncluded);
  const isHighFromKnown = before.high < test.high || (before.high === test.high && !before.isHighIncluded);
  const [low, high] = [isLowFromKnown ? before : test, isHighFromKnown ? before : test];
  return {
    kind: 'bounds',
    low: low.low,
    isLowIncluded: low.isLowIncluded,
    high: high.high,
    isHighIncluded: high.isHighIncluded,
  };
}

function textsKey(term: Term, texts: readonly string[], lists: Lists): KeyCandidate | null {
  const subject = textSubject(term, lists);
  if (texts.length > textsMax || subject === null) return null;
  return { subject, test: { kind: 'texts', texts: [...new Set(texts)] }, isExact: true };
}

function prefixKey(term: Term, prefix: string, lists: Lists): KeyCandidate | null {
  const subject = textSubject(term, lists);
  return subject === null || prefix === ''
    ? null
    : { subject, test: { kind: 'prefix', prefix }, isExact: true };
}

function textSubject(term: Term, lists: Lists): IndexSubject | null {
  if (term.sort !== 'text' || !isReadable(term)) return null;
  const { mayBeUnknown } = term;
  return { key: termTemplate(term, lists).key, kind: 'text', term, currency: null, mayBeUnknown };
}

function numberSubject(term: Term, constant: Term, lists: Lists): IndexSubject | null {
  if (isPlain(term) && isReadable(term)) {
    const { mayBeUnknown } = term;
    return { key: termTemplate(term, lists).key, kind: 'number', term, currency: null, mayBeUnknown };
  }
  if (!isPayloadAmount(term) || !isPlainMoney(constant) || !isMoneyTerm(constant.value)) return null;
  const { currency } = constant.value;
  const mayBeUnknown = term.mayBeUnknown || term.currency?.known !== currency;
  return {
    key: `${currency} ${termTemplate(term, lists).key}`,
    kind: 'number',
    term,
    currency,
    mayBeUnknown,
  };
}

/** Whether a term can be read once for all rules, because it has no constants of its own. */
function isReadable(term: Term): boolean {
  switch (term.kind) {
    case 'read':
    case 'fact':
      return true;
    case 'call':
      return term.args.every(isReadable);
    default:
      return false;
  }
}

function folded(subject: Term): Term {
  const { mayBeUnknown, cost } = subject;
  return {
    kind: 'call',
    builtin: 'fold',
    args: [subject],
    sort: 'text',
    element: null,
    mayBeUnknown,
    cost: cost + 12,
  };
}

/**
 * Whether the condition requires the presence of the value. The presence of a signed field may be unknown,
 * and an amount may lack its currency, so the answer for them is false.
 */
function needsValue({ term, currency }: IndexSubject, needed: readonly ReadFrom[]): boolean {
  const source = term.kind === 'call' && unknownOnlyWithText.has(term.builtin) ? term.args[0]! : term;
  if (source.kind !== 'read' || source.read.isSigned) return false;
  if (currency !== null && source.currency?.known !== currency) return false;
  return needed.some((read) => !read.isSigned && isSamePath(read, source.read));
}

/** Functions whose result is known whenever their text is known. */
const unknownOnlyWithText: ReadonlySet<Builtin> = new Set(['lower', 'trim', 'fold', 'domain']);

function isSamePath(a: ReadFrom, b: ReadFrom): boolean {
  return (
    a.root === b.root &&
    a.steps.length === b.steps.length &&
    a.steps.every((step, at) => step === b.steps[at])
  );
}
