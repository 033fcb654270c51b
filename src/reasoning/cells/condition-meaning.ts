// Determines the constants of a condition over one leaf, and the condition's truth for all other values. The
// condition has a placeholder in place of the leaf. INVARIANT: an unsupported form returns null, and its
// truth is then unconstrained; no form is constant by omission.

import type { Expression } from '../../language/model/expression.ts';
import type { List, PolicySet, Table } from '../../language/model/policy.ts';
import { isPushed } from '../../language/model/pushed-row.ts';
import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import type { EvaluationScope } from '../../language/spec/evaluate.ts';
import { evaluate } from '../../language/spec/evaluate.ts';
import { fromNumber } from '../../language/value/decimal.ts';
import { globLiteralParts } from '../../language/value/glob.ts';
import type { Hours } from '../../language/value/hours.ts';
import type { Cidr } from '../../language/value/ip.ts';
import { memo } from '../../language/value/memo.ts';
import { canonicalPath } from '../../language/value/path.ts';
import { scriptExamples } from '../../language/value/scripts.ts';
import { rowKeys, type TableRows } from '../../language/value/table/rows.ts';
import type { Domain } from './leaf.ts';
import { anyTextPattern as anything, quotedForProgram } from './programs.ts';

export type ConditionMeaning =
  | { readonly kind: 'presence' }
  /** Any condition over a leaf all of whose values are cells. */
  | { readonly kind: 'every-value' }
  /**
   * A condition that is constant between these values, in the order of the domain. For any other text its
   * truth is `otherwise`.
   */
  | { readonly kind: 'values'; readonly values: readonly Value[]; readonly otherwise: boolean }
  | { readonly kind: 'network'; readonly cidr: Cidr }
  | { readonly kind: 'hours'; readonly hours: Hours }
  | { readonly kind: 'local-date'; readonly zone: string; readonly days: readonly Value[] }
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** A condition over a text whose truth is known for named values only, and open for others. */
  | LooseReading;

interface LooseReading {
  readonly kind: 'loose';
  readonly values: readonly Value[];
  /** Whether texts that fold to one of the values count as values too. */
  readonly isFolded: boolean;
  /** Whether the condition is never unknown for a text that is present. */
  readonly isTwoValued: boolean;
  /**
   * Texts for which the condition is likely to hold. For a test of scripts, texts for which it holds and
   * texts for which it does not.
   */
  readonly hints: readonly string[];
}

export const placeholder = '$leaf';

export function understand(expression: Expression, set: PolicySet, domain: Domain): ConditionMeaning | null {
  if (isPlaceholderRead(expression)) return domain === 'boolean' ? { kind: 'every-value' } : null;
  if (expression.kind === 'has' || expression.kind === 'is-null') return { kind: 'presence' };
  switch (domain) {
    case 'boolean':
    case 'closed':
      return { kind: 'every-value' };
    case 'number':
    case 'integer':
      return valuesOf(expression, set);
    case 'address':
      return expression.kind === 'in-cidr' && isPlaceholderRead(expression.subject)
        ? { kind: 'network', cidr: expression.cidr }
        : valuesOf(expression, set);
    case 'time':
      return ofTime(expression, set) ?? valuesOf(expression, set, isInstant);
    case 'text':
      return ofText(expression, set) ?? looseOf(expression, set);
    case 'presence':
      return null;
  }
}

/** The value of an expression that reads nothing; null if it reads something. */
export function constantOf(expression: Expression, set: PolicySet): Value | UnknownValue | null {
  if (!isConstant(expression, set)) return null;
  const facts = { action: '', payload: {}, agent: {}, request: {}, nowMs: 0, meters: {} };
  const satisfied = { escalate: [], reauth: [] };
  const scope: EvaluationScope = {
    set,
    facts: { ...facts, satisfied },
    risk: { low: 0, high: 0 },
    variables: new Map(),
  };
  return evaluate(expression, scope);
}

function isConstant(expression: Expression, set: PolicySet): boolean {
  const isPlain = (operand: Expression): boolean => isConstant(operand, set);
  switch (expression.kind) {
    case 'literal':
    case 'text-list':
      return true;
    case 'let': {
      const declared = set.lets.get(expression.id);
      return declared !== undefined && isPlain(declared.expression);
    }
    case 'column':
      // Pushed rows are facts of each request, so they are no constants.
      return !isPushed(set.tables.get(expression.table)) && isPlain(expression.key);
    case 'negate':
      return isPlain(expression.operand);
    case 'arithmetic':
      return isPlain(expression.left) && isPlain(expression.right);
    case 'list':
      return expression.elements.every(isPlain);
    case 'call':
      return expression.builtin !== 'today' && expression.args.every(isPlain);
    default:
      return false;
  }
}

function isPlaceholderRead(expression: Expression): boolean {
  return expression.kind === 'field' && expression.root === placeholder;
}

type Values = Extract<ConditionMeaning, { readonly kind: 'values' }>;

/**
 * The values of a comparison with constants, or of membership among constants. `isRead` tells which
 * expression is the leaf.
 */
function valuesOf(expression: Expression, set: PolicySet, isRead = isPlaceholderRead): Values | null {
  const of = (values: Value | UnknownValue | null, otherwise: boolean): Values | null => {
    if (values === null || values === unknown) return null;
    const list = Array.isArray(values) ? values.flat() : [values];
    // If one of the values is unknown, the condition is certain for no other value.
    return list.includes(unknown) ? null : { kind: 'values', values: list, otherwise };
  };
  switch (expression.kind) {
    case 'compare': {
      const { left, right, operator } = expression;
      if (isRead(left)) return of(constantOf(right, set), operator === '!=');
      return isRead(right) ? of(constantOf(left, set), operator === '!=') : null;
    }
    case 'in-list':
      return isRead(expression.subject) ? listed(set.lists.get(expression.list)) : null;
    case 'in-elements':
      return isRead(expression.subject) ? of(constantOf(expression.elements, set), false) : null;
    case 'in-table': {
      const table = set.tables.get(expression.table);
      return isRead(expression.subject) && table !== undefined ? keysOf(table) : null;
    }
    default:
      return null;
  }
}

const keyValues = new WeakMap<TableRows, readonly Value[]>();

/** The keys of a table that is not pushed, in one array for each table. */
function keysOf({ rows, key }: Table): Values | null {
  if (rows === null) return null;
  const values = memo(keyValues, rows, () => [...rowKeys(rows)].map((text) => keyValue(text, key)));
  return { kind: 'values', values, otherwise: false };
}

/** The key of a row in the form that conditions compare. */
export function keyValue(text: string, { kind }: Table['key']): Value {
  return kind === 'integer' ? fromNumber(Number(text)) : text;
}

/** Uses the list's own array, by which everything derived from it is found again. */
function listed(list: List | undefined): Values | null {
  return list === undefined ? null : { kind: 'values', values: list.entries, otherwise: false };
}

function ofTime(expression: Expression, set: PolicySet): ConditionMeaning | null {
  if (expression.kind === 'in-hours') {
    const hours = set.hours.get(expression.hours);
    return hours === undefined || !isInstant(expression.subject) ? null : { kind: 'hours', hours };
  }
  const zone = zoneOf(expression);
  if (zone === null) return null;
  // The same condition over the date itself shows which days matter.
  const days = valuesOf(withDate(expression), set);
  return days === null ? null : { kind: 'local-date', zone, days: days.values };
}

function isInstant(expression: Expression): boolean {
  return expression.kind === 'now' || isPlaceholderRead(expression);
}

function isLocalDate(expression: Expression): boolean {
  if (expression.kind !== 'call') return false;
  if (expression.builtin === 'today') return true;
  return expression.builtin === 'date' && expression.args[0] !== undefined && isInstant(expression.args[0]);
}

function zoneOf(expression: Expression): string | null {
  const operands =
    expression.kind === 'compare'
      ? [expression.left, expression.right]
      : expression.kind === 'in-list' || expression.kind === 'in-elements'
        ? [expression.subject]
        : [];
  const zone = operands.find(isLocalDate);
  const last = zone?.kind === 'call' ? zone.args.at(-1) : undefined;
  return last?.kind === 'literal' && typeof last.value === 'string' ? last.value : null;
}

function withDate(expression: Expression): Expression {
  const dated = (operand: Expression): Expression =>
    isLocalDate(operand)
      ? {
          kind: 'field',
          root: placeholder,
          steps: [],
          isSigned: false,
          isSecret: false,
          type: operand.type,
          span: operand.span,
        }
      : operand;
  switch (expression.kind) {
    case 'compare':
      return { ...expression, left: dated(expression.left), right: dated(expression.right) };
    case 'in-list':
    case 'in-elements':
      return { ...expression, subject: dated(expression.subject) };
    default:
      return expression;
  }
}

function ofText(expression: Expression, set: PolicySet): ConditionMeaning | null {
  const pattern = patternOf(expression, set);
  if (pattern !== null) return { kind: 'pattern', pattern };
  // Texts other than the entries may fold to an entry. The language knows no order of texts.
  if (expression.kind === 'in-list' && set.lists.get(expression.list)?.ignoringCase === true) return null;
  if (expression.kind === 'compare' && expression.operator !== '==' && expression.operator !== '!=')
    return null;
  return valuesOf(expression, set);
}

function looseOf(expression: Expression, set: PolicySet): LooseReading {
  const isFolded = expression.kind === 'in-list' && isPlaceholderRead(expression.subject);
  const isOverPlainText =
    ((expression.kind === 'mentions' || expression.kind === 'single-script') &&
      isPlaceholderRead(expression.subject)) ||
    (expression.kind === 'text-test' &&
      isPlaceholderRead(expression.left) &&
      typeof constantOf(expression.right, set) === 'string');
  return {
    kind: 'loose',
    values: expression.kind === 'single-script' ? scriptExamples : (valuesOf(expression, set)?.values ?? []),
    isFolded,
    isTwoValued: isFolded || isOverPlainText,
    hints: hintsOf(expression, set),
  };
}

function isQuantityCall(expression: Expression): boolean {
  return expression.kind === 'call' && expression.builtin === 'quantity';
}

const quantities = ['1', '1Mi', '1Gi', '1Ti'];

function hintsOf(expression: Expression, set: PolicySet): readonly string[] {
  if (expression.kind === 'compare' && [expression.left, expression.right].some(isQuantityCall))
    return quantities;
  if (expression.kind === 'text-test') {
    const part = constantOf(expression.right, set);
    return typeof part === 'string' ? [part, `${part}/a`] : [];
  }
  // The examples themselves are named values, so they cannot stand for other texts.
  if (expression.kind === 'single-script') return scriptExamples.map((text) => `${text} ${text}`);
  if (expression.kind !== 'mentions') return [];
  const { words } = expression;
  return words.kind === 'words'
    ? words.words
    : ((set.lists.get(words.list)?.entries ?? []) as readonly string[]);
}

/** The pattern of the texts for which the condition holds; null if no pattern describes them. */
function patternOf(expression: Expression, set: PolicySet): string | null {
  switch (expression.kind) {
    case 'like':
      return isPlaceholderRead(expression.subject)
        ? globLiteralParts(expression.pattern).map(quotedForProgram).join(anything)
        : null;
    case 'matches':
      return isPlaceholderRead(expression.subject) ? expression.pattern : null;
    case 'text-test': {
      const part = constantOf(expression.right, set);
      if (typeof part !== 'string' || !isPlaceholderRead(expression.left)) return null;
      const forms = {
        'starts with': `${quotedForProgram(part)}${anything}`,
        'ends with': `${anything}${quotedForProgram(part)}`,
        contains: `${anything}${quotedForProgram(part)}${anything}`,
        inside: insidePattern(part),
      };
      return forms[expression.operator];
    }
    default:
      return null;
  }
}

/**
 * The pattern of paths inside a folder, as rules see paths: without `.`, `..` and empty segments. Null if the
 * folder is no path.
 */
function insidePattern(folder: string): string | null {
  const canonical = canonicalPath(folder);
  if (canonical === null) return null;
  if (canonical === '/') return `/${anything}`;
  return canonical === '.' ? `[^/]${anything}` : `${quotedForProgram(canonical)}(/${anything})?`;
}
