// LAW: a thread that reads records ahead gives the same as reading in this thread, unreadable records
// included.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { RecordParser } from '../../../src/analysis/replay/parse-record.ts';
import { type RecordSource, sourceHere, sourceInThread } from '../../../src/analysis/replay/record-source.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openRecords } from '../../../src/service/store/open.ts';
import { temporaryFolder } from '../../service/store/rows.ts';
import { makeHistory } from './history.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Requests all records before the first has arrived. */
async function allOf(source: RecordSource, last: number, countMax: number) {
  const asked = Array.from({ length: Math.ceil(last / countMax) }, (_, at) =>
    source.records(at * countMax, countMax),
  );
  const all = (await Promise.all(asked)).flat();
  await source.close();
  return all;
}

/** Adds a record with a truncated text, an event with a truncated detail, and a record that holds rows. */
function spoil(path: string): void {
  const database = new Database(path);
  const run = (statement: string) => {
    if (database.prepare(statement).run().changes === 0) throw new Error(`nothing changed: ${statement}`);
  };
  const first = 'sequence = (SELECT min(sequence) FROM';
  run(`UPDATE requests SET record_json = substr(record_json, 1, 90) WHERE ${first} requests)`);
  run(`UPDATE request_events SET detail_json = '{' WHERE ${first} request_events)`);
  run(`UPDATE requests SET record_json = replace(record_json, ',"decision":', ',"rows":{"t":{}},"decision":')
    WHERE sequence = (SELECT max(sequence) FROM requests)`);
  database.close();
}

test.each([1, 2])('law: records are the same from a thread, history %i', async (seed) => {
  const { path } = await makeHistory(seed, 200);
  spoil(path);
  const reader = await openRecords({ path });
  const { lastSequence } = await reader.extent();
  const parser = new RecordParser();
  const plain = (await reader.records(0, lastSequence)).map((record) => parser.parse(record));
  expect(plain.filter(({ kind }) => kind === 'unread')).toHaveLength(2);
  for (const countMax of [7, lastSequence]) {
    expect(await allOf(sourceHere(reader), lastSequence, countMax)).toEqual(plain);
    expect(await allOf(sourceInThread({ path }), lastSequence, countMax)).toEqual(plain);
  }
  await reader.close();
});

test('what the store says when it cannot be read is said here, to each question', async () => {
  const source = sourceInThread({ path: join(temporaryFolder(), 'none.db') });
  const asked = [source.records(0, 5), source.records(5, 5)];
  const answers = await Promise.allSettled(asked);
  for (const answer of answers) {
    expect(answer).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('opened') },
    });
    expect(answer.status === 'rejected' && answer.reason).toBeInstanceOf(StoreError);
  }
  await expect(source.records(10, 5)).rejects.toThrow(StoreError);
  await source.close();
});

test('a thread that has ended leaves no question without an answer', async () => {
  const { path } = await makeHistory(3, 10);
  const source = sourceInThread({ path });
  const asked = source.records(0, 5);
  const answer = expect(asked).rejects.toThrow('the record reader thread has ended');
  await source.close();
  await answer;
});
