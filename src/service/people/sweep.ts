// Deletes what has ended: sessions, tokens, invitations, reset links, notices, claims, assignments, snoozes,
// alerts that are long over, answered questions of passkeys, rows that were removed, drafts of policies that nobody
// has saved for long, proposals, plans, standing approvals, marks of kill switches, and messages that were delivered or given up.
// Ended documents count as ended before they are deleted; the sweep only keeps the store small.

import type { DocumentStore } from '../store/contract/documents.ts';

export interface Sweep {
  /** Stops further sweeps and waits for the one under way. */
  close(): Promise<void>;
}

export interface SweepOptions {
  readonly documents: Pick<DocumentStore, 'removeEnded'>;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly everyMs?: number;
  /** Called with the error when something could not be deleted; the next sweep tries again. */
  readonly onFailure: (error: unknown) => void;
}

const sweptKinds = [
  'session',
  'token',
  'invitation',
  'reset-link',
  'sign-on',
  'notice',
  'claim',
  'assignment',
  'snooze',
  'delivery',
  'alert',
  'answered-question',
  'table-row',
  'policy-draft',
  'policy-proposal',
  'policy-proposal-content',
  'delegation',
  'agent-identity',
  'plan',
  'stop-mark',
  'chat-link-draft',
  'chat-delivery',
  'chat-message',
  'standing-approval',
] as const;
const everyMsDefault = 60_000;
/** Bounds how long one deletion holds the lock that other writes wait for. */
const removedAtOnce = 200;

/** Deletes everything that ended before `atMs`; returns how many documents were deleted. */
export async function sweep(documents: SweepOptions['documents'], atMs: number): Promise<number> {
  let total = 0;
  for (const kind of sweptKinds) {
    for (let count = removedAtOnce; count === removedAtOnce; total += count) {
      count = await documents.removeEnded(kind, Math.trunc(atMs), removedAtOnce);
    }
  }
  return total;
}

export function startSweep({ documents, clock, everyMs, onFailure }: SweepOptions): Sweep {
  let timer: NodeJS.Timeout | null = null;
  let underWay: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const schedule = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      underWay = sweep(documents, clock()).catch(onFailure).then(schedule);
    }, everyMs ?? everyMsDefault);
    timer.unref();
  };
  schedule();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer ?? undefined);
      await underWay;
    },
  };
}
