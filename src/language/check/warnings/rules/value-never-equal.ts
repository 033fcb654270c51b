// Warns of values that are listed or compared but that the other side can never have: an entry outside of a
// field's enumeration, range or pattern, a capital letter beside `lower(...)` or a host. A misspelt entry of
// a deny list denies nothing.

import { childrenOf, elementsOf } from '../../../model/children.ts';
import type { Expression } from '../../../model/expression.ts';
import type { List } from '../../../model/policy.ts';
import type { Range, TextType, Type } from '../../../model/type.ts';
import type { Value } from '../../../model/value.ts';
import type { ListDeclaration } from '../../../syntax/tree/tree.ts';
import { compare, type Decimal, formatDecimal, isInteger, toNumber } from '../../../value/decimal.ts';
import { canonicalHost, canonicalHostName } from '../../../value/host-name.ts';
import { fold, length, lower, trim } from '../../../value/text.ts';
import type { Environment } from '../../incremental/environment.ts';
import { declaredList } from '../../logic/list-forms.ts';
import { readerOf } from '../../logic/literals.ts';
import { structureOf } from '../../logic/structure.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope, ExaminedRule, ListRead } from '../engine/rule-subjects.ts';

type ValueTest = (value: Value) => boolean;

/**
 * The most entries of one list that are reported one by one. For more, one diagnostic names the first entry.
 */
const placesMax = 10;

/** Calls `visit` with an expression and with all expressions below it except literals. */
export function walkCondition(node: Expression, visit: (node: Expression) => void): void {
  const pending = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    visit(next);
    const children = childrenOf(next);
    for (let at = children.length - 1; at >= 0; at--) {
      const child = children[at]!;
      if (child.kind !== 'literal') pending.push(child);
    }
  }
}

/** Reports literals that the other side of their comparison never equals. */
export function literalsNeverEqual({ conditions, env }: ConditionScope): void {
  for (const condition of conditions) {
    walkCondition(condition, (node) => reportWritten(node, env));
  }
}

/** Reports entries of declared lists that no value that is looked up can equal. */
export function entriesNeverEqual(checked: ExaminedRule): void {
  const uses = usesOfLists(checked);
  for (const declaration of checked.env.declarations.ofKind('list')) {
    const tests = uses.get(declaration.name.text);
    if (tests !== undefined) reportList(declaration, tests, checked);
  }
}

/** Returns the reads of lists in a condition. Lets are not followed, because their own reads are counted. */
export function listReadsIn(condition: Expression): readonly ListRead[] {
  const reads: ListRead[] = [];
  walkCondition(condition, (node) => {
    if (node.kind === 'in-list') reads.push({ list: node.list, subject: node.subject });
    else if (node.kind === 'mentions' && node.words.kind === 'list') {
      reads.push({ list: node.words.list, subject: null });
    }
  });
  return reads;
}

/**
 * Reports entries of list literals, and literals beside `==`, that the other side never equals. A comparison
 * of a field with such a literal is reported as never true instead.
 */
function reportWritten(node: Expression, env: Environment): void {
  const [subject, others] = comparedWith(node);
  const accepts = subject === null ? null : acceptsOf(subject);
  if (accepts === null) return;
  for (const other of others) {
    if (other.kind !== 'literal' || accepts(other.value)) continue;
    env.report(
      warning('value-never-equal', other.span, `what is compared is never ${shown(other.value)}`, {
        help: 'fix its spelling or remove it: lower case, range and pattern of the other side count',
      }),
    );
  }
}

function comparedWith(node: Expression): readonly [Expression | null, readonly Expression[]] {
  if (node.kind === 'in-elements') return [node.subject, elementsOf(node.elements) ?? []];
  if (node.kind !== 'compare' || (node.operator !== '==' && node.operator !== '!=')) return [null, []];
  return node.left.kind === 'call' ? [node.left, [node.right]] : [node.right, [node.left]];
}

/**
 * By list, the kinds of values that are looked up in it, each once; null for any value. An entry is useful
 * when a value of at least one kind can equal it.
 */
type Uses = ReadonlyMap<string, ReadonlyMap<string, ValueTest | null>>;

function usesOfLists({ set, env, listReads }: ExaminedRule): Uses {
  const uses = new Map<string, Map<string, ValueTest | null>>();
  const add = (list: string, name: string, accepts: ValueTest | null): void => {
    const cached = uses.get(list);
    if (cached?.has(name) === true) return;
    if (cached === undefined) uses.set(list, new Map([[name, accepts]]));
    else cached.set(name, accepts);
    const declaration = env.declarations.get(list);
    if (declaration?.kind !== 'list' || declaration.source.kind !== 'join') return;
    for (const { text } of declaration.source.lists) add(text, name, accepts);
  };
  for (const { list: form, subject } of listReads) {
    const list = declaredList(form);
    const { ignoringCase = false } = set.lists.get(list) ?? {};
    const name = subject === null ? 'everything' : `${ignoringCase} ${subjectName(subject)}`;
    if (uses.get(list)?.has(name) === true) continue;
    add(list, name, subject === null ? null : acceptsOf(subject, ignoringCase ? fold : undefined));
  }
  for (const { except } of env.declarations.ofKind('hours')) {
    if (except !== null) add(except.text, 'everything', null);
  }
  return uses;
}

/** Returns a name that is equal for subjects that can have the same values. */
function subjectName(subject: Expression): string {
  if (subject.kind === 'call') return `call ${subject.builtin}`;
  return subject.kind === 'field' || subject.kind === 'fact' ? typeName(subject.type) : 'everything';
}

const typeNames = new WeakMap<Type, string>();

function typeName(type: Type): string {
  const structure = typeNames.get(type) ?? structureOf(type);
  typeNames.set(type, structure);
  return structure;
}

/** By list, the uses for which its entries were last examined, and the entries that no value equals. */
const knownLost = new WeakMap<List, { readonly uses: string; readonly lost: readonly Value[] }>();

function lostEntries(list: List, uses: ReadonlyMap<string, ValueTest | null>): readonly Value[] {
  const accepting = [...uses.values()];
  if (accepting.includes(null)) return [];
  const name = JSON.stringify([...uses.keys()].sort());
  const cached = knownLost.get(list);
  if (cached?.uses === name) return cached.lost;
  const lost = list.entries.filter((entry) => !accepting.some((accepts) => accepts?.(entry)));
  knownLost.set(list, { uses: name, lost });
  return lost;
}

function reportList(
  { name, source }: ListDeclaration,
  uses: ReadonlyMap<string, ValueTest | null>,
  { set, env }: ExaminedRule,
): void {
  const list = set.lists.get(name.text);
  if (list === undefined || source.kind === 'join') return;
  const lost = lostEntries(list, uses);
  const [first] = lost;
  if (first === undefined) return;
  const written = source.kind === 'entries' ? source.entries : [];
  const texts = new Set(lost);
  const places = written.filter((entry) => entry.kind === 'text' && texts.has(entry.value));
  const isEach = places.length === lost.length && places.length <= placesMax;
  const others = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
  const message = isEach
    ? `nothing that is looked up in \`${name.text}\` can equal this entry`
    : `nothing that is looked up in \`${name.text}\` can equal ${shown(first)}${others}`;
  for (const { span } of isEach ? places : [name]) {
    env.report(
      warning('value-never-equal', span, message, {
        help: 'fix its spelling or remove it: the type of the field excludes it',
      }),
    );
  }
}

function shown(value: Value): string {
  if (typeof value === 'string') return `\`${JSON.stringify(value)}\``;
  return isDecimal(value) ? `\`${formatDecimal(value)}\`` : 'this value';
}

/** Returns a test of which values the expression can have; null when it can have every value of its type. */
function acceptsOf(subject: Expression, folding?: (text: string) => string): ValueTest | null {
  if (folding !== undefined || subject.kind === 'call') return newAccepts(subject, folding);
  const cached = knownAccepts.get(subject.type);
  if (cached !== undefined && cached.kind === subject.kind) return cached.accepts;
  const accepts = newAccepts(subject, undefined);
  knownAccepts.set(subject.type, { kind: subject.kind, accepts });
  return accepts;
}

/** The tests of subjects other than calls, by type and kind of the subject. */
const knownAccepts = new WeakMap<Type, { readonly kind: string; readonly accepts: ValueTest | null }>();

function newAccepts(subject: Expression, folding: ((text: string) => string) | undefined): ValueTest | null {
  if (subject.kind === 'call') return folding === undefined ? acceptsOfCall(subject) : null;
  if (subject.kind !== 'field' && subject.kind !== 'fact') return null;
  const { type } = subject;
  if (type.kind === 'text') return acceptsOfText(type, folding);
  if (type.kind !== 'number' && type.kind !== 'integer' && type.kind !== 'date') return null;
  const { range } = type;
  return (value) =>
    !isDecimal(value) || (isWithin(value, range) && (type.kind !== 'integer' || isInteger(value)));
}

function acceptsOfText(type: TextType, folding: ((text: string) => string) | undefined): ValueTest | null {
  if (folding !== undefined) {
    const values = type.values === null ? null : new Set(type.values.map(folding));
    return values === null ? null : (value) => typeof value !== 'string' || values.has(folding(value));
  }
  const { of, values, patterns, length: range } = type;
  const hasLength = values === null && (range.low !== null || range.high !== null);
  if (of === 'string' && values === null && patterns.length === 0 && !hasLength) return null;
  const read = readerOf(type);
  const [low, high] = [
    range.low === null ? 0 : toNumber(range.low),
    range.high === null ? Number.POSITIVE_INFINITY : toNumber(range.high),
  ];
  const fits = (text: string): boolean => {
    // A code point takes one or two UTF-16 units, so the number of units alone often decides.
    if (text.length <= high && text.length >= 2 * low) return true;
    const size = length(text);
    return size >= low && size <= high;
  };
  if (of === 'string' && values === null && patterns.length === 0) {
    return (value) => typeof value !== 'string' || fits(value);
  }
  return (value) => typeof value !== 'string' || (read(value) !== null && (!hasLength || fits(value)));
}

/**
 * Returns a test of which texts a function can return; null for a function whose texts may have any spelling.
 */
function acceptsOfCall({ builtin }: Extract<Expression, { kind: 'call' }>): ValueTest | null {
  const spellings: Partial<Record<typeof builtin, (text: string) => boolean>> = {
    lower: (text) => text === lower(text),
    trim: (text) => text === trim(text),
    fold: (text) => text === fold(text),
    scheme: (text) => text === lower(text) && !/[:/]/.test(text),
    host: (text) => canonicalHost(text) !== null,
    domain: (text) => canonicalHostName(text) !== null,
  };
  const isSpelt = spellings[builtin];
  return isSpelt === undefined ? null : (value) => typeof value !== 'string' || isSpelt(value);
}

function isWithin(value: Decimal, { low, high }: Range): boolean {
  return (low === null || compare(value, low) >= 0) && (high === null || compare(value, high) <= 0);
}

function isDecimal(value: Value): value is Decimal {
  return typeof value === 'object' && value !== null && 'coefficient' in value;
}
