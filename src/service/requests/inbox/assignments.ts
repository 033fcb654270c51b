// Assignments say which of the people who are asked is to look after a request that waits. INVARIANT: an assignment is for
// people to read: nothing is decided by it, nobody is kept from deciding, and no record is made of it.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './until-changed.ts';

export interface RequestAssignment {
  /** Of the request. */
  readonly id: string;
  /** The id of the person who is to look after it. */
  readonly toId: string;
  readonly toName: string;
  /** The name of the person who has said so. */
  readonly byName: string;
  readonly createdAtMs: number;
  /** When the request waits no more. */
  readonly endsAtMs: number;
}

const kind: InboxKind<RequestAssignment> = { kind: 'assignment', parentOf: ({ toId }) => toId };
/** Assignments that are shown, the latest first: more than wait at a time where people keep up. */
const assignmentsMax = 1_000;

/** The assignments that count at a moment, by the id of their request. */
export async function assignmentsAt(
  documents: Pick<DocumentStore, 'list'>,
  nowMs: number,
): Promise<ReadonlyMap<string, RequestAssignment>> {
  const all = await inboxMarksAt(documents, kind, { nowMs, countMax: assignmentsMax });
  return new Map(all.map((one) => [one.id, one]));
}

/** The assignment of a request; null where nobody is to look after it. */
export async function assignmentOf(
  documents: Pick<DocumentStore, 'find'>,
  requestId: string,
): Promise<RequestAssignment | null> {
  const row = await documents.find(kind.kind, requestId);
  return row === null ? null : (JSON.parse(row.json) as RequestAssignment);
}

/** In place of whoever was to look after it before. */
export function assign(documents: DocumentStore, assignment: RequestAssignment): Promise<null> {
  return untilChanged(documents, kind, async (all) => {
    const before = await all.find(assignment.id);
    return { write: all.put(assignment, before?.version ?? 0), result: null };
  });
}

/** Where nobody is to look after it, nothing changes. */
export function unassign(documents: DocumentStore, requestId: string): Promise<null> {
  return untilChanged(documents, kind, async (all) => {
    const before = await all.find(requestId);
    return { write: before === null ? null : all.remove(before.value, before.version), result: null };
  });
}
