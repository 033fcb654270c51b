// A list that lost or gained entries as three: what both have, what is gone, and what is new.

import { quoted } from '../../language/model/describe.ts';
import type { List } from '../../language/model/policy.ts';
import { fold } from '../../language/value/text.ts';
import { keyOf } from '../cells/leaf.ts';
import { foldedKeys, plainKeys } from '../cells/text-keys.ts';
import type { BothSides } from './joint-set.ts';

const namedMax = 3;

/** By side, the lists whose entries together are its own. Null where they differ in more than their entries. */
export function splitList(before: List, after: List): BothSides<readonly List[]> | null {
  if (before.type.kind !== after.type.kind || before.ignoringCase !== after.ignoringCase) return null;
  const changed = stretchThatChanged(before.entries, after.entries);
  const removed = lackedBy(after, { ...before, entries: changed.before });
  const added = lackedBy(before, { ...after, entries: changed.after });
  const shared = commonEntries({ before, after }, { removed, added });
  const lists = shared.length === 0 ? [] : [{ ...after, entries: shared }];
  return {
    before: atLeastOne([...lists, ...part(before, 'gone', removed)], before),
    after: atLeastOne([...lists, ...part(after, 'new', added)], after),
  };
}

type Entries = List['entries'];

/** What lies between the entries that both begin with and those that both end with: mostly a few of very many. */
function stretchThatChanged(before: Entries, after: Entries): BothSides<Entries> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
}

/** Entries that the list has not. */
function lackedBy(list: List, { entries, ...other }: List): Entries {
  if (entries.length === 0) return entries;
  const keys = keysOf(list);
  return entries.filter((entry) => !keys.has(keyIn({ entries, ...other }, entry)));
}

/** A side that has no more than both have is what they have in common: what is known of its entries is known already. */
function commonEntries(
  { before, after }: BothSides<List>,
  { removed, added }: { readonly removed: Entries; readonly added: Entries },
): Entries {
  if (removed.length === 0) return before.entries;
  if (added.length === 0) return after.entries;
  const isNew = keysOf({ ...after, entries: added });
  return after.entries.filter((entry) => !isNew.has(keyIn(after, entry)));
}

function keyIn({ ignoringCase }: List, entry: Entries[number]): string {
  if (typeof entry !== 'string') return keyOf(entry);
  return ignoringCase ? fold(entry) : entry;
}

function keysOf(list: List): ReadonlySet<Entries[number]> {
  const { entries, ignoringCase } = list;
  if (entries.every((entry) => typeof entry === 'string'))
    return ignoringCase ? foldedKeys(entries) : plainKeys(entries);
  return new Set(entries.map((entry) => keyIn(list, entry)));
}

function atLeastOne(lists: readonly List[], { name, ...list }: List): readonly List[] {
  return lists.length > 0 ? lists : [{ ...list, name, entries: [] }];
}

function part(list: List, what: string, entries: Entries): readonly List[] {
  if (entries.length === 0) return [];
  const isShort = entries.length <= namedMax && entries.every((entry) => typeof entry === 'string');
  const shown = isShort
    ? (entries as readonly string[]).map(quoted).join(', ')
    : `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  return [{ ...list, name: `${list.name} (${what}: ${shown})`, entries }];
}
