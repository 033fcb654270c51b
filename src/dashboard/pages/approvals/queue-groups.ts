// Repeats in the inbox: requests of the same agent for the same action with the same payload, which have one digest.

import type { Reply } from '../../../api/operations.ts';

export type QueueItem = Reply<'listApprovals'>['items'][number];

/** A row of the inbox: a request, and the others of its digest if they are folded into it. */
export interface QueueRow {
  readonly item: QueueItem;
  /** All requests of the digest, the first included; a vote on the row is a vote on each. */
  readonly alike: readonly QueueItem[];
  /** `first` stands for the group; `other` is one of an unfolded group; `single` has no repeats. */
  readonly kind: 'single' | 'first' | 'other';
  readonly isUnfolded: boolean;
}

/** The rows in the order of their first requests. A group is folded unless its digest is in `unfolded`. */
export function queueRows(items: readonly QueueItem[], unfolded: ReadonlySet<string>): readonly QueueRow[] {
  const groups = Map.groupBy(items, ({ digest }) => digest);
  return [...groups.values()].flatMap((alike): readonly QueueRow[] => {
    const [item, ...others] = alike;
    if (item === undefined) return [];
    if (others.length === 0) return [{ item, alike, kind: 'single', isUnfolded: false }];
    const isUnfolded = unfolded.has(item.digest);
    const first: QueueRow = { item, alike, kind: 'first', isUnfolded };
    if (!isUnfolded) return [first];
    return [
      first,
      ...others.map((one): QueueRow => ({ item: one, alike: [one], kind: 'other', isUnfolded })),
    ];
  });
}
