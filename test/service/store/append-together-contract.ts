// What every store must do with requests that are stored together: all of them, with their documents and the record
// of the change, or nothing.

import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { DocumentPut } from '../../../src/service/store/contract/documents.ts';
import type { GrantPrecondition } from '../../../src/service/store/contract/grant-precondition.ts';
import type { RequestBatch, Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';
import { agentRow, keyRow, pendingRow, startMs } from './rows.ts';

const change = {
  atMs: startMs,
  who: 'agent x',
  what: 'plan-made',
  subject: 'plan-1',
  before: null,
  after: { n: 1 },
};
const series = { definition: 'd', key: 'k' };
const entry = { ...series, isCertain: true, value: '1' };

function planDocument(more: Partial<DocumentPut> = {}): DocumentPut {
  const rest = { name: null, parent: null, createdAtMs: startMs, endsAtMs: null, json: '{"a":1}' };
  return { kind: 'plan', id: 'plan-1', seen: 0, ...rest, ...more };
}

export function describeAppendTogether(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: requests that are stored together`, () => {
    async function setUp() {
      const place = await createPlace();
      const [store, other] = [await place.open(), await place.open()];
      onTestFinished(async () => {
        await store.close();
        await other.close();
        await place.remove();
      });
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      await store.meters.note(['d'], startMs);
      const rows = Array.from({ length: 12 }, () => pendingRow({ agentId: agent.id, outcome: 'ESCALATE' }));
      const batch: RequestBatch = {
        agentId: agent.id,
        requests: rows.map((row) => ({ row, entries: [entry] })),
        limits: { openMax: 20 },
        documents: [planDocument()],
        change,
      };
      const precondition: GrantPrecondition = {
        agentId: agent.id,
        agentVersion: 1,
        keyNotAfterMs: null,
        switchGeneration: 0,
        documents: [],
      };
      return { store, other, agent, rows, batch, precondition };
    }

    /** Everything that a batch could leave behind. */
    async function tracesOf(store: Store, batch: RequestBatch) {
      const { requests } = batch;
      const found = await Promise.all(requests.map(({ row }) => store.requests.find(row.id)));
      const entered = await Promise.all(requests.map(({ row }) => store.meters.enteredBy(row.id)));
      return {
        requests: found.filter((one) => one !== null).length,
        entries: entered.flat().length,
        document: (await store.documents.find('plan', 'plan-1'))?.json ?? null,
        changes: (await store.chain.changes({ countMax: 50, beforeSequence: null })).filter(
          ({ what }) => what === 'plan-made',
        ).length,
      };
    }
    const nothing = { requests: 0, entries: 0, document: null, changes: 0 };

    test('come back as they went in, and the chain holds', async () => {
      const { store, other, agent, rows, batch, precondition } = await setUp();
      expect(await store.requests.appendTogether({ ...batch, limits: { openMax: 12, precondition } })).toBe(
        'stored',
      );
      for (const row of rows) {
        expect(await other.requests.find(row.id)).toEqual(row);
        expect(await other.meters.enteredBy(row.id)).toEqual([
          { ...entry, requestId: row.id, grantedAtMs: null },
        ]);
      }
      expect(await store.requests.countOpen(agent.id, startMs)).toBe(12);
      expect(await tracesOf(store, batch)).toEqual({
        requests: 12,
        entries: 12,
        document: '{"a":1}',
        changes: 1,
      });
      expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
      const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: startMs + 9 } as const;
      const events = [{ atMs: startMs, who: 'ann', what: 'decided', state, detail: null }] as const;
      const changed = { requestId: rows[0]!.id, events, from: ['pending'], seen: 0 } as const;
      expect(await store.requests.change(changed)).toBe('changed');
      expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
    });

    test('a batch of no requests stores its documents and its change', async () => {
      const { store, batch } = await setUp();
      expect(await store.requests.appendTogether({ ...batch, requests: [], limits: { openMax: 0 } })).toBe(
        'stored',
      );
      expect(await tracesOf(store, { ...batch, requests: [] })).toMatchObject({
        document: '{"a":1}',
        changes: 1,
      });
    });

    test('one too many for the agent, and none is stored', async () => {
      const { store, agent, batch } = await setUp();
      await store.requests.append(pendingRow({ agentId: agent.id }), { openMax: 20 });
      expect(await store.requests.appendTogether({ ...batch, limits: { openMax: 12 } })).toBe(
        'too-many-open',
      );
      expect(await tracesOf(store, batch)).toEqual(nothing);
      expect(await store.requests.appendTogether({ ...batch, limits: { openMax: 13 } })).toBe('stored');
    });

    test('what the decisions rest on has changed, here or elsewhere, and none is stored', async () => {
      const { store, other, agent, batch, precondition } = await setUp();
      const limits = { openMax: 20, precondition };
      await other.documents.write([planDocument({ kind: 'switch', id: 's' })], change);
      expect(await store.requests.appendTogether({ ...batch, limits })).toBe('precondition-failed');
      await store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: startMs });
      const later = { ...limits, precondition: { ...precondition, switchGeneration: 1 } };
      expect(await store.requests.appendTogether({ ...batch, limits: later })).toBe('precondition-failed');
      expect(await tracesOf(store, batch)).toMatchObject({ requests: 0, entries: 0, document: null });
    });

    test('the document is there, or its name is taken, and none is stored', async () => {
      const { store, batch } = await setUp();
      await store.documents.write([planDocument({ id: 'plan-0', name: 'key' })], null);
      const documents = [planDocument({ name: 'key' })];
      expect(await store.requests.appendTogether({ ...batch, documents })).toBe('duplicate-key');
      expect(await store.requests.appendTogether({ ...batch, documents: [planDocument({ seen: 3 })] })).toBe(
        'duplicate-key',
      );
      expect(await tracesOf(store, batch)).toEqual(nothing);
    });

    test('the seventh cannot be stored, and none is', async () => {
      const { store, agent, batch, rows } = await setUp();
      const seventh = rows[6]!;
      await store.requests.append(seventh, { openMax: 20 });
      const beside = store.requests.append(pendingRow({ agentId: agent.id }), { openMax: 20 });
      await expect(store.requests.appendTogether(batch)).rejects.toThrow();
      expect(await beside).toBe('stored');
      expect(await tracesOf(store, { ...batch, requests: batch.requests.toSpliced(6, 1) })).toEqual(nothing);
      expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
      const rest = { ...batch, requests: batch.requests.toSpliced(6, 1) };
      expect(await store.requests.appendTogether(rest)).toBe('stored');
      expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
    });

    test('of several at once, as many as fit', async () => {
      const { store, agent, batch } = await setUp();
      const plan = (at: number): RequestBatch => ({
        ...batch,
        documents: [planDocument({ id: `plan-${at}` })],
        requests: Array.from({ length: 5 }, () => ({ row: pendingRow({ agentId: agent.id }), entries: [] })),
      });
      const limits = { openMax: 12 };
      const results = await Promise.all(
        [0, 1, 2, 3].map((at) => store.requests.appendTogether({ ...plan(at), limits })),
      );
      expect(results.toSorted()).toEqual(['stored', 'stored', 'too-many-open', 'too-many-open']);
      expect(await store.requests.countOpen(agent.id, startMs)).toBe(10);
    });
  });
}
