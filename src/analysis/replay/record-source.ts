// Supplies the records of a log from a reader in this thread, or from a thread of its own, which reads and
// parses ahead while this thread decides. Both supply the same records.

import { Worker } from 'node:worker_threads';
import type { RecordReader, RecordsLocation } from '../../service/store/contract/log.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import { type ParsedRecord, RecordParser } from './parse-record.ts';
import type { FromReading, ToReading } from './reading-worker.ts';

export interface RecordSource {
  /** How many stretches are worth asking for before the first of them arrives. */
  readonly atOnce: number;
  /** The records whose numbers are among the `countMax` numbers after `afterSequence`. */
  records(afterSequence: number, countMax: number): Promise<readonly ParsedRecord[]>;
  close(): Promise<void>;
}

/** Closing the source leaves the reader open. */
export function sourceHere(reader: RecordReader): RecordSource {
  const parser = new RecordParser();
  return {
    atOnce: 1,
    records: async (after, countMax) =>
      (await reader.records(after, countMax)).map((record) => parser.parse(record)),
    close: async () => undefined,
  };
}

const batchesAhead = 4;

/** Starts its thread at once. If the thread ends too soon, waiting and later requests are rejected. */
export function sourceInThread(location: RecordsLocation): RecordSource {
  const thread = new Worker(new URL('./reading-thread.ts', import.meta.url), { workerData: location });
  /** Requests that wait for an answer, in the order in which they are answered. */
  const pending: PromiseWithResolvers<readonly ParsedRecord[]>[] = [];
  let ended: Error | null = null;
  const end = (error: Error): void => {
    ended ??= error;
    for (const one of pending.splice(0)) one.reject(ended);
  };
  thread.on('message', (message: FromReading) => {
    if (message.kind === 'records') pending.shift()?.resolve(message.records);
    else end(message.code === null ? new Error(message.text) : new StoreError(message.code, message.text));
  });
  thread.on('error', end);
  thread.on('exit', () => end(new Error('the record reader thread has ended')));
  return {
    atOnce: batchesAhead,
    records: async (after, countMax) => {
      if (ended !== null) throw ended;
      const answer = Promise.withResolvers<readonly ParsedRecord[]>();
      pending.push(answer);
      thread.postMessage({ after, countMax } satisfies ToReading);
      return await answer.promise;
    },
    close: async () => void (await thread.terminate()),
  };
}
