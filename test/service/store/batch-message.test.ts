// The message that takes a batch to the writer's thread.

import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type BatchMessage,
  createBatchMemory,
  createBatchPacker,
  createBatchReader,
} from '../../../src/service/store/sqlite/batch-message.ts';
import type { Write } from '../../../src/service/store/sqlite/writes.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('a', '\u0000', 'é', '\u2028', '😀', '\ud800', '\ufffd'), maxLength: 30 }),
);
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const entry = fc.record({ definition: text, key: text, isCertain: fc.boolean(), value: orNull(text) });
const precondition = fc.record({
  agentId: fc.constantFrom('a1', 'a2'),
  agentVersion: fc.nat(),
  keyNotAfterMs: orNull(fc.nat()),
  switchGeneration: fc.nat(),
  documents: fc.array(fc.record({ kind: text, id: text, version: fc.nat() }), { maxLength: 1 }),
});
const append = fc.record({
  kind: fc.constant('append-request' as const),
  row: fc.record({
    id: fc.uuid(),
    agentId: fc.oneof(fc.uuid(), fc.constant('a1')),
    actionKey: text,
    outcome: fc.constantFrom('ALLOW', 'DENY'),
    status: fc.constantFrom('pending' as const, 'rejected' as const),
    createdAtMs: fc.nat(),
    decidedAtMs: orNull(fc.nat()),
    expiresAtMs: fc.maxSafeInteger(),
    idempotency: orNull(fc.record({ key: text, bodyDigest: fc.uuid(), keptUntilMs: fc.nat() })),
    recordJson: text,
  }),
  openMax: fc.nat(),
  precondition: orNull(precondition),
  entries: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(entry, { maxLength: 2 })),
});
const other = fc.record({ kind: fc.constant('note-whole-meter' as const), definition: text });
const batch = fc.array(fc.oneof({ weight: 4, arbitrary: append }, other), { maxLength: 12 });

function sent(message: BatchMessage): BatchMessage {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(message);
  const received: { message: BatchMessage } | undefined = receiveMessageOnPort(port2);
  port1.close();
  if (received === undefined) throw new Error('the message has been sent');
  return received.message;
}

test('law: a decoded message equals the encoded one, whatever was sent before', () => {
  const memory = createBatchMemory();
  const [pack, readBatch] = [createBatchPacker(memory), createBatchReader(memory)];
  fc.assert(
    fc.property(batch, (each) => {
      // In this test the entries of a meter may have any form.
      const writes = each as readonly Write[];
      expect(readBatch(sent(pack(writes)))).toEqual(writes);
    }),
    { numRuns: 500 },
  );
});

test.each(['x', '\u2028', '😀'])('more than finds room: of %j', (unit) => {
  const memory = createBatchMemory();
  const [pack, readBatch] = [createBatchPacker(memory), createBatchReader(memory)];
  const [first] = fc.sample(append, { numRuns: 1, seed: 1 });
  const of = (units: number): readonly Write[] =>
    [0, 1, 2].map(() => ({
      kind: 'append-request',
      openMax: 1,
      precondition: null,
      entries: [],
      row: { ...first!.row, recordJson: unit.repeat(units) },
    }));
  for (const units of [10, 200_000, 262_000, 700_000, 10])
    expect(readBatch(sent(pack(of(units))))).toEqual(of(units));
});
