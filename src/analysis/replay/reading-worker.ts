// The thread that reads records ahead: it answers requests for records in their order, and ends with the
// first that it cannot answer.

import type { MessagePort } from 'node:worker_threads';
import type { RecordReader } from '../../service/store/contract/log.ts';
import { StoreError, type StoreErrorCode } from '../../service/store/contract/store-error.ts';
import { type ParsedRecord, RecordParser } from './parse-record.ts';

export interface ToReading {
  readonly after: number;
  readonly countMax: number;
}

export type FromReading =
  | { readonly kind: 'records'; readonly records: readonly ParsedRecord[] }
  /** `code` is the code of a StoreError; null for other errors. */
  | { readonly kind: 'failed'; readonly code: StoreErrorCode | null; readonly text: string };

export function serveReading(port: MessagePort, opening: Promise<RecordReader>): void {
  const send = (message: FromReading): void => port.postMessage(message);
  const parser = new RecordParser();
  // If the store cannot be opened, each request for records is answered with the reason.
  opening.catch(() => undefined);
  let before: Promise<unknown> = opening;
  const answer = async ({ after, countMax }: ToReading): Promise<void> => {
    const records = await (await opening).records(after, countMax);
    send({ kind: 'records', records: records.map((record) => parser.parse(record)) });
  };
  port.on('message', (request: ToReading) => {
    before = before
      .then(() => answer(request))
      .catch((error: unknown) => {
        const code = error instanceof StoreError ? error.code : null;
        send({ kind: 'failed', code, text: error instanceof Error ? error.message : String(error) });
        port.close();
      });
  });
}
