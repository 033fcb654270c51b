// A request's record and all that became of it into how it stands: the decision that counts, people's words, whether
// the control owner has stepped up. INVARIANT: the record stays as it was made; only what came after it is added.

import type { Decision } from '../model/decision.ts';
import type { Satisfied } from '../model/request.ts';
import type { Trace, TracedRule } from '../model/trace.ts';
import type { CanonicalValue } from '../store/canonical-json.ts';
import type { RequestEvent, RequestState } from '../store/records.ts';
import type { RequestHistory } from '../store/store.ts';
import type { BoundRule } from './binding.ts';
import { type RequestRecord, requestRecord } from './record.ts';

/** A person's approval or rejection. */
export interface Word {
  readonly isApproved: boolean;
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** As the record names the person. */
  readonly who: string;
  /** For which it was given; null for a rejection by who needs no group. */
  readonly group: string | null;
  readonly comment: string;
  readonly atMs: number;
  /** Of the request that was approved. */
  readonly digest: string;
  /** The rules for which it was given; none for a rejection. */
  readonly rules: readonly BoundRule[];
}

export interface Standing extends Pick<RequestState, 'status' | 'decidedAtMs' | 'expiresAtMs'> {
  /** As it was decided first. */
  readonly record: RequestRecord;
  /** The latest. */
  readonly decision: Decision;
  /** An event keeps the rules written out. */
  readonly trace: Trace | readonly TracedRule[];
  readonly policySet: RequestRecord['policySet'];
  /** Requirements of all decisions, the first included: no wait is longer than any of them allows. */
  readonly decisions: readonly Decision[];
  readonly words: readonly Word[];
  /** For this very request. */
  readonly isSteppedUp: boolean;
  /** Null while nobody has said. */
  readonly wasExecuted: boolean | null;
  /** Whether it counts in no meter any more, though it was granted. */
  readonly isReleased: boolean;
  /** How many events there are. */
  readonly seen: number;
}

/** What the policies made of it when they were asked again. */
export interface DecidedDetail {
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  readonly satisfied: Satisfied;
  readonly meters: RequestRecord['meters'];
  readonly policySet: RequestRecord['policySet'];
}

type WordDetail = Omit<Word, 'isApproved' | 'who' | 'atMs'>;

export function freshStanding(record: RequestRecord): Standing {
  const { decision, trace, policySet, status, decidedAtMs, expiresAtMs } = record;
  return {
    ...{ record, decision, trace, policySet, status, decidedAtMs, expiresAtMs },
    ...{ decisions: [decision], words: [], isSteppedUp: false, wasExecuted: null },
    ...{ isReleased: false, seen: 0 },
  };
}

export function standingOf({ row, events }: RequestHistory): Standing {
  const first = freshStanding(requestRecord(row));
  return events.reduce(withEvent, { ...first, ...row });
}

function withEvent(standing: Standing, event: RequestEvent): Standing {
  const base = { ...standing, ...event.state, seen: standing.seen + 1 };
  switch (event.what) {
    case 'approved':
    case 'rejected':
      return { ...base, words: [...standing.words, wordOf(event)] };
    case 'stepped-up':
      return { ...base, isSteppedUp: true };
    case 'decided': {
      const { decision, trace, policySet } = detailOf<DecidedDetail>(event);
      return { ...base, decision, trace, policySet, decisions: [...standing.decisions, decision] };
    }
    case 'consumed':
      return { ...base, wasExecuted: detailOf<ConsumedDetail>(event).executed };
    case 'released':
      return { ...base, isReleased: true };
    case 'expired':
      return base;
  }
}

export interface ConsumedDetail {
  readonly executed: boolean;
}

function wordOf(event: RequestEvent): Word {
  const { what, who, atMs } = event;
  return { ...detailOf<WordDetail>(event), isApproved: what === 'approved', who, atMs };
}

/** Of an event of this part's own making. */
function detailOf<T>({ detail }: RequestEvent): T {
  return detail as T;
}

type Change = Omit<RequestEvent, 'requestId'>;

/** Something that becomes of a request, as a record; `detail` is plain data. */
export function eventOf(
  what: RequestEvent['what'],
  event: Omit<Change, 'what' | 'detail'>,
  detail: object,
): Change {
  // What JSON leaves out is left out here, so that the canonical text can be made.
  return { ...event, what, detail: JSON.parse(JSON.stringify(detail)) as CanonicalValue };
}

export function wordEvent({ isApproved, who, atMs, ...detail }: Word, state: RequestState): Change {
  return eventOf(isApproved ? 'approved' : 'rejected', { who, atMs, state }, detail satisfies WordDetail);
}

export function stateOf({ status, decidedAtMs, expiresAtMs }: Standing): RequestState {
  return { status, decidedAtMs, expiresAtMs };
}
