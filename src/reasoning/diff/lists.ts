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
  const [old, now] = [keysOf(before), keysOf(after)];
  const removed = before.entries.filter((entry) => !now.has(keyIn(before, entry)));
  const added = after.entries.filter((entry) => !old.has(keyIn(after, entry)));
  // A side that has no more than both have is what they have in common: what is known of its entries is known already.
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

function part(list: List, what: string, entries: List['entries']): readonly List[] {
  if (entries.length === 0) return [];
  const isShort = entries.length <= namedMax && entries.every((entry) => typeof entry === 'string');
  const shown = isShort
    ? (entries as readonly string[]).map(quoted).join(', ')
    : `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  return [{ ...list, name: `${list.name} (${what}: ${shown})`, entries }];
}
