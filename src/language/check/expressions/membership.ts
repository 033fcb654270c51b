// Types `in` and `not in`: declared lists, list literals, lists of the payload, tables, ranges, hours and
// networks.

import { type Span, spansOf } from '../../diagnostic/span.ts';
import { elementsOf, writtenList } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import { booleanType, enumeration, listOf, type Type } from '../../model/type.ts';
import type { Value } from '../../model/value.ts';
import type {
  BinaryExpression,
  ListExpression,
  NameNode,
  Path,
  RangeExpression,
  TextListExpression,
  ExpressionNode as Tree,
} from '../../syntax/tree/tree.ts';
import { parseCidr, parseNetwork } from '../../value/ip.ts';
import { behindLets, constantText } from '../logic/constants.ts';
import { formKey } from '../logic/list-forms.ts';
import {
  areComparable,
  areSpeltAlike,
  commonType,
  isComparable,
  isOrdered,
} from '../logic/type-relations.ts';
import { rangeMismatch, spellingsDiffer } from '../messages/operand-errors.ts';
import { secretElements } from '../messages/path-errors.ts';
import {
  cidrInvalid,
  entriesDiffer,
  hoursSubjectUnfit,
  listLiteralEmpty,
  membershipMismatch,
  membershipUnfit,
  networksTooMany,
  orderingUnfit,
} from '../messages/type-errors.ts';
import { clockMisplaced, entriesUnquoted, nullMisplaced } from '../messages/value-errors.ts';
import { adapt, adaptAll } from './adapt.ts';
import { sharesValues } from './comparison.ts';
import { type Context, inferValue } from './context.ts';
import { payloadFieldNames } from './declared-names.ts';
import { letsOf } from './lets.ts';
import { anyOf, anyOfMax, negated } from './logic.ts';
import { inTable } from './look-up.ts';
import { namesInScope } from './names.ts';

export function inferMembership(node: BinaryExpression, ctx: Context): Expression | null {
  const gap =
    node.right.kind === 'list-literal' ? node.right.entries.find(({ kind }) => kind === 'null') : undefined;
  if (gap !== undefined) {
    ctx.env.report(nullMisplaced(gap.span));
    return null;
  }
  const subject = inferValue(node.left, ctx);
  const test = inferTest(node, subject, ctx);
  if (test === null || node.operator === 'in') return test;
  return negated(test, node.span);
}

/** Types the test without its `not`. The right side is checked even if the left side is in error. */
function inferTest(node: BinaryExpression, subject: Expression | null, ctx: Context): Expression | null {
  const { right } = node;
  if (right.kind === 'range') return inRange(node, right, subject, ctx);
  if (right.kind === 'missing') return null;
  if (right.kind === 'path' && right.steps.length === 0 && !ctx.variables.has(right.root.text)) {
    const kind = ctx.env.query('kind', right.root.text);
    if (kind === 'list') return inList(node, right, subject, ctx);
    if (kind === 'table') return inTable(node, right.root, subject, ctx);
    if (kind === 'hours') return inHours(node, right, subject, ctx);
  }
  const container = inferValue(right, ctx);
  if (subject === null || container === null) return null;
  if (subject.type.kind === 'ip' && container.type.kind === 'text')
    return inNetwork(node, subject, container, ctx);
  const texts = subject.type.kind === 'ip' ? constantTexts(container, ctx) : [];
  if (texts.some(isNetwork)) return inNetworks(node, subject, texts, ctx);
  return inElements(node, subject, container, ctx);
}

function inRange(
  node: BinaryExpression,
  range: RangeExpression,
  subject: Expression | null,
  ctx: Context,
): Expression | null {
  if (range.low.kind === 'clock' && range.high.kind === 'clock') {
    ctx.env.report(clockMisplaced({ text: `${range.low.text}..${range.high.text}`, span: range.span }));
    return null;
  }
  const ends = [inferValue(range.low, ctx), inferValue(range.high, ctx)];
  if (subject === null) return null;
  const [low, high] = ends.map((end) => (end === null ? null : adapt(end, subject.type, ctx.env)));
  if (low === null || low === undefined || high === null || high === undefined) return null;
  const stray = [low, high].find((end) => !areComparable(subject.type, end.type));
  if (stray !== undefined) {
    ctx.env.report(rangeMismatch(stray, subject.type));
    return null;
  }
  if (!isOrdered(subject.type)) {
    ctx.env.report(orderingUnfit(node, subject, high));
    return null;
  }
  return { kind: 'in-range', subject, low, high, type: booleanType, span: node.span };
}

function inList(
  node: BinaryExpression,
  right: Path,
  subject: Expression | null,
  ctx: Context,
): Expression | null {
  const name = right.root.text;
  ctx.env.use(name);
  const listType = ctx.env.query('listType', name);
  if (listType === undefined || subject === null) return null;
  if (subject.type.kind === 'ip' && listType.kind === 'text') {
    const texts = ctx.env.query('list', name)?.entries.map((value) => ({ value, span: right.span })) ?? [];
    if (listType.of === 'network' || texts.some(isNetwork)) return inNetworks(node, subject, texts, ctx);
  }
  const isOfNetworks = listType.kind === 'text' && listType.of === 'network';
  if (isOfNetworks || !areComparable(subject.type, listType)) {
    ctx.env.report(membershipMismatch(node, subject.type, listType, name));
    return null;
  }
  const read = adapt(subject, listType, ctx.env);
  if (read === null) return null;
  const list = listBeside(read.type, name, listType, ctx);
  if (list === null) {
    ctx.env.report(spellingsDiffer(node.span, read.type, listType));
    return null;
  }
  return { kind: 'in-list', subject: read, list, type: booleanType, span: node.span };
}

/**
 * Returns the name of the list to search, with its entries in the form into which the gate brings the
 * subject; null when the entries have no such form.
 */
function listBeside(type: Type, name: string, listType: Type, { env }: Context): string | null {
  if (type.kind !== 'text' || listType.kind !== 'text') return name;
  const isFolded = type.of === 'path ignoring case' && listType.of === 'path';
  const isRead = type.of !== 'string' && (listType.of === 'string' || isFolded);
  if (!isRead && !areSpeltAlike(type, listType)) return null;
  return type.of === 'string' ? name : env.query('listForm', formKey(name, type.of));
}

function inHours(
  node: BinaryExpression,
  right: Path,
  subject: Expression | null,
  ctx: Context,
): Expression | null {
  const name = right.root.text;
  ctx.env.use(name);
  if (subject === null) return null;
  if (subject.type.kind !== 'timestamp') {
    ctx.env.report(hoursSubjectUnfit(subject, name));
    return null;
  }
  return { kind: 'in-hours', subject, hours: name, type: booleanType, span: node.span };
}

function inNetwork(
  node: BinaryExpression,
  subject: Expression,
  network: Expression,
  ctx: Context,
): Expression | null {
  const text = constantText(network, letsOf(ctx.env));
  const cidr = text === null ? { error: 'a network is a constant' } : parseCidr(text);
  if ('error' in cidr) {
    ctx.env.report(cidrInvalid(network.span, cidr.error));
    return null;
  }
  return { kind: 'in-cidr', subject, cidr, type: booleanType, span: node.span };
}

/** A constant in a list, and the place to blame for a mistake in the constant. */
interface ListedText {
  readonly value: Value;
  readonly span: Span;
}

/** Returns the texts of a list whose entries are all constant; an empty array for any other expression. */
function constantTexts(container: Expression, { env }: Context): readonly ListedText[] {
  const list = behindLets(container, letsOf(env));
  const texts = (elementsOf(list) ?? []).map((element) => ({
    value: constantText(element, letsOf(env)),
    span: element.span,
  }));
  return texts.every(({ value }) => value !== null) ? (texts as readonly ListedText[]) : [];
}

function isNetwork({ value }: ListedText): boolean {
  return typeof value === 'string' && value.includes('/');
}

/** Tests an address against each network or address of a list; the tests are joined by `or`. */
function inNetworks(
  node: BinaryExpression,
  subject: Expression,
  texts: readonly ListedText[],
  ctx: Context,
): Expression | null {
  if (texts.length > anyOfMax) {
    ctx.env.report(networksTooMany(node.right.span, texts.length));
    return null;
  }
  const cidrs = texts.flatMap(({ value, span }) => {
    const cidr = parseNetwork(value as string);
    if (!('error' in cidr)) return [cidr];
    ctx.env.report(cidrInvalid(span, cidr.error));
    return [];
  });
  if (cidrs.length < texts.length) return null;
  return anyOf(
    node,
    cidrs.map((cidr) => ({ kind: 'in-cidr', subject, cidr, type: booleanType, span: node.span })),
  );
}

function inElements(
  node: BinaryExpression,
  subject: Expression,
  container: Expression,
  ctx: Context,
): Expression | null {
  const elements = adapt(container, subject.type, ctx.env);
  if (elements === null) return null;
  if (elements.type.kind !== 'list') {
    ctx.env.report(membershipUnfit(elements.span, elements.type));
    return null;
  }
  const { element } = elements.type;
  if (element.isSecret) {
    ctx.env.report(secretElements(elements.span));
    return null;
  }
  const read = adapt(subject, element.type, ctx.env);
  if (read === null) return null;
  if (!areComparable(read.type, element.type)) {
    ctx.env.report(membershipMismatch(node, read.type, element.type, null));
    return null;
  }
  if (!areSpeltAlike(read.type, element.type)) {
    ctx.env.report(spellingsDiffer(node.span, read.type, element.type));
    return null;
  }
  if (!elementsShareValues(read, elements, ctx)) return null;
  return { kind: 'in-elements', subject: read, elements, type: booleanType, span: node.span };
}

/**
 * Whether the subject can equal every entry of a literal list; reports each entry that the subject can never
 * equal. A constant subject is not checked.
 */
function elementsShareValues(subject: Expression, elements: Expression, ctx: Context): boolean {
  const list = behindLets(elements, letsOf(ctx.env));
  if (list.kind !== 'list' && list.kind !== 'text-list') {
    const slot = elements.type.kind === 'list' ? elements.type.element : null;
    return slot === null || sharesValues(subject, { ...elements, type: slot.type }, ctx);
  }
  // A constant on the left has one value, which need not equal every entry.
  if (behindLets(subject, letsOf(ctx.env)).kind === 'literal') return true;
  // Free text, and any value that is no text, can equal every entry.
  if (subject.type.kind !== 'text' || subject.type.values === null) return true;
  const shared = elementsOf(list)!.map((element) => sharesValues(subject, element, ctx));
  return shared.every((shares) => shares);
}

/** Types a list of texts only, as most lists are: the elements are an enumeration of the texts. */
export function inferTextList({
  texts,
  spans,
  span,
}: Pick<TextListExpression, 'texts' | 'spans' | 'span'>): Expression {
  return { kind: 'text-list', texts, spans, type: listOf(enumeration([...new Set(texts)])), span };
}

/**
 * Returns the entry's name when nothing declares it, as for a text without quotes; an empty array for any
 * other entry and for a gap.
 */
function wordsOf(entry: Tree, ctx: Context): readonly NameNode[] {
  if (entry.kind !== 'path' || entry.steps.length > 0 || entry.root.text === '') return [];
  const { text } = entry.root;
  const isInScope = ctx.variables.has(text) || (namesInScope as readonly string[]).includes(text);
  const isKnown = isInScope || ctx.env.query('kind', text) !== undefined || payloadFieldNames(ctx).has(text);
  return isKnown ? [] : [entry.root];
}

/** Types `["a", "b"]`: values of one type. */
export function inferListLiteral(node: ListExpression, ctx: Context): Expression | null {
  if (node.entries.length === 0) {
    ctx.env.report(listLiteralEmpty(node.span));
    return null;
  }
  const texts = node.entries.flatMap((entry) => (entry.kind === 'text' ? [entry.value] : []));
  if (texts.length === node.entries.length)
    return inferTextList({ texts, spans: spansOf(node.entries), span: node.span });
  const words = node.entries.flatMap((entry) => wordsOf(entry, ctx));
  if (words.length === node.entries.length) {
    ctx.env.report(entriesUnquoted(words));
    return null;
  }
  const elements = node.entries.map((entry: Tree) => inferValue(entry, ctx));
  const knownElements = adaptAll(
    elements.filter((element) => element !== null),
    ctx.env,
  );
  if (knownElements.length < elements.length) return null;
  let type: Type | null = null;
  for (const element of knownElements) {
    const merged: Type | null = type === null ? element.type : commonType(type, element.type);
    if (merged === null || !isComparable(merged)) {
      ctx.env.report(entriesDiffer(element, type));
      return null;
    }
    type = merged;
  }
  return type === null ? null : writtenList(knownElements, { type: listOf(type), span: node.span });
}
