// Which declarations that rules read say something else on the two sides, themselves or by what they read.

import { isSameMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { List, PolicySet } from '../../language/model/policy.ts';

/** Names; of lets their ids. A declaration that only one side has is among them. */
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
  /** Of a let its id. */
  readonly name: string;
}

export function changedDeclarations(before: PolicySet, after: PolicySet): ChangedDeclarations {
  const changed: Record<ReadKind, Set<string>> = {
    lists: differing(before.lists, after.lists, areListsAlike),
    tables: differing(before.tables, after.tables),
    hours: differing(before.hours, after.hours),
    lets: differing(before.lets, after.lets),
    meters: differing(before.meters, after.meters),
  };
  // What reads something that changed has changed, too; lets may read lets.
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    for (const [kind, name, expressions] of readers(before)) {
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

/** Their entries one by one, up to the first that is another. */
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

/** What is kept from one compilation to the next is the same object. */
export function isAlike(before: object | undefined, after: object | undefined): boolean {
  if (before === after) return true;
  if (before === undefined || after === undefined) return false;
  return isSameMeaning(before, after);
}

function* readers(set: PolicySet): Generator<readonly [ReadKind, string, readonly Expression[]]> {
  for (const { id, expression } of set.lets.values()) yield ['lets', id, [expression]];
  for (const { name, argument, when } of set.meters.values())
    yield ['meters', name, [argument, when].filter((one) => one !== null)];
}

export function readsChanged(expression: Expression, changed: ChangedDeclarations): boolean {
  if (Object.values(changed).every(({ size }) => size === 0)) return false;
  return declarationsIn(expression).some(({ kind, name }) => changed[kind].has(name));
}

/** What the expression itself names, each once. */
export function declarationsIn(expression: Expression): readonly ReadDeclaration[] {
  const found = new Map<string, ReadDeclaration>();
  for (const part of descendants(expression)) {
    const one = declarationOf(part);
    if (one !== null) found.set(`${one.kind} ${one.name}`, one);
  }
  return [...found.values()];
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
