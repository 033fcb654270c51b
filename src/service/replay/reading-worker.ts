// The thread that reads records ahead: it answers each question in its turn, and ends with the first that it cannot answer.

import type { MessagePort } from 'node:worker_threads';
import type { RecordReader } from '../store/contract/log.ts';
import { StoreError, type StoreErrorCode } from '../store/contract/store-error.ts';
import { type ParsedRecord, RecordParser } from './parse-record.ts';

export interface ToReading {
  readonly after: number;
  readonly countMax: number;
}

export type FromReading =
  | { readonly kind: 'records'; readonly records: readonly ParsedRecord[] }
  /** `code` is that of a StoreError. */
  | { readonly kind: 'failed'; readonly code: StoreErrorCode | null; readonly text: string };

export function serveReading(port: MessagePort, opening: Promise<RecordReader>): void {
  const send = (message: FromReading): void => port.postMessage(message);
  const parser = new RecordParser();
  // Why it cannot be opened is told to who asks.
  opening.catch(() => undefined);
  let before: Promise<unknown> = opening;
  const answer = async ({ after, countMax }: ToReading): Promise<void> => {
    const records = await (await opening).records(after, countMax);
    send({ kind: 'records', records: records.map((record) => parser.parse(record)) });
  };
  port.on('message', (asked: ToReading) => {
    before = before
      .then(() => answer(asked))
      .catch((error: unknown) => {
        const code = error instanceof StoreError ? error.code : null;
        send({ kind: 'failed', code, text: error instanceof Error ? error.message : String(error) });
        port.close();
      });
  });
}
