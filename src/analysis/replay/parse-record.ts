// Parses the texts inside a store's records into plain data that a thread can send. A record that cannot be
// parsed becomes an `unread` entry with a message.

import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import type { LogRecord } from '../../service/store/contract/log.ts';
import { faultText } from './log-source.ts';
import { RecordTexts } from './record-text.ts';

type LogRequest = Extract<LogRecord, { readonly kind: 'request' }>;
type LogEvent = Extract<LogRecord, { readonly kind: 'event' }>;

export type ParsedRecord =
  | (Omit<LogRequest, 'recordJson'> & {
      readonly record: unknown;
      /** Whether digests may replace secrets in the payload. */
      readonly mayHoldDigests: boolean;
    })
  | (Omit<LogEvent, 'detailJson'> & { readonly detail: unknown })
  | Extract<LogRecord, { readonly kind: 'step-up' }>
  | { readonly kind: 'unread'; readonly sequence: number; readonly message: string };

/**
 * How a digest begins in the JSON of a record. A quick search for it comes first, because most records hold
 * none.
 */
const digestBegins = 'hmac-sha256:';

/** The members of an event's detail that a log reads. Traces are large and not needed. */
const membersRead: Readonly<Record<string, readonly string[]>> = {
  approved: ['person', 'email', 'group'],
  rejected: ['group'],
  'taken-back': ['person'],
  decided: ['decision', 'meters', 'rows'],
};

function membersOf(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in whole ? [[name, whole[name]!]] : [])));
}

/** A class because it remembers parsed parts of texts. */
export class RecordParser {
  readonly #texts = new RecordTexts();

  parse(record: LogRecord): ParsedRecord {
    try {
      return this.#parse(record);
    } catch (error) {
      return { kind: 'unread', sequence: record.sequence, message: faultText(error) };
    }
  }

  #parse(record: LogRecord): ParsedRecord {
    const { kind, sequence } = record;
    if (kind === 'step-up') return record;
    if (kind === 'event') {
      const { requestId, atMs, what, expiresAtMs, detailJson } = record;
      const whole: unknown = detailJson === null ? null : JSON.parse(detailJson);
      const detail = isJsonObject(whole) ? membersOf(whole, membersRead[what] ?? []) : whole;
      return { kind, sequence, requestId, atMs, what, expiresAtMs, detail };
    }
    const { id, action, createdAtMs, expiresAtMs, recordJson } = record;
    const mayHoldDigests = recordJson.includes(digestBegins);
    const read = this.#texts.read(recordJson);
    return { kind, sequence, id, action, createdAtMs, expiresAtMs, record: read, mayHoldDigests };
  }
}
