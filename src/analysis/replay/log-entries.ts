// Turns records of the chain into the entries of a log that a policy set is tried on. INVARIANT: a record
// that cannot be understood is an error with its name; none is passed over.

import { outcomes } from '../../language/model/decision.ts';
import { isJsonObject } from '../../language/model/json.ts';
import type { Facts, MeterReading } from '../../language/model/request.ts';
import { type Decimal, parseDecimal, zero } from '../../language/value/decimal.ts';
import { groupsOfVote } from '../../service/requests/record/group-progress.ts';
import type { RequestRecord } from '../../service/requests/record/record.ts';
import type { DecidedDetail, Vote } from '../../service/requests/record/request-state.ts';
import type { LogRecord } from '../../service/store/contract/log.ts';
import { holdsDigests, type RecordedRequest, rowsOfRecord } from '../records/recorded-request.ts';
import type { LogEntry, LoggedEvent, LoggedEvents, LoggedRequest } from './engine/log.ts';
import { type ParsedRecord, RecordParser } from './parse-record.ts';

/** The parts of a record's text that `factsOfRecord` and a log need. */
type RecordText = Omit<RecordedRequest, 'actionKey' | 'createdAtMs'> &
  Pick<RequestRecord, 'decision'> & {
    readonly policySet?: RequestRecord['policySet'];
  };

interface RecordColumns {
  readonly id: string;
  readonly action: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** One event of a request, with its detail as it is stored. */
interface EventRead {
  readonly what: string;
  readonly expiresAtMs: number;
  readonly detail: unknown;
}

/** Throws an error whose message is one sentence in lower case. */
export function requestOf(
  { id, action, createdAtMs, expiresAtMs }: RecordColumns,
  record: unknown,
  mayHoldDigests = true,
): LoggedRequest {
  if (!isRecordText(record)) throw new Error('the record lacks facts that are needed to decide it again');
  if (!Number.isSafeInteger(createdAtMs)) throw new Error('the record has no time');
  const { payload, agent, request, satisfied } = record;
  const facts = {
    action,
    payload,
    agent,
    request,
    nowMs: createdAtMs,
    meters: readingsOf(record.meters),
    satisfied,
    ...rowsOfRecord(record),
  };
  return {
    kind: 'request',
    id,
    facts,
    holdsDigests: mayHoldDigests && holdsDigests(payload),
    ...(record.chain && { chain: record.chain }),
    decision: record.decision,
    expiresAtMs,
    policies: record.policySet?.digest ?? null,
  };
}

function isRecordText(value: unknown): value is RecordText {
  if (!isJsonObject(value)) return false;
  const { payload, agent, request, meters, satisfied, decision } = value;
  return (
    [payload, agent, request, meters].every(isJsonObject) &&
    isJsonObject(satisfied) &&
    Array.isArray(satisfied.escalate) &&
    Array.isArray(satisfied.reauth) &&
    isJsonObject(decision) &&
    outcomes.some((outcome) => outcome === decision.outcome) &&
    Array.isArray(decision.rules)
  );
}

/**
 * Returns null for an event that replay does not follow. Throws an error whose message is one sentence in
 * lower case.
 */
export function loggedEvent({ what, expiresAtMs, detail }: EventRead): LoggedEvent | null {
  // `eventOf` and `voteEvent` write the details, so their types are known.
  switch (what) {
    case 'approved': {
      const vote = detail as Vote;
      const person = { id: vote.person, email: vote.email };
      return { kind: 'approved', person, groups: groupsOfVote(vote) };
    }
    case 'rejected':
      return { kind: 'rejected', group: (detail as Vote).group };
    case 'taken-back':
      return { kind: 'taken-back', person: (detail as Vote).person };
    case 'decided': {
      const { decision, meters, rows } = detail as DecidedDetail;
      const outcome = { kind: 'decided', decision, meters: readingsOf(meters), expiresAtMs } as const;
      return { ...outcome, ...rowsOfRecord({ rows }) };
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

function readingsOf(meters: DecidedDetail['meters']): Facts['meters'] {
  const readings: Record<string, MeterReading> = {};
  for (const name of Object.keys(meters)) {
    const reading = meters[name]!;
    if (!('unknown' in reading)) readings[name] = new WrittenReading(reading);
  }
  return readings;
}

/**
 * A class because its decimals are parsed only on demand: a replay that computes its own readings rarely
 * needs them.
 */
class WrittenReading implements MeterReading {
  readonly #text: { readonly low: string; readonly high: string };

  constructor(text: { readonly low: string; readonly high: string }) {
    this.#text = text;
  }

  get low(): Decimal {
    return parseDecimal(this.#text.low) ?? zero;
  }

  get high(): Decimal {
    return parseDecimal(this.#text.high) ?? zero;
  }
}

/**
 * Reads records in their order. A class because the events of one step become one entry, which ends with the
 * next record.
 */
export class LogReader {
  #open: { readonly requestId: string; readonly atMs: number; readonly events: LoggedEvent[] } | null = null;

  /**
   * Returns the entries that are complete by now. Throws an error whose message is one sentence in lower
   * case; the next record can still be read.
   */
  read(record: ParsedRecord): readonly LogEntry[] {
    if (record.kind === 'unread') throw new Error(record.message);
    if (record.kind !== 'event') {
      const request = record.kind === 'request' ? requestOfParsed(record) : record;
      return this.#open === null ? [request] : [...this.end(), request];
    }
    const event = loggedEvent(record);
    const { requestId, atMs } = record;
    const isSame = this.#open?.requestId === requestId && this.#open.atMs === atMs;
    const ended = isSame ? [] : this.end();
    this.#open ??= { requestId, atMs, events: [] };
    if (event !== null) this.#open.events.push(event);
    return ended;
  }

  /** Returns the entry that is still open, if any. */
  end(): readonly LoggedEvents[] {
    const open = this.#open;
    this.#open = null;
    return open === null || open.events.length === 0 ? [] : [{ kind: 'events', ...open }];
  }
}

/** Throws an error whose message is one sentence in lower case. */
export function requestOfRecord(record: LogRecord & { readonly kind: 'request' }): LoggedRequest {
  const parsed = new RecordParser().parse(record);
  if (parsed.kind !== 'request') throw new Error(parsed.kind === 'unread' ? parsed.message : parsed.kind);
  return requestOfParsed(parsed);
}

function requestOfParsed(parsed: ParsedRecord & { readonly kind: 'request' }): LoggedRequest {
  return requestOf(parsed, parsed.record, parsed.mayHoldDigests);
}

/** When the record was made, in milliseconds since 1970. */
export function momentOfRecord(record: LogRecord): number {
  return record.kind === 'request' ? record.createdAtMs : record.atMs;
}
