// Records as the chain holds them into the entries of a log that a policy set is tried on. INVARIANT: a record that cannot
// be understood is a mistake with its name; none is passed over.

import { outcomes } from '../../language/model/decision.ts';
import type { LogEntry, LoggedEvent, LoggedEvents, LoggedRequest } from '../../reasoning/replay/log.ts';
import { factsOfRecord, holdsDigests, type RecordedRequest } from '../playground/recorded.ts';
import type { RequestRecord } from '../requests/record/record.ts';
import type { DecidedDetail, Vote } from '../requests/record/request-state.ts';
import type { ChainEntry } from '../store/contract/chain.ts';

/** What `factsOfRecord` and a log need of a record's text. */
type RecordText = Omit<RecordedRequest, 'actionKey' | 'createdAtMs'> & Pick<RequestRecord, 'decision'>;

interface RecordColumns {
  readonly id: string;
  readonly action: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** One event of a request, with its detail as it is stored. */
interface EventRead {
  readonly requestId: string;
  readonly atMs: number;
  readonly what: string;
  readonly expiresAtMs: number;
  readonly detail: unknown;
}

/** Throws an error with one sentence in lower case. */
export function requestOf(
  { id, action, createdAtMs, expiresAtMs }: RecordColumns,
  record: unknown,
  mayHoldDigests = true,
): LoggedRequest {
  if (!isRecordText(record)) throw new Error('the record lacks what deciding it again needs');
  if (!Number.isSafeInteger(createdAtMs)) throw new Error('the record has no time');
  const facts = factsOfRecord({ ...record, actionKey: action, createdAtMs });
  return {
    kind: 'request',
    id,
    facts,
    holdsDigests: mayHoldDigests && holdsDigests(facts.payload),
    decision: record.decision,
    expiresAtMs,
  };
}

/** As JSON within a record's text; looked for first, since most records hold none. */
const digestBegins = '"hmac-sha256:';

function isRecordText(value: unknown): value is RecordText {
  if (!isObject(value)) return false;
  const { payload, agent, request, meters, satisfied, decision } = value;
  return (
    [payload, agent, request, meters].every(isObject) &&
    isObject(satisfied) &&
    Array.isArray(satisfied.escalate) &&
    Array.isArray(satisfied.reauth) &&
    isObject(decision) &&
    outcomes.some((outcome) => outcome === decision.outcome) &&
    Array.isArray(decision.rules)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null for what replay does not follow. Throws an error with one sentence in lower case. */
export function loggedEvent({ what, expiresAtMs, detail }: EventRead): LoggedEvent | null {
  // Written by `eventOf` and `voteEvent`.
  switch (what) {
    case 'approved': {
      const { person, email, group } = detail as Vote;
      return { kind: 'approved', person: { id: person, email }, group };
    }
    case 'rejected':
      return { kind: 'rejected', group: (detail as Vote).group };
    case 'decided': {
      const { decision, meters } = detail as DecidedDetail;
      return { kind: 'decided', decision, meters: readingsOf(meters), expiresAtMs };
    }
    case 'stepped-up':
    case 'expired':
    case 'consumed':
    case 'released':
      return { kind: what };
    default:
      return null;
  }
}

function readingsOf(meters: DecidedDetail['meters']): LoggedRequest['facts']['meters'] {
  return factsOfRecord({ meters } as RecordedRequest).meters;
}

/** Reads the chain in its order. A class because events of one step are one entry, which ends with the next record. */
export class ChainReader {
  #open: { readonly requestId: string; readonly atMs: number; readonly events: LoggedEvent[] } | null = null;

  /** What is known to be whole by now. Throws an error with one sentence in lower case; the next record can be read then. */
  read(entry: ChainEntry): readonly LogEntry[] {
    const event = entry.kind === 'event' ? columnsOf(entry) : null;
    if (event !== null && this.#open?.requestId === event.requestId && this.#open.atMs === event.atMs) {
      this.#add(event);
      return [];
    }
    const ended = this.end();
    if (event !== null) {
      this.#open = { requestId: event.requestId, atMs: event.atMs, events: [] };
      this.#add(event);
      return ended;
    }
    const own = entryOf(entry);
    return own === null ? ended : [...ended, own];
  }

  /** What is still open. */
  end(): readonly LoggedEvents[] {
    const open = this.#open;
    this.#open = null;
    return open === null || open.events.length === 0 ? [] : [{ kind: 'events', ...open }];
  }

  #add(event: EventRead): void {
    const read = loggedEvent(event);
    if (read !== null) this.#open?.events.push(read);
  }
}

function columnsOf(entry: ChainEntry): EventRead {
  const { request_id, at_ms, what, expires_ms, detail_json } = entry;
  return {
    requestId: String(request_id),
    atMs: Number(at_ms),
    what: String(what),
    expiresAtMs: Number(expires_ms),
    detail: typeof detail_json === 'string' ? JSON.parse(detail_json) : null,
  };
}

function entryOf(entry: ChainEntry): LogEntry | null {
  if (entry.kind === 'change' && entry.what === 'stepped-up')
    return { kind: 'step-up', agentId: String(entry.subject), atMs: Number(entry.at_ms) };
  return requestEntry(entry);
}

/** Null where it is another record. Throws an error with one sentence in lower case. */
export function requestEntry(entry: ChainEntry): LoggedRequest | null {
  if (entry.kind !== 'request') return null;
  const { id, action_key, created_ms, expires_ms, record_json } = entry;
  const columns = {
    id: String(id),
    action: String(action_key),
    createdAtMs: Number(created_ms),
    expiresAtMs: Number(expires_ms),
  };
  const text = String(record_json);
  return requestOf(columns, JSON.parse(text), text.includes(digestBegins));
}
