// Translates expressions of the model into terms and conditions of one action's program. Names are resolved
// against the action's shape, facts about the action become constants, and lets are shared. Spans are left
// out.

import type { Builtin } from '../../model/builtins.ts';
import {
  type ColumnRead,
  type Compare,
  type Conditional,
  type Expression,
  type FactRead,
  isListFact,
  type Quantify,
} from '../../model/expression.ts';
import type { Action, List, PolicySet } from '../../model/policy.ts';
import { isPushed } from '../../model/pushed-row.ts';
import type { Slot } from '../../model/type.ts';
import {
  comparison,
  conjunction,
  constant,
  definite,
  disjunction,
  equivalence,
  isListWritten,
  isUnknowableList,
  negation,
} from '../condition.ts';
import type { ColumnTerm, Condition, Element, PlannedLet, RequestFact, Term } from '../program.ts';
import { elementSlots, mayBeTooLong, readTerm, type Scope, type Variable } from './scope.ts';
import {
  absent,
  arithmetic,
  elseTerm,
  listTerm,
  literalTerm,
  negatedTerm,
  ofSubject,
  openTerm,
  textElement,
  textListTerm,
  truthTerm,
  valueElement,
} from './term.ts';

/** Returns a fact as a term. A fact about the action is a constant. */
function factTerm(expression: FactRead, action: string): Term {
  const lastDot = action.lastIndexOf('.');
  switch (expression.fact) {
    case 'action.key':
      return literalTerm(action, 'text');
    case 'action.area':
      return literalTerm(action.slice(0, Math.max(lastDot, 0)), 'text');
    case 'action.verb':
      return literalTerm(action.slice(lastDot + 1), 'text');
    default:
      return requestFact(expression, expression.fact);
  }
}

function requestFact(expression: FactRead, fact: RequestFact): Term {
  const element = isListFact(fact) ? textElement : null;
  return { kind: 'fact', fact, ...openTerm(expression, fact === 'request.ip' ? 6 : 1), element };
}

/** Returns a constant as a term; a list of constants becomes a list of terms. */
function constantTerm(expression: Extract<Expression, { kind: 'literal' }>): Term {
  const { value, type } = expression;
  if (!Array.isArray(value) || type.kind !== 'list') return literalTerm(value, type.kind);
  const sort = type.element.type.kind;
  return listTerm(
    expression,
    value.map((entry) => literalTerm(entry, sort)),
  );
}

/** Returns a call of one of the language's functions as a term. */
function callTerm(expression: Extract<Expression, { kind: 'call' }>, args: readonly Term[]): Term {
  const { builtin } = expression;
  const cost = callCosts[builtin] + args.reduce((sum, arg) => sum + arg.cost, 0);
  const element: Element | null = elementsOfCalls[builtin] ?? null;
  const isTotal = totalCalls.has(builtin) && args.every((arg) => !arg.mayBeUnknown);
  return { kind: 'call', builtin, args, ...openTerm(expression, cost), element, mayBeUnknown: !isTotal };
}

/** The elements of the builtins that return lists. */
const elementsOfCalls: Partial<Record<Builtin, Element>> = {
  links: textElement,
  commands: valueElement('record'),
};

/** The builtins that have a result for every argument. */
const totalCalls: ReadonlySet<string> = new Set([
  'length',
  'lower',
  'trim',
  'fold',
  'links',
  'domain',
  'join',
]);

const callCosts = {
  length: 2,
  lower: 4,
  trim: 3,
  fold: 12,
  links: 60,
  commands: 80,
  domain: 5,
  host: 30,
  scheme: 30,
  port: 30,
  ip: 6,
  first: 2,
  join: 6,
  quantity: 10,
  date: 30,
  today: 20,
  months_later: 6,
  min: 4,
  max: 4,
  abs: 3,
} as const satisfies Record<Builtin, number>;

export interface Translation {
  condition(expression: Expression): Condition;
  term(expression: Expression): Term;
  /**
   * The lets gathered so far. The next four fields are the names of lists, tables, hours and meters gathered
   * so far.
   */
  readonly lets: readonly PlannedLet[];
  readonly lists: ReadonlySet<string>;
  readonly tables: ReadonlySet<string>;
  readonly hours: ReadonlySet<string>;
  readonly meters: ReadonlySet<string>;
  /** The ids of the set's lets that have been read, including lets within lets. */
  readonly letIds: ReadonlySet<string>;
}

/**
 * Creates a translator of expressions for one action. Lets, lists, tables, hours and meters are gathered
 * across all expressions.
 */
export function createTranslation(set: PolicySet, action: Action): Translation {
  const ctx: TranslationContext = {
    set,
    action: action.key,
    lets: [],
    letTerms: new Map(),
    letIds: new Set(),
    lists: new Set(),
    tables: new Set(),
    hours: new Set(),
    meters: new Set(),
  };
  const { condition, term } = within({ shape: action.shape, result: action.result, variables: none }, ctx);
  const { lets, lists, tables, hours, meters, letIds } = ctx;
  return { condition, term, lets, lists, tables, hours, meters, letIds };
}

interface TranslationContext {
  readonly set: PolicySet;
  readonly action: string;
  readonly lets: PlannedLet[];
  readonly letTerms: Map<string, Term>;
  readonly letIds: Set<string>;
  readonly lists: Set<string>;
  readonly tables: Set<string>;
  readonly hours: Set<string>;
  readonly meters: Set<string>;
}

const none: Scope['variables'] = new Map();

/** A place within expressions: what names mean there, and how the expressions there are translated. */
interface ExpressionContext extends Pick<Translation, 'condition' | 'term'> {
  readonly scope: Scope;
  readonly ctx: TranslationContext;
}

function within(scope: Scope, ctx: TranslationContext): ExpressionContext {
  const place: ExpressionContext = {
    scope,
    ctx,
    condition: (expression) => toCondition(expression, place),
    term: (expression) => toTerm(expression, place),
  };
  return place;
}

/** Translates an expression of boolean type into a condition. */
function toCondition(expression: Expression, place: ExpressionContext): Condition {
  const { scope, ctx, condition, term } = place;
  switch (expression.kind) {
    case 'literal':
      return definite(expression.value === true);
    case 'field':
      return flag(readTerm(expression, scope) ?? absent(expression.type));
    case 'fact':
      return flag(factTerm(expression, ctx.action));
    case 'column':
      return flag(columnTerm(expression, term(expression.key), ctx));
    case 'let':
      return flag(letTerm(expression.id, place));
    case 'else':
      return flag(toElse(expression, place));
    case 'not':
      return negation(condition(expression.operand));
    case 'and':
      return conjunction(expression.operands.map(condition));
    case 'or':
      return disjunction(expression.operands.map(condition));
    case 'compare':
      return toComparison(expression, place);
    case 'is-null':
    case 'has':
      return toPresence(expression, scope);
    case 'in-list':
      ctx.lists.add(expression.list);
      return inList(term(expression.subject), ctx.set.lists.get(expression.list)!);
    case 'in-table':
    case 'has-cell':
      return toTableTest(expression, place);
    case 'list-prefix': {
      const { texts } = expression;
      const subject = term(expression.subject);
      return subject.kind === 'absent'
        ? constant('unknown')
        : { kind: 'list-prefix', texts, ...ofSubject(subject, texts.length) };
    }
    case 'in-elements':
      return inElements(term(expression.subject), term(expression.elements));
    case 'in-range': {
      const subject = term(expression.subject);
      const low = comparison('>=', subject, term(expression.low));
      return conjunction([low, comparison('<=', subject, term(expression.high))]);
    }
    case 'in-hours':
      return toHoursTest(expression, place);
    case 'in-cidr': {
      const subject = term(expression.subject);
      return { kind: 'in-cidr', cidr: expression.cidr, ...ofSubject(subject, 3) };
    }
    case 'like':
    case 'matches': {
      const subject = term(expression.subject);
      const { kind, pattern } = expression;
      return { kind, pattern, ...ofSubject(subject, kind === 'like' ? 5 : 40) };
    }
    case 'single-script':
      return { kind: 'single-script', ...ofSubject(term(expression.subject), 20) };
    case 'text-test': {
      const [left, right] = [term(expression.left), term(expression.right)];
      const mayBeUnknown = left.mayBeUnknown || right.mayBeUnknown;
      const cost = (expression.operator === 'inside' ? 12 : 3) + left.cost + right.cost;
      return { kind: 'text-test', operator: expression.operator, left, right, mayBeUnknown, cost };
    }
    case 'mentions':
      if (expression.words.kind === 'list') ctx.lists.add(expression.words.list);
      return mentionsCondition(expression, term(expression.subject));
    case 'quantify':
      return toQuantified(expression, place);
    case 'if':
    case 'meter':
    case 'now':
    case 'risk':
    case 'arithmetic':
    case 'negate':
    case 'list':
    case 'text-list':
    case 'call':
      throw new TypeError(`a ${expression.kind} is no condition`);
  }
}

/** Whether a row or a cell exists. When rows come with a request, it may be unknown whether one exists. */
function toTableTest(
  expression: Extract<Expression, { kind: 'in-table' | 'has-cell' }>,
  { ctx, term }: ExpressionContext,
): Condition {
  if (expression.kind === 'has-cell') {
    const cell = columnTerm(expression.cell, term(expression.cell.key), ctx);
    const mayBeUnknown = cell.key.mayBeUnknown || isPushed(ctx.set.tables.get(cell.table));
    return { kind: 'has-cell', cell, mayBeUnknown, cost: cell.cost };
  }
  const { table } = expression;
  ctx.tables.add(table);
  const looked = ofSubject(term(expression.subject), lookUpCost);
  return {
    kind: 'in-table',
    table,
    ...looked,
    mayBeUnknown: looked.mayBeUnknown || isPushed(ctx.set.tables.get(table)),
  };
}

function toHoursTest(
  { hours, ...expression }: Extract<Expression, { kind: 'in-hours' }>,
  ctx: ExpressionContext,
): Condition {
  ctx.ctx.hours.add(hours);
  const subject = ctx.term(expression.subject);
  // An instant outside of the calendar has no local time.
  return { kind: 'in-hours', subject, hours, mayBeUnknown: true, cost: 30 + subject.cost };
}

/** Translates any expression into a term. */
function toTerm(expression: Expression, place: ExpressionContext): Term {
  const { scope, ctx, term } = place;
  switch (expression.kind) {
    case 'literal':
      return constantTerm(expression);
    case 'field':
      return readTerm(expression, scope) ?? absent(expression.type);
    case 'fact':
      return factTerm(expression, ctx.action);
    case 'meter': {
      ctx.meters.add(expression.meter);
      const named = ctx.set.meters.get(expression.meter)?.currency ?? null;
      const currency = typeof named === 'object' && named !== null ? term(named) : named;
      return { kind: 'meter', meter: expression.meter, currency, ...openTerm(expression, 4) };
    }
    case 'column':
      return columnTerm(expression, term(expression.key), ctx);
    case 'let':
      return inside(scope, letTerm(expression.id, place));
    case 'now':
      return { kind: 'now', ...openTerm(expression, 1), mayBeUnknown: false };
    case 'risk':
      return { kind: 'risk', ...openTerm(expression, 0) };
    case 'else':
      return inside(scope, toElse(expression, place));
    case 'if':
      return inside(scope, toIf(expression, place));
    case 'arithmetic':
      return arithmetic(expression, { left: term(expression.left), right: term(expression.right) });
    case 'negate':
      return negatedTerm(term(expression.operand));
    case 'list':
      return listTerm(expression, expression.elements.map(term));
    case 'text-list':
      return textListTerm(expression, expression.texts);
    case 'quantify':
      return expression.quantifier === 'count' || expression.quantifier === 'sum'
        ? toTotal(expression, place)
        : truthTerm(toQuantified(expression, place));
    case 'call':
      return callTerm(expression, expression.args.map(term));
    case 'not':
    case 'and':
    case 'or':
    case 'compare':
    case 'is-null':
    case 'has':
    case 'in-list':
    case 'in-table':
    case 'in-elements':
    case 'in-range':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'text-test':
    case 'single-script':
    case 'mentions':
    case 'has-cell':
    case 'list-prefix':
      return truthTerm(toCondition(expression, place));
  }
}

/**
 * Marks a term as possibly unknown when its value may be too long to go through in every round of a
 * quantifier. Values that the policy writes out are not affected.
 */
function inside(scope: Scope, term: Term): Term {
  const isWritten = term.kind === 'literal' || isListWritten(term);
  return isWritten || !mayBeTooLong({ kind: term.sort }, scope) ? term : { ...term, mayBeUnknown: true };
}

/** Returns a term of boolean sort as a condition. */
function flag(term: Term): Condition {
  if (term.kind === 'truth') return term.condition;
  if (term.kind === 'absent') return constant('unknown');
  if (term.kind === 'literal') return definite(term.value === true);
  return { kind: 'flag', term, mayBeUnknown: term.mayBeUnknown, cost: 1 + term.cost };
}

const lookUpCost = 15;

function columnTerm(expression: ColumnRead, key: Term, ctx: TranslationContext): ColumnTerm {
  const { table, column, type } = expression;
  ctx.tables.add(table);
  const place = ctx.set.tables.get(table)!.columns.findIndex(({ name }) => name === column);
  const element = type.kind === 'list' ? valueElement(type.element.type.kind) : null;
  const open = openTerm(expression, lookUpCost + key.cost);
  return { kind: 'column', table, column, index: place, key, ...open, element };
}

/** Returns the shared let, or its expression when that is just as short. */
function letTerm(id: string, { scope, ctx }: ExpressionContext): Term {
  const cached = ctx.letTerms.get(id);
  if (cached !== undefined) return cached;
  ctx.letIds.add(id);
  const { expression } = ctx.set.lets.get(id)!;
  const value = within({ shape: scope.shape, result: null, variables: none }, ctx).term(expression);
  const term = isShort(value) ? value : sharedLet(id, value, ctx);
  ctx.letTerms.set(id, term);
  return term;
}

function sharedLet(id: string, value: Term, ctx: TranslationContext): Term {
  const index = ctx.lets.push({ id, value }) - 1;
  const { sort, element, mayBeUnknown } = value;
  return { kind: 'let', index, sort, element, mayBeUnknown, cost: value.cost / 2 };
}

function isShort(term: Term): boolean {
  switch (term.kind) {
    case 'literal':
    case 'absent':
    case 'read':
    case 'fact':
    case 'now':
    case 'risk':
    case 'let':
    case 'text-list':
      return true;
    case 'list':
      return term.elements.every((element) => element.kind === 'literal');
    default:
      return false;
  }
}

function toElse(expression: Extract<Expression, { kind: 'else' }>, { scope, term }: ExpressionContext): Term {
  const fallback = term(expression.fallback);
  const subject = readTerm(expression.subject, scope);
  return subject === null ? fallback : elseTerm(subject, fallback);
}

function toIf(expression: Conditional, ctx: ExpressionContext): Term {
  const condition = ctx.condition(expression.condition);
  const [whenTrue, otherwise] = [ctx.term(expression.whenTrue), ctx.term(expression.otherwise)];
  if (condition.kind === 'constant' && condition.truth !== 'unknown')
    return condition.truth === 'true' ? whenTrue : otherwise;
  return {
    kind: 'if',
    condition,
    whenTrue,
    otherwise,
    sort: expression.type.kind,
    element: null,
    mayBeUnknown: condition.mayBeUnknown || whenTrue.mayBeUnknown || otherwise.mayBeUnknown,
    cost: condition.cost + whenTrue.cost + otherwise.cost,
  };
}

function toComparison(expression: Compare, { condition, term }: ExpressionContext): Condition {
  const { operator, left, right } = expression;
  if (left.type.kind === 'boolean') {
    const same = equivalence(condition(left), condition(right));
    return operator === '!=' ? negation(same) : same;
  }
  if (operator === '!=') return negation(comparison('==', term(left), term(right)));
  return comparison(operator, term(left), term(right));
}

/**
 * Translates a test for presence or null. The result is unknown only for signed fields. A field that the
 * action does not declare is absent, so both tests are false.
 */
function toPresence(expression: Extract<Expression, { kind: 'has' | 'is-null' }>, scope: Scope): Condition {
  const term = readTerm(expression.subject, scope);
  if (term === null) return constant('false');
  const { read } = term;
  if (expression.kind === 'has' && !read.mayBeAbsent && !read.isSigned) return constant('true');
  return { kind: expression.kind, read, mayBeUnknown: read.isSigned, cost: 1 };
}

interface Sources {
  readonly sources: readonly Term[];
  /** The place of the body. */
  readonly inner: ExpressionContext;
  readonly mayBeUnknown: boolean;
  readonly cost: number;
}

/** Returns the lists to go through, without those that the action does not declare. */
function toSources(expression: Quantify, { scope, ctx, term }: ExpressionContext): Sources {
  const all = expression.sources.map(term);
  const sources = all.filter((source) => source.kind !== 'absent');
  const slots = expression.sources.flatMap((source) => slotsOf(source, scope));
  const element = sources.map((source) => source.element?.element ?? null).find((inner) => inner !== null);
  const variable: Variable = { slots, element: element ?? null };
  const variables = new Map([...scope.variables, [expression.variable, variable]]);
  return {
    sources,
    inner: within({ ...scope, variables }, ctx),
    mayBeUnknown: sources.some(isUnknowableList) || (scope.variables.size > 0 && sources.length > 0),
    cost: 10 + sources.reduce((sum, source) => sum + source.cost, 0),
  };
}

function slotsOf(source: Expression, scope: Scope): readonly Slot[] {
  if (source.kind === 'field') return elementSlots(source, scope);
  if (source.kind === 'call' && source.type.kind === 'list') return [source.type.element];
  return source.kind === 'else' ? elementSlots(source.subject, scope) : [];
}

function toQuantified(expression: Quantify, ctx: ExpressionContext): Condition {
  const { sources, inner, mayBeUnknown, cost } = toSources(expression, ctx);
  const kind = expression.quantifier === 'every' ? 'every' : 'some';
  if (sources.length === 0) return definite(kind === 'every');
  const body = inner.condition(expression.body);
  const { variable } = expression;
  return {
    kind,
    variable,
    sources,
    body,
    mayBeUnknown: mayBeUnknown || body.mayBeUnknown,
    cost: cost + 4 * body.cost,
  };
}

function toTotal(expression: Quantify, ctx: ExpressionContext): Term {
  const { sources, inner, mayBeUnknown, cost } = toSources(expression, ctx);
  const { variable, type } = expression;
  const common = { variable, sources, sort: type.kind, element: null };
  if (expression.quantifier === 'count') {
    const body = inner.condition(expression.body);
    const isOpen = mayBeUnknown || body.mayBeUnknown;
    return { kind: 'count', ...common, body, mayBeUnknown: isOpen, cost: cost + 4 * body.cost };
  }
  const body = inner.term(expression.body);
  return { kind: 'sum', ...common, body, mayBeUnknown: true, cost: cost + 8 + 4 * body.cost };
}

// Turns membership in lists into conditions. What is known before any request is decided at once.

type Mentions = Extract<Expression, { kind: 'mentions' }>;

/** Whether the subject is an entry of a declared list. False for an empty list. */
function inList(subject: Term, list: List): Condition {
  if (list.entries.length === 0) return constant('false');
  if (subject.kind === 'absent') return constant('unknown');
  const mayBeUnknown = subject.mayBeUnknown || subject.sort === 'money';
  return {
    kind: 'in-list',
    subject,
    list: list.name,
    mayBeUnknown,
    cost: (list.ignoringCase ? 10 : 1) + subject.cost,
  };
}

/**
 * Whether the subject is an element of a list. Decided at once when the subject and all elements are
 * constants.
 */
function inElements(subject: Term, elements: Term): Condition {
  if (elements.kind === 'absent') return constant('unknown');
  if (elements.kind === 'list' && elements.elements.length === 0) return constant('false');
  if (elements.kind === 'text-list' && subject.kind === 'literal')
    return definite(elements.texts.some((text) => text === subject.value));
  const areKnown = elements.kind === 'text-list' || (elements.kind !== 'list' && !elements.mayBeUnknown);
  const mayBeUnknown = subject.mayBeUnknown || !areKnown || subject.sort === 'money';
  // A set of constant texts takes one look-up, and few requests match, so the condition is cheap.
  const cost = subject.cost + (elements.kind === 'text-list' ? 1 : 3 + elements.cost);
  return { kind: 'in-elements', subject, elements, mayBeUnknown, cost };
}

/** Whether a text mentions words that are written out or in a list. */
function mentionsCondition({ words }: Mentions, subject: Term): Condition {
  if (words.kind === 'words') {
    return { kind: 'mentions-words', words: words.words, ...ofSubject(subject, 80) };
  }
  return { kind: 'mentions-list', list: words.list, ...ofSubject(subject, 80) };
}
