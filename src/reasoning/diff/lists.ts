// Splits a list that lost or gained entries into three: the common entries, those that are gone, and those
// that are new.

import { quoted } from '../../language/model/describe.ts';
import type { List } from '../../language/model/policy.ts';
import { fold } from '../../language/value/text.ts';
import { keyOf } from '../cells/leaf.ts';
import { foldedKeys, plainKeys } from '../cells/text-keys.ts';
import type { BothSides } from './joint-set.ts';

const namedMax = 3;

/**
 * By side, the lists that together hold the side's entries; null if the two lists differ in more than their
 * entries.
 */
export function splitList(before: List, after: List): BothSides<readonly List[]> | null {
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

function part(list: List, what: string, entries: List['entries']): readonly List[] {
  if (entries.length === 0) return [];
  const isShort = entries.length <= namedMax && entries.every((entry) => typeof entry === 'string');
  const shown = isShort
    ? (entries as readonly string[]).map(quoted).join(', ')
    : `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  return [{ ...list, name: `${list.name} (${what}: ${shown})`, entries }];
}
