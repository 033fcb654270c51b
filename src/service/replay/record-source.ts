// Where the records of a log come from: a reader in this thread, or one in a thread of its own, which reads and parses what is
// asked for next while this one decides. Both give the same.

import { Worker } from 'node:worker_threads';
import type { RecordReader, RecordsPlace } from '../store/contract/log.ts';
import { StoreError } from '../store/contract/store-error.ts';
import { type ParsedRecord, RecordParser } from './parse-record.ts';
import type { FromReading, ToReading } from './reading-worker.ts';

export interface RecordSource {
  /** How many stretches are worth asking for before the first of them is there. */
  readonly atOnce: number;
  /** By number: those with the `countMax` numbers after `afterSequence`. */
  records(afterSequence: number, countMax: number): Promise<readonly ParsedRecord[]>;
  close(): Promise<void>;
}

/** The reader stays open when it is closed. */
export function sourceHere(reader: RecordReader): RecordSource {
  const parser = new RecordParser();
  return {
    atOnce: 1,
    records: async (after, countMax) =>
      (await reader.records(after, countMax)).map((record) => parser.parse(record)),
    close: async () => undefined,
  };
}

const stretchesAhead = 4;

/** Its thread starts at once; where that ends too soon, what has been asked of it is rejected. */
export function sourceInThread(place: RecordsPlace): RecordSource {
  const thread = new Worker(new URL('./reading-thread.ts', import.meta.url), { workerData: place });
  /** In the order in which they are answered. */
  const asked: PromiseWithResolvers<readonly ParsedRecord[]>[] = [];
  let ended: Error | null = null;
  const end = (error: Error): void => {
    ended ??= error;
    for (const one of asked.splice(0)) one.reject(ended);
  };
  thread.on('message', (message: FromReading) => {
    if (message.kind === 'records') asked.shift()?.resolve(message.records);
    else end(message.code === null ? new Error(message.text) : new StoreError(message.code, message.text));
  });
  thread.on('error', end);
  thread.on('exit', () => end(new Error('the thread that reads the records has ended')));
  return {
    atOnce: stretchesAhead,
    records: async (after, countMax) => {
      if (ended !== null) throw ended;
      const answer = Promise.withResolvers<readonly ParsedRecord[]>();
      asked.push(answer);
      thread.postMessage({ after, countMax } satisfies ToReading);
      return await answer.promise;
    },
    close: async () => void (await thread.terminate()),
  };
}
