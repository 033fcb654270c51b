// Assignments name the person, among those who are asked, who is to look after a request that waits.
// INVARIANT: an assignment is only for people to read: it decides nothing, keeps nobody from deciding, and
// leaves no record.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './change-marks.ts';

export interface RequestAssignment {
  /** The id of the request. */
  readonly id: string;
  /** The id of the person who is to look after the request. */
  readonly toId: string;
  readonly toName: string;
  /** The name of the person who made the assignment. */
  readonly byName: string;
  readonly createdAtMs: number;
  /** When the request's wait ends; milliseconds since 1970-01-01T00:00Z. */
  readonly endsAtMs: number;
}

const kind: InboxKind<RequestAssignment> = { kind: 'assignment', parentOf: ({ toId }) => toId };
/** Assignments that are read, the latest first: more than wait at one time if people keep up. */
const assignmentsMax = 1_000;

/** Returns the assignments that count at a moment, by the id of their request. */
export async function assignmentsAt(
  documents: Pick<DocumentStore, 'list'>,
  nowMs: number,
): Promise<ReadonlyMap<string, RequestAssignment>> {
  const all = await inboxMarksAt(documents, kind, { nowMs, countMax: assignmentsMax });
  return new Map(all.map((one) => [one.id, one]));
}

/** Returns the assignment of a request; null when nobody is assigned. */
export async function assignmentOf(
  documents: Pick<DocumentStore, 'find'>,
  requestId: string,
): Promise<RequestAssignment | null> {
  const row = await documents.find(kind.kind, requestId);
  return row === null ? null : (JSON.parse(row.json) as RequestAssignment);
}

/** Assigns a request, in place of an earlier assignment. */
export function assign(documents: DocumentStore, assignment: RequestAssignment): Promise<null> {
  return untilChanged(documents, kind, async (all) => {
    const before = await all.find(assignment.id);
    return { write: all.put(assignment, before?.version ?? 0), result: null };
  });
}

/** Removes the assignment of a request; changes nothing when there is none. */
export function unassign(documents: DocumentStore, requestId: string): Promise<null> {
  return untilChanged(documents, kind, async (all) => {
    const before = await all.find(requestId);
    return { write: before === null ? null : all.remove(before.value, before.version), result: null };
  });
}
