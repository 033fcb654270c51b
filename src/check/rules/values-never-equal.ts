// Values that are listed or compared where what stands beside them can never have them: an entry outside of a field's
// enumeration, range or pattern, a capital letter beside `lower(...)` or a host. A misspelt entry of a deny list denies nothing.

import { descendants } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import type { Range, TextType } from '../../model/type.ts';
import type { Value } from '../../model/value.ts';
import type { ListDeclaration } from '../../syntax/tree.ts';
import { compare, type Decimal, formatDecimal, fromNumber, isInteger } from '../../value/decimal.ts';
import { fold, length, lower, trim } from '../../value/text.ts';
import { readerOf } from '../literals.ts';
import { warning } from '../problem.ts';
import type { Checked } from './warn.ts';

type Accepts = (value: Value) => boolean;

/** Entries of one list that are pointed at one by one; of more the first is named. */
const placesMax = 10;

export function valuesNeverEqual(checked: Checked): void {
  const nodes = conditionsOf(checked).flatMap((condition) => [...descendants(condition)]);
  for (const node of nodes) reportWritten(node, checked);
  const uses = usesOfLists(nodes, checked);
  for (const declaration of checked.env.declarations.values()) {
    if (declaration.kind === 'list') reportList(declaration, uses.get(declaration.name.text) ?? [], checked);
  }
}

function conditionsOf({ set }: Checked): readonly Expression[] {
  return [
    ...set.policies.flatMap(({ rules }) => rules.map(({ condition }) => condition)),
    ...[...set.lets.values()].map(({ expression }) => expression),
    ...[...set.meters.values()].flatMap(({ when }) => (when === null ? [] : [when])),
    ...set.guarantees.flatMap(({ claims }) => claims.flatMap(({ when }) => (when === null ? [] : [when]))),
  ];
}

/** Literals of a list in brackets, or beside `==`; what a field cannot equal there is never true, and reported so. */
function reportWritten(node: Expression, { env }: Checked): void {
  const [subject, others] = comparedWith(node);
  const accepts = subject === null ? null : acceptsOf(subject);
  if (accepts === null) return;
  for (const other of others) {
    if (other.kind !== 'literal' || accepts(other.value)) continue;
    env.report(
      warning('value-never-equal', other.span, `what is compared is never ${shown(other.value)}`, {
        help: 'mend its spelling or remove it: lower case, range and pattern of the other side count',
      }),
    );
  }
}

function comparedWith(node: Expression): readonly [Expression | null, readonly Expression[]] {
  if (node.kind === 'in-elements' && node.elements.kind === 'list')
    return [node.subject, node.elements.elements];
  if (node.kind !== 'compare' || (node.operator !== '==' && node.operator !== '!=')) return [null, []];
  return node.left.kind === 'call' ? [node.left, [node.right]] : [node.right, [node.left]];
}

/** By list, what its entries meet: an entry counts when one of them can equal it. */
function usesOfLists(
  nodes: readonly Expression[],
  { set, env }: Checked,
): ReadonlyMap<string, readonly Accepts[]> {
  const uses = new Map<string, Accepts[]>();
  const add = (list: string, accepts: Accepts): void => {
    uses.set(list, [...(uses.get(list) ?? []), accepts]);
    const declaration = env.declarations.get(list);
    if (declaration?.kind !== 'list' || declaration.source.kind !== 'join') return;
    for (const { text } of declaration.source.lists) add(text, accepts);
  };
  const everything: Accepts = () => true;
  for (const node of nodes) {
    if (node.kind === 'mentions' && node.words.kind === 'list') add(node.words.list, everything);
    if (node.kind !== 'in-list') continue;
    const { ignoringCase = false } = set.lists.get(node.list) ?? {};
    add(node.list, acceptsOf(node.subject, ignoringCase ? fold : undefined) ?? everything);
  }
  for (const declaration of env.declarations.values()) {
    if (declaration.kind === 'hours' && declaration.except !== null) add(declaration.except.text, everything);
  }
  return uses;
}

function reportList(
  { name, source }: ListDeclaration,
  uses: readonly Accepts[],
  { set, env }: Checked,
): void {
  const list = set.lists.get(name.text);
  if (list === undefined || uses.length === 0 || source.kind === 'join') return;
  const lost = list.entries.filter((entry) => !uses.some((accepts) => accepts(entry)));
  const [first] = lost;
  if (first === undefined) return;
  const written = source.kind === 'entries' ? source.entries : [];
  const texts = new Set(lost);
  const places = written.filter((entry) => entry.kind === 'text' && texts.has(entry.value));
  const isEach = places.length === lost.length && places.length <= placesMax;
  const others = lost.length === 1 ? 'and is' : `and ${lost.length - 1} more are`;
  const message = isEach
    ? `nothing that is looked up in \`${name.text}\` can equal this entry`
    : `${shown(first)} stands in \`${name.text}\` ${others} never equal to what is looked up in it`;
  for (const { span } of isEach ? places : [name]) {
    env.report(
      warning('value-never-equal', span, message, {
        help: 'mend its spelling or remove it: enumeration, range and pattern of the field count',
      }),
    );
  }
}

function shown(value: Value): string {
  if (typeof value === 'string') return `\`${JSON.stringify(value)}\``;
  return isDecimal(value) ? `\`${formatDecimal(value)}\`` : 'this value';
}

/** Which values the expression can have; null where every value of its type may come. */
function acceptsOf(subject: Expression, folding?: (text: string) => string): Accepts | null {
  if (subject.kind === 'call') return folding === undefined ? acceptsOfCall(subject) : null;
  if (subject.kind !== 'field' && subject.kind !== 'fact') return null;
  const { type } = subject;
  if (type.kind === 'text') return acceptsOfText(type, folding);
  if (type.kind !== 'number' && type.kind !== 'integer' && type.kind !== 'date') return null;
  const { range } = type;
  return (value) =>
    !isDecimal(value) || (isWithin(value, range) && (type.kind !== 'integer' || isInteger(value)));
}

function acceptsOfText(type: TextType, folding: ((text: string) => string) | undefined): Accepts | null {
  if (folding !== undefined) {
    const values = type.values === null ? null : new Set(type.values.map(folding));
    return values === null ? null : (value) => typeof value !== 'string' || values.has(folding(value));
  }
  const { of, values, patterns, length: range } = type;
  const hasLength = values === null && (range.low !== null || range.high !== null);
  if (of === 'string' && values === null && patterns.length === 0 && !hasLength) return null;
  const read = readerOf(type);
  return (value) =>
    typeof value !== 'string' ||
    (read(value) !== null && (!hasLength || isWithin(fromNumber(length(value)), range)));
}

/** Functions whose texts have one spelling. */
function acceptsOfCall({ builtin }: Extract<Expression, { kind: 'call' }>): Accepts | null {
  const spellings: Partial<Record<typeof builtin, (text: string) => boolean>> = {
    lower: (text) => text === lower(text),
    trim: (text) => text === trim(text),
    fold: (text) => text === fold(text),
    scheme: (text) => text === lower(text) && !/[:/]/.test(text),
    host: (text) => text === lower(text) && !/[/@\s]/.test(text),
    domain: (text) => text === lower(text) && !/[/@\s]/.test(text),
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
