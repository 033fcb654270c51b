// A snooze takes a request out of one person's inbox until a moment, or until the request changes. INVARIANT:
// the request is back before its deadline, and nothing changes for anybody else.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './change-marks.ts';

export interface Snooze {
  readonly id: string;
  readonly personId: string;
  readonly requestId: string;
  /** How many events the request had; with one more, the snooze is over. */
  readonly seen: number;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

const kind: InboxKind<Snooze> = { kind: 'snooze', parentOf: ({ personId }) => personId };
/** The least that is left of the wait when the request comes back. */
export const snoozeLeavesMs = 10 * 60_000;
/** The most snoozes of one person. */
const snoozesMax = 200;

/** Returns the snoozes of a person that count at a moment, by the id of their request. */
export async function snoozesOf(
  documents: Pick<DocumentStore, 'list'>,
  personId: string,
  nowMs: number,
): Promise<ReadonlyMap<string, Snooze>> {
  const all = await inboxMarksAt(documents, kind, { nowMs, countMax: snoozesMax, parent: personId });
  return new Map(all.map((one) => [one.requestId, one]));
}

/** Snoozes a request. Returns `too-many` when the person has as many snoozes as are allowed. */
export async function snooze(
  documents: DocumentStore,
  draft: Omit<Snooze, 'id'>,
): Promise<'snoozed' | 'too-many'> {
  const { personId, requestId, createdAtMs: nowMs } = draft;
  const others = await snoozesOf(documents, personId, nowMs);
  if (others.size >= snoozesMax && !others.has(requestId)) return 'too-many';
  const id = snoozeId(personId, requestId);
  return await untilChanged(documents, kind, async (all) => {
    const before = await all.find(id);
    return { write: all.put({ id, ...draft }, before?.version ?? 0), result: 'snoozed' };
  });
}

/** Ends a person's snooze of a request; changes nothing when there is none. */
export function unsnooze(documents: DocumentStore, personId: string, requestId: string): Promise<null> {
  return untilChanged(documents, kind, async (all) => {
    const before = await all.find(snoozeId(personId, requestId));
    return { write: before === null ? null : all.remove(before.value, before.version), result: null };
  });
}

function snoozeId(personId: string, requestId: string): string {
  return `${personId} ${requestId}`;
}
