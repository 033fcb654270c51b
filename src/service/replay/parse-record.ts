// Records of a store with the texts in them parsed: plain data, which a thread can send. What could not be parsed says so in
// its place.

import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import type { LogRecord } from '../store/contract/log.ts';
import { faultText } from './log-source.ts';
import { RecordTexts } from './record-text.ts';

type LogRequest = Extract<LogRecord, { readonly kind: 'request' }>;
type LogEvent = Extract<LogRecord, { readonly kind: 'event' }>;

export type ParsedRecord =
  | (Omit<LogRequest, 'recordJson'> & {
      readonly record: unknown;
      /** Whether digests may stand for secrets. */
      readonly mayHoldDigests: boolean;
    })
  | (Omit<LogEvent, 'detailJson'> & { readonly detail: unknown })
  | Extract<LogRecord, { readonly kind: 'step-up' }>
  | { readonly kind: 'unread'; readonly sequence: number; readonly message: string };

/** How a digest begins in the JSON of a record; looked for first, since most records hold none. */
const digestBegins = 'hmac-sha256:';

/** What a log reads of the detail of an event: traces are large, and no part of it. */
const membersRead: Readonly<Record<string, readonly string[]>> = {
  approved: ['person', 'email', 'group'],
  rejected: ['group'],
  'taken-back': ['person'],
  decided: ['decision', 'meters', 'rows'],
};

function membersOf(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in whole ? [[name, whole[name]!]] : [])));
}

/** A class because it remembers parts of the texts that it has read. */
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
