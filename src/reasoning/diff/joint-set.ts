// Joins two policy sets into one set in which every name means one thing. What both sets declare alike is
// shared; what they declare differently gets two names. A list that lost or gained entries becomes up to
// three lists. A condition on it then reads as a condition on the common entries, or on the entries of one
// side.

import type { Expression } from '../../language/model/expression.ts';
import type { List, Meter, PolicySet } from '../../language/model/policy.ts';
import { mapOperands } from '../prove/rewrite.ts';
import { type ChangedDeclarations, changedDeclarations, renamedMeters } from './declarations.ts';
import { splitList } from './lists.ts';
import { jointActions } from './shapes.ts';

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
      const own = original[side].lists.get(name);
      if (own === undefined) continue;
      const parts = split?.[side] ?? [{ ...own, name: joinedName(name, side, changed.lists, original) }];
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
  const known = new WeakMap<Expression, Expression>();
  const write = (expression: Expression): Expression => {
    const before = known.get(expression);
    if (before !== undefined) return before;
    const made = writeNode(expression);
    known.set(expression, made);
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
