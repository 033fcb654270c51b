// What every store must do for a reader of its records: the reader gets the chain, in order, and can make a
// log of it.

import { describe, expect, onTestFinished, test } from 'vitest';
import { openRecords } from '../../../src/service/store/open.ts';
import type { Place } from './contract.ts';
import { agentRow, keyRow, pendingRow, requestRow, startMs } from './rows.ts';

const limits = { openMax: 100 };

export function describeRecords(name: string, createPlace: () => Promise<Place>): void {
  describe(`the records of ${name}, read alone`, () => {
    test('are requests, what became of them and step-ups, by their numbers, as soon as they are written', async () => {
      const place = await createPlace();
      onTestFinished(() => place.remove());
      const store = await place.open();
      onTestFinished(() => store.close());
      const reader = await openRecords(store.records);
      onTestFinished(() => reader.close());
      expect(await reader.extent()).toEqual({ prunedTo: null, lastSequence: 0 });

      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const first = requestRow({ agentId: agent.id });
      const waits = pendingRow({ agentId: agent.id, expiresAtMs: startMs + 50 });
      for (const row of [first, waits]) await store.requests.append(row, limits);
      const change = { atMs: startMs + 5, who: 'ann', subject: agent.id, before: null, after: null };
      for (const what of ['stepped-up', 'other']) await store.documents.write([], { ...change, what });
      await store.requests.expireDue(startMs + 60, 10);
      const read = await reader.records(0, 100);
      const sequences = read.map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
      expect(read).toMatchObject([
        { kind: 'request', id: first.id, action: first.actionKey, recordJson: first.recordJson },
        { kind: 'request', id: waits.id, createdAtMs: waits.createdAtMs, expiresAtMs: startMs + 50 },
        { kind: 'step-up', agentId: agent.id, atMs: startMs + 5 },
        { kind: 'event', requestId: waits.id, what: 'expired' },
      ]);
      const { lastSequence } = await reader.extent();
      expect(lastSequence).toBe(sequences.at(-1));
      const parts = await Promise.all(
        Array.from({ length: lastSequence }, (_, after) => reader.records(after, 1)),
      );
      expect(parts.flat()).toEqual(read);
      const before = await reader.numberBefore(startMs + 60 * 60_000);
      expect(before).toBeGreaterThanOrEqual(0);
      expect(before).toBeLessThanOrEqual(lastSequence);
      expect(await reader.numberBefore(0)).toBeLessThanOrEqual(0);
    });
  });
}
