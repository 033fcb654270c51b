// How the OCSF events of a batch stand in a body, for receivers that take an array, lines, or the envelopes of Splunk.

import { expect, test } from 'vitest';
import { startMs } from '../store/rows.ts';
import { startHttpReceiver } from './receivers.ts';
import { fill, startStream } from './stream.ts';

type Event = { readonly metadata: { readonly sequence: number } };

async function sent(body: 'array' | 'lines' | 'splunk') {
  const receiver = await startHttpReceiver();
  const { store, run } = await startStream({ url: receiver.url, body, isCompressed: false });
  await fill(store, 2);
  await run();
  const [batch] = receiver.batches;
  if (batch === undefined) throw new Error('nothing was sent');
  expect(batch.headers['content-encoding']).toBeUndefined();
  return { text: batch.body, type: batch.headers['content-type'] };
}

const sequences = (events: readonly Event[]) => events.map(({ metadata }) => metadata.sequence);
const linesOf = (text: string): readonly unknown[] => {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
};

test('an array', async () => {
  const { text, type } = await sent('array');
  expect([type, sequences(JSON.parse(text) as Event[])]).toEqual(['application/json', [1, 2]]);
});

test('lines', async () => {
  const { text, type } = await sent('lines');
  expect([type, sequences(linesOf(text) as Event[])]).toEqual(['application/x-ndjson', [1, 2]]);
});

test('envelopes of the HTTP Event Collector', async () => {
  const { text, type } = await sent('splunk');
  const envelopes = linesOf(text) as { readonly time: number; readonly event: Event }[];
  expect(type).toBe('application/json');
  expect(envelopes[0]).toMatchObject({ time: startMs / 1_000, source: 'writ', sourcetype: '_json' });
  expect(sequences(envelopes.map(({ event }) => event))).toEqual([1, 2]);
});
