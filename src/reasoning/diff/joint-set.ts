// Joins two policy sets into one set in which every name means one thing. What both sets declare alike is
// shared; what they declare differently gets two names. A list that lost or gained entries becomes up to
// three lists. A condition on it then reads as a condition on the common entries, or on the entries of one
// side.

import { quoted } from '../../language/model/describe.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { List, Meter, PolicySet } from '../../language/model/policy.ts';
import { fold } from '../../language/value/text.ts';
import { keyOf } from '../cells/leaf.ts';
import { foldedKeys, plainKeys } from '../cells/text-keys.ts';
import { mapOperands } from '../prove/rewrite.ts';
import { type ChangedDeclarations, changedDeclarations, renamedMeters } from './declarations.ts';
import { jointActions } from './shapes.ts';

// Splits a list that lost or gained entries into three: the common entries, those that are gone, and those
// that are new.

const namedMax = 3;

/**
 * By side, the lists that together hold the side's entries; null if the two lists differ in more than their
 * entries.
 */
function splitList(before: List, after: List): BothSides<readonly List[]> | null {
  if (before.type.kind !== after.type.kind || before.ignoringCase !== after.ignoringCase) return null;
  const [old, now] = [keysOf(before), keysOf(after)];
  const removed = before.entries.filter((entry) => !now.has(keyIn(before, entry)));
  const added = after.entries.filter((entry) => !old.has(keyIn(after, entry)));
  // If a side has only common entries, its own array is the common list: what is cached by that array is then
  // reused.
  const common =
    removed.length === 0
      ? before.entries
      : added.length === 0
        ? after.entries
        : after.entries.filter((entry) => old.has(keyIn(after, entry)));
  const shared = common.length === 0 ? [] : [{ ...after, entries: common }];
  return {
    before: atLeastOne([...shared, ...part(before, 'gone', removed)], before),
    after: atLeastOne([...shared, ...part(after, 'new', added)], after),
  };
}

function keyIn({ ignoringCase }: List, entry: List['entries'][number]): string {
  if (typeof entry !== 'string') return keyOf(entry);
  return ignoringCase ? fold(entry) : entry;
}

function keysOf(list: List): ReadonlySet<List['entries'][number]> {
  const { entries, ignoringCase } = list;
  if (entries.every((entry) => typeof entry === 'string'))
    return ignoringCase ? foldedKeys(entries) : plainKeys(entries);
  return new Set(entries.map((entry) => keyIn(list, entry)));
}

function atLeastOne(lists: readonly List[], { name, ...list }: List): readonly List[] {
  return lists.length > 0 ? lists : [{ ...list, name, entries: [] }];
}

function part(list: List, label: string, entries: List['entries']): readonly List[] {
  if (entries.length === 0) return [];
  const isShort = entries.length <= namedMax && entries.every((entry) => typeof entry === 'string');
  const entriesText = isShort
    ? (entries as readonly string[]).map(quoted).join(', ')
    : `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  return [{ ...list, name: `${list.name} (${label}: ${entriesText})`, entries }];
}

export const sides = ['before', 'after'] as const;
export type DiffSide = (typeof sides)[number];
export type BothSides<T> = Readonly<Record<DiffSide, T>>;

export interface JointSet {
  /** The declarations of both sets, without policies. */
  readonly set: PolicySet;
  readonly original: BothSides<PolicySet>;
  readonly changed: ChangedDeclarations;
  /** Writes an expression of one side in the names of the joint set. */
  readonly written: BothSides<(expression: Expression) => Expression>;
  /** By the joint name of a meter, the side's name for it. */
  readonly meters: BothSides<ReadonlyMap<string, string>>;
}

/**
 * The joint names of one side's declarations; for a changed list, the names of the lists that it consists of.
 */
interface Names {
  readonly lists: Map<string, readonly string[]>;
  readonly tables: Map<string, string>;
  readonly hours: Map<string, string>;
  readonly meters: Map<string, string>;
}

const suffixes: BothSides<string> = { before: ' (before)', after: ' (now)' };

export function jointSet(before: PolicySet, after: PolicySet): JointSet {
  const changed = changedDeclarations(before, after);
  const original = { before, after };
  const names: BothSides<Names> = { before: noNames(), after: noNames() };
  const written = {
    before: writerOf('before', names.before),
    after: writerOf('after', names.after),
  };
  const set: PolicySet = {
    actions: jointActions(before, after),
    lists: jointLists(original, names, changed),
    tables: new Map(
      sides.flatMap((side) => entriesOf(original[side].tables, names[side].tables, side, changed.tables)),
    ),
    hours: new Map(
      sides.flatMap((side) => entriesOf(original[side].hours, names[side].hours, side, changed.hours)),
    ),
    lets: new Map(
      sides.flatMap((side) =>
        [...original[side].lets].map(([id, declared]) => [
          `${id}${suffixes[side]}`,
          { ...declared, id: `${id}${suffixes[side]}`, expression: written[side](declared.expression) },
        ]),
      ),
    ),
    meters: new Map(),
    approvers: after.approvers,
    policies: [],
    guarantees: [],
  };
  // A renamed meter that reads a changed list counts differently, so it keeps two names.
  for (const [old, now] of renamedMeters(before, after))
    if (!changed.meters.has(old)) names.before.meters.set(old, now);
  // Meters come last, when the joint names of everything they read are known.
  const meters = sides.flatMap((side) =>
    entriesOf(original[side].meters, names[side].meters, side, changed.meters).map(
      ([name, meter]) => [name, writtenMeter(meter, name, written[side])] as const,
    ),
  );
  return {
    set: { ...set, meters: new Map(meters) },
    original,
    changed,
    written,
    meters: { before: turned(names.before.meters), after: turned(names.after.meters) },
  };
}

function noNames(): Names {
  return { lists: new Map(), tables: new Map(), hours: new Map(), meters: new Map() };
}

function turned(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...names].map(([own, joint]) => [joint, own]));
}

/**
 * Entries with their joint names: the own name if both sides declare it alike, else one for the side. A name
 * that was set before is kept.
 */
function entriesOf<T>(
  declared: ReadonlyMap<string, T>,
  names: Map<string, string>,
  side: DiffSide,
  changed: ReadonlySet<string>,
): (readonly [string, T])[] {
  return [...declared].map(([name, one]) => {
    const joint = names.get(name) ?? (changed.has(name) ? `${name}${suffixes[side]}` : name);
    names.set(name, joint);
    return [joint, one] as const;
  });
}

function writtenMeter(meter: Meter, name: string, written: (expression: Expression) => Expression): Meter {
  return {
    ...meter,
    name,
    argument: meter.argument === null ? null : written(meter.argument),
    when: meter.when === null ? null : written(meter.when),
  };
}

function jointLists(
  original: BothSides<PolicySet>,
  names: BothSides<Names>,
  changed: ChangedDeclarations,
): ReadonlyMap<string, List> {
  const lists = new Map<string, List>();
  for (const name of new Set(sides.flatMap((side) => [...original[side].lists.keys()]))) {
    const [before, after] = [original.before.lists.get(name), original.after.lists.get(name)];
    const split =
      changed.lists.has(name) && before !== undefined && after !== undefined
        ? splitList(before, after)
        : null;
    for (const side of sides) {
      const list = original[side].lists.get(name);
      if (list === undefined) continue;
      const parts = split?.[side] ?? [{ ...list, name: joinedName(name, side, changed.lists, original) }];
      for (const part of parts) lists.set(part.name, part);
      names[side].lists.set(
        name,
        parts.map((part) => part.name),
      );
    }
  }
  return lists;
}

function joinedName(
  name: string,
  side: DiffSide,
  changed: ReadonlySet<string>,
  original: BothSides<PolicySet>,
): string {
  const isInBoth = sides.every((one) => original[one].lists.has(name));
  return changed.has(name) && isInBoth ? `${name}${suffixes[side]}` : name;
}

/** A node that reads the risk score of one side alone. */
type SidedRisk = Extract<Expression, { readonly kind: 'risk' }> & { readonly side: DiffSide };

function writerOf(side: DiffSide, names: Names): (expression: Expression) => Expression {
  const writtenConditions = new WeakMap<Expression, Expression>();
  const write = (expression: Expression): Expression => {
    const before = writtenConditions.get(expression);
    if (before !== undefined) return before;
    const made = writeNode(expression);
    writtenConditions.set(expression, made);
    return made;
  };
  const writeNode = (expression: Expression): Expression => {
    switch (expression.kind) {
      case 'let':
        return { ...expression, id: `${expression.id}${suffixes[side]}` };
      case 'meter': {
        const meter = names.meters.get(expression.meter) ?? expression.meter;
        return meter === expression.meter ? expression : { ...expression, meter };
      }
      case 'risk': {
        // The rules that add risk may differ, so a condition on risk is never shared by both sides.
        const sided: SidedRisk = { ...expression, side };
        return sided;
      }
      case 'in-hours': {
        const hours = names.hours.get(expression.hours) ?? expression.hours;
        const subject = write(expression.subject);
        const isSame = hours === expression.hours && subject === expression.subject;
        return isSame ? expression : { ...expression, subject, hours };
      }
      case 'in-table': {
        const table = names.tables.get(expression.table) ?? expression.table;
        const subject = write(expression.subject);
        const isSame = table === expression.table && subject === expression.subject;
        return isSame ? expression : { ...expression, subject, table };
      }
      case 'column': {
        const table = names.tables.get(expression.table) ?? expression.table;
        const key = write(expression.key);
        return table === expression.table && key === expression.key
          ? expression
          : { ...expression, key, table };
      }
      case 'in-list': {
        const subject = write(expression.subject);
        const lists = names.lists.get(expression.list) ?? [expression.list];
        if (lists.length === 1 && lists[0] === expression.list && subject === expression.subject)
          return expression;
        return anyOf(
          expression,
          lists.map((list) => ({ ...expression, subject, list })),
        );
      }
      case 'mentions': {
        const subject = write(expression.subject);
        if (expression.words.kind !== 'list')
          return subject === expression.subject ? expression : { ...expression, subject };
        const lists = names.lists.get(expression.words.list) ?? [expression.words.list];
        return anyOf(
          expression,
          lists.map((list) => ({ ...expression, subject, words: { kind: 'list', list } })),
        );
      }
      default: {
        let isSame = true;
        const made = mapOperands(expression, (operand) => {
          const written = write(operand);
          isSame &&= written === operand;
          return written;
        });
        return isSame ? expression : made;
      }
    }
  };
  return write;
}

function anyOf({ type, span }: Expression, operands: readonly Expression[]): Expression {
  return operands.length === 1 ? operands[0]! : { kind: 'or', operands, type, span };
}
