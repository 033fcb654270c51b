// Groups in the inbox: the steps of a plan, and repeats, which are requests of the same agent for the same action with
// the same payload and have one digest.

import type { Reply } from '../../../api/operations.ts';

export type QueueItem = Reply<'listApprovals'>['items'][number];

/** A row of the inbox: a request, and the others of its digest if they are folded into it. */
export interface QueueRow {
  readonly item: QueueItem;
  /** All requests of the plan or digest, the first included; a vote on the row is a vote on each. */
  readonly alike: readonly QueueItem[];
  /**
   * `plan` stands for the steps of a plan, and `first` for repeats; `other` is one of unfolded repeats; `single` has
   * no repeats.
   */
  readonly kind: 'single' | 'first' | 'other' | 'plan';
  readonly isUnfolded: boolean;
}

/** The steps of a plan in the order in which the agent takes them. */
function inOrder(steps: readonly QueueItem[]): readonly QueueItem[] {
  return steps.toSorted((one, other) => (one.plan?.step ?? 0) - (other.plan?.step ?? 0));
}

/**
 * The rows in the order of their first requests. Repeats are folded unless their digest is in `unfolded`; the steps of a
 * plan are one row.
 */
export function queueRows(items: readonly QueueItem[], unfolded: ReadonlySet<string>): readonly QueueRow[] {
  const groups = Map.groupBy(items, ({ plan, digest }) => plan?.id ?? digest);
  return [...groups.values()].flatMap((alike): readonly QueueRow[] => {
    const [item, ...others] = alike;
    if (item === undefined) return [];
    if (item.plan !== null) return [{ item, alike: inOrder(alike), kind: 'plan', isUnfolded: false }];
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
