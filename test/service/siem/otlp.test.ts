// A receiver of OTLP/HTTP, written from the specification (opentelemetry-proto: logs/v1 and the JSON encoding), takes what
// the stream sends; one that rejects some of a batch stops the stream at the record that it does not take.

import { expect, test } from 'vitest';
import { type HttpReply, startHttpReceiver } from './receivers.ts';
import { fill, fillWithEveryKind, startStream } from './stream.ts';

type Json = Readonly<Record<string, unknown>>;

/** Reads a message strictly: throws for a field that the protocol does not have, or a value of another kind. */
function readLogs(body: string): readonly Json[] {
  const { resourceLogs } = fields(JSON.parse(body), ['resourceLogs']);
  return list(resourceLogs).flatMap((one) => {
    const { resource, scopeLogs } = fields(one, ['resource', 'scopeLogs']);
    readAttributes(fields(resource, ['attributes']).attributes);
    return list(scopeLogs).flatMap((inner) => {
      const { scope, logRecords } = fields(inner, ['scope', 'logRecords']);
      fields(scope, ['name', 'version']);
      return list(logRecords).map(readRecord);
    });
  });
}

function readRecord(value: unknown): Json {
  const record = fields(value, [
    ...['timeUnixNano', 'observedTimeUnixNano', 'severityNumber', 'severityText', 'eventName', 'body'],
    'attributes',
  ]);
  for (const time of [record.timeUnixNano, record.observedTimeUnixNano])
    if (!/^[1-9]\d{18}$/.test(String(time)) || typeof time !== 'string') throw new Error(`no time: ${time}`);
  const severity = Number(record.severityNumber);
  if (!Number.isInteger(record.severityNumber) || severity < 1 || severity > 24) throw new Error('severity');
  readAny(record.body);
  return readAttributes(record.attributes);
}

function readAttributes(value: unknown): Json {
  const pairs = list(value).map((one) => {
    const { key, value: any } = fields(one, ['key', 'value']);
    if (typeof key !== 'string' || key === '') throw new Error('no key');
    return [key, readAny(any)] as const;
  });
  const attributes = Object.fromEntries(pairs);
  if (Object.keys(attributes).length !== pairs.length) throw new Error('a key occurs twice');
  return attributes;
}

function readAny(value: unknown): unknown {
  const [entry, ...others] = Object.entries(fields(value, null));
  if (others.length > 0) throw new Error('more than one value');
  if (entry === undefined) return null;
  const [kind, inner] = entry;
  switch (kind) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      if (typeof inner !== kind.replace('Value', '').replace('bool', 'boolean').replace('double', 'number'))
        throw new Error(`no ${kind}`);
      return inner;
    case 'intValue':
      if (typeof inner !== 'string' || !/^-?\d+$/.test(inner)) throw new Error('a 64-bit number is text');
      return Number(inner);
    case 'arrayValue':
      return list(fields(inner, ['values']).values).map(readAny);
    case 'kvlistValue':
      return readAttributes(fields(inner, ['values']).values);
    default:
      throw new Error(`no value: ${kind}`);
  }
}

function fields(value: unknown, names: readonly string[] | null): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no message');
  const unknown = names === null ? [] : Object.keys(value).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no fields of the protocol: ${unknown}`);
  return value as Json;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('no list');
  return value;
}

const rejects = (count: number): HttpReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ partialSuccess: { rejectedLogRecords: String(count), errorMessage: 'too old' } }),
});

test('log records of every kind are of the protocol', async () => {
  const receiver = await startHttpReceiver();
  const { store, run, cursor } = await startStream({ url: receiver.url, format: 'otlp' });
  await fillWithEveryKind(store);
  await run();
  expect(receiver.batches[0]?.headers['content-type']).toBe('application/json');
  const records = receiver.batches.flatMap(({ body }) => readLogs(body));
  expect(records.map((record) => record['writ.sequence'])).toEqual(
    Array.from({ length: 12 }, (_, at) => at + 1),
  );
  expect(records[0]).toMatchObject({ 'writ.decision': 'ALLOW', 'writ.payload.amount': 25 });
  expect(await cursor()).toMatchObject({ sequence: 12 });
});

test('the reader of the receiver refuses what is not of the protocol', () => {
  for (const wrong of [
    '[]',
    '{"resource_logs":[]}',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":1}]}]}]}',
  ])
    expect(() => readLogs(wrong)).toThrow();
});

test('a record that the receiver rejects in part of a batch is found, and the stream stops there', async () => {
  const receiver = await startHttpReceiver();
  const { store, run, cursor } = await startStream({ url: receiver.url, format: 'otlp' });
  await fill(store, 9);
  const taken: unknown[] = [];
  receiver.reply = ({ body }) => {
    const sequences = readLogs(body).map((record) => record['writ.sequence']);
    if (sequences.includes(6)) return rejects(1);
    taken.push(...sequences);
    return { status: 200, text: '{}' };
  };
  expect(await run()).toBe(60_000);
  expect(taken).toEqual([1, 2, 3, 4, 5]);
  expect(await cursor()).toMatchObject({
    sequence: 5,
    refused: { sequence: 6, reason: 'the receiver rejected 1 log records: too old' },
  });
});

test('a warning of the receiver does not stop the stream', async () => {
  const receiver = await startHttpReceiver();
  const { store, run, cursor } = await startStream({ url: receiver.url, format: 'otlp' });
  await fill(store, 2);
  receiver.reply = () => rejects(0);
  await run();
  expect(await cursor()).toMatchObject({ sequence: 2, refused: null });
});
