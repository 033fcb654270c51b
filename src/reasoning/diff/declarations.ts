// Which of the declarations that rules read differ between the two sides, by themselves or through what they
// read.

import { namingValues } from '../../language/model/approvers.ts';
import { canonicalMeaning, isSameMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import { type Expression, mirroredComparison } from '../../language/model/expression.ts';
import type { List, Meter, PolicySet, Rule } from '../../language/model/policy.ts';
import { memo } from '../../language/value/memo.ts';
import { mapOperands } from '../prove/rewrite.ts';

/** The names of changed declarations, or ids for lets. A declaration that only one side has is included. */
export interface ChangedDeclarations {
  readonly lists: ReadonlySet<string>;
  readonly tables: ReadonlySet<string>;
  readonly hours: ReadonlySet<string>;
  readonly lets: ReadonlySet<string>;
  readonly meters: ReadonlySet<string>;
}

export type ReadKind = keyof ChangedDeclarations;

export interface ReadDeclaration {
  readonly kind: ReadKind;
  /** The declaration's name, or the id of a let. */
  readonly name: string;
}

export function changedDeclarations(before: PolicySet, after: PolicySet): ChangedDeclarations {
  const meters = meterMeanings(before);
  const changed: Record<ReadKind, Set<string>> = {
    lists: differing(before.lists, after.lists, areListsAlike),
    tables: differing(before.tables, after.tables),
    hours: differing(before.hours, after.hours),
    lets: differing(before.lets, after.lets),
    meters: differing(meters, meterMeanings(after)),
  };
  for (const names of renamedMeters(before, after)) for (const name of names) changed.meters.delete(name);
  // A declaration that reads a changed declaration has changed, too; lets may read lets.
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    for (const [kind, name, expressions] of readers(before.lets, meters)) {
      if (changed[kind].has(name) || !expressions.some((one) => readsChanged(one, changed))) continue;
      changed[kind].add(name);
      isGrowing = true;
    }
  }
  return changed;
}

function differing<T extends object>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  areAlike: (before: T | undefined, after: T | undefined) => boolean = isAlike,
): Set<string> {
  const names = new Set([...before.keys(), ...after.keys()]);
  return new Set([...names].filter((name) => !areAlike(before.get(name), after.get(name))));
}

/** Compares the entries one by one, up to the first difference. */
function areListsAlike(before: List | undefined, after: List | undefined): boolean {
  if (before === after) return true;
  if (before === undefined || after === undefined || before.entries.length !== after.entries.length)
    return false;
  if (!isAlike({ ...before, entries: [] }, { ...after, entries: [] })) return false;
  return before.entries.every((entry, at) => {
    const other = after.entries[at]!;
    return typeof entry === 'object' ? isAlike(entry ?? {}, (other ?? {}) as object) : entry === other;
  });
}

/**
 * Whether two declarations have the same meaning. A declaration that is kept from one compilation to the next
 * is the same object, so identity is tried first.
 */
export function isAlike(before: object | undefined, after: object | undefined): boolean {
  if (before === after) return true;
  if (before === undefined || after === undefined) return false;
  return isSameMeaning(before, after);
}

function* readers(
  lets: PolicySet['lets'],
  meters: ReadonlyMap<string, Meter>,
): Generator<readonly [ReadKind, string, readonly Expression[]]> {
  for (const { id, expression } of lets.values()) yield ['lets', id, [expression]];
  for (const { name, argument, when } of meters.values())
    yield ['meters', name, [argument, when].filter((one) => one !== null)];
}

export function readsChanged(expression: Expression, changed: ChangedDeclarations): boolean {
  if (Object.values(changed).every(({ size }) => size === 0)) return false;
  return declarationsIn(expression).some(({ kind, name }) => changed[kind].has(name));
}

/** Whether the rule reads a changed declaration, in its condition or to name an approver. */
export function ruleReadsChanged(
  { condition, requirement }: Pick<Rule, 'condition' | 'requirement'>,
  changed: ChangedDeclarations,
): boolean {
  return [condition, ...namingValues(requirement)].some((one) => readsChanged(one, changed));
}

/** The declarations that the expression itself names, each once. */
export function declarationsIn(expression: Expression): readonly ReadDeclaration[] {
  const declarations = new Map<string, ReadDeclaration>();
  for (const part of descendants(expression)) {
    const one = declarationOf(part);
    if (one !== null) declarations.set(`${one.kind} ${one.name}`, one);
  }
  return [...declarations.values()];
}

function declarationOf(part: Expression): ReadDeclaration | null {
  switch (part.kind) {
    case 'let':
      return { kind: 'lets', name: part.id };
    case 'meter':
      return { kind: 'meters', name: part.meter };
    case 'in-hours':
      return { kind: 'hours', name: part.hours };
    case 'in-table':
    case 'column':
      return { kind: 'tables', name: part.table };
    case 'in-list':
      return { kind: 'lists', name: part.list };
    case 'mentions':
      return part.words.kind === 'list' ? { kind: 'lists', name: part.words.list } : null;
    default:
      return null;
  }
}

/**
 * What meters count, however their conditions are written: lets are written out, operands of `and` and `or`
 * are sorted and each kept once, and the sides of what may be swapped are sorted, too. INVARIANT: the
 * rewritten condition is true, false or unknown of exactly the same requests as the original.
 */
export function meterMeanings(set: PolicySet): ReadonlyMap<string, Meter> {
  const written = (expression: Expression | null): Expression | null =>
    expression === null ? null : inOneOrder(set, expression);
  const writtenMeter = (meter: Meter): Meter => ({
    ...meter,
    argument: written(meter.argument),
    when: written(meter.when),
  });
  return memo(
    knownMeanings,
    set,
    () => new Map([...set.meters].map(([name, meter]) => [name, writtenMeter(meter)])),
  );
}

/** Cached because one comparison needs the meanings several times. */
const knownMeanings = new WeakMap<PolicySet, ReadonlyMap<string, Meter>>();

/** By old name, the new names of meters that were renamed and still count the same. */
export function renamedMeters(before: PolicySet, after: PolicySet): ReadonlyMap<string, string> {
  const gone = textsOf(before, ({ name }) => !after.meters.has(name));
  const added = textsOf(after, ({ name }) => !before.meters.has(name));
  const renamed = new Map<string, string>();
  for (const [text, [old, ...others]] of gone) {
    const [now, ...more] = added.get(text) ?? [];
    if (old !== undefined && now !== undefined && others.length + more.length === 0) renamed.set(old, now);
  }
  return renamed;
}

/** By what they count, the names of the meters that `isAsked` accepts. */
function textsOf(set: PolicySet, isAsked: (meter: Meter) => boolean): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const meter of meterMeanings(set).values())
    if (isAsked(meter)) memo(names, canonicalMeaning({ ...meter, name: '' }), () => []).push(meter.name);
  return names;
}

function inOneOrder(set: PolicySet, expression: Expression): Expression {
  if (expression.kind === 'let') {
    const declared = set.lets.get(expression.id);
    return declared === undefined ? expression : inOneOrder(set, declared.expression);
  }
  const written = mapOperands(expression, (operand) => inOneOrder(set, operand));
  switch (written.kind) {
    case 'and':
    case 'or': {
      const parts = written.operands.flatMap((part) => (part.kind === written.kind ? part.operands : [part]));
      const byText = new Map(parts.map((part) => [canonicalMeaning(part), part]));
      const operands = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
      return operands.length === 1 ? operands[0]! : { ...written, operands };
    }
    case 'compare':
      return isInOrder(written)
        ? written
        : { ...turned(written), operator: mirroredComparison[written.operator] };
    case 'arithmetic': {
      const mayTurn = written.operator === '+' || written.operator === '*';
      return !mayTurn || isInOrder(written) ? written : turned(written);
    }
    default:
      return written;
  }
}

interface Sides {
  readonly left: Expression;
  readonly right: Expression;
}

function isInOrder({ left, right }: Sides): boolean {
  return canonicalMeaning(left) <= canonicalMeaning(right);
}

function turned<T extends Sides>(expression: T): T {
  return { ...expression, left: expression.right, right: expression.left };
}
