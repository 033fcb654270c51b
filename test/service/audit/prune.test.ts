// Deleting the oldest records: which records go, which stay, and that the rest is still a whole chain.

import { expect, test } from 'vitest';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { requestRow, startMs } from '../store/rows.ts';
import { createChainedStore, listRecords } from './chained.ts';

/** After every grant and deadline of the records, except for the open request's. */
const nowMs = startMs + 700_000;
const afterAllMs = startMs + 2_000_000;

test('older records are deleted, and the chain continues from a checkpoint', async () => {
  const { store } = await createChainedStore();
  const result = await pruneRecords(store, { beforeMs: startMs + 4000, nowMs });
  expect(result).toEqual({ deletedCount: 4, kept: { sequence: 5, because: 'date' }, break: null });
  expect(await listRecords(store)).toEqual([
    [5, 'agent-disabled'],
    [6, 'request'],
    [7, 'request'],
    [8, 'records-pruned'],
  ]);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', firstSequence: 5, end: { sequence: 8 } });
  await store.requests.append(requestRow(), { openMax: 20 });
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 9 } });
});

test('a pending request stays, and all records after it', async () => {
  const { store } = await createChainedStore();
  await store.requests.append(requestRow(), { openMax: 20 });
  expect(await pruneRecords(store, { beforeMs: afterAllMs, nowMs })).toMatchObject({
    deletedCount: 6,
    kept: { sequence: 7, because: 'still-counts' },
  });
  expect(await store.requests.countOpen('agent-1', nowMs)).toBe(1);
});

test('a valid grant stays, and a request whose idempotency key is in use', async () => {
  const { store } = await createChainedStore();
  const early = await pruneRecords(store, { beforeMs: afterAllMs, nowMs: startMs + 1000 });
  expect(early).toMatchObject({ deletedCount: 1, kept: { sequence: 2, because: 'still-counts' } });
  const idempotency = { key: 'k', bodyDigest: 'd', keptUntilMs: afterAllMs + 1 };
  await store.requests.append(requestRow({ idempotency }), { openMax: 20 });
  const late = await pruneRecords(store, { beforeMs: afterAllMs, nowMs: afterAllMs });
  // Record 8 is the record of the first pruning.
  expect(late).toMatchObject({ deletedCount: 7, kept: { sequence: 9, because: 'still-counts' } });
});

test('a request that people have approved stays until its grant ends', async () => {
  const { store } = await createChainedStore();
  const row = requestRow({ status: 'pending', decidedAtMs: null });
  await store.requests.append(row, { openMax: 20 });
  const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: afterAllMs + 1 } as const;
  const events = [{ atMs: startMs, who: 'ann', what: 'decided', state, detail: null }] as const;
  const change = { requestId: row.id, events, from: ['pending'], seen: 0 } as const;
  expect(await store.requests.change(change)).toBe('changed');
  const at = (laterMs: number) => ({ beforeMs: afterAllMs + 2, nowMs: afterAllMs + laterMs });
  expect(await pruneRecords(store, at(0))).toMatchObject({ deletedCount: 7, kept: { sequence: 8 } });
  // With its event, and the record of the first pruning.
  expect((await pruneRecords(store, at(1))).deletedCount).toBeGreaterThanOrEqual(2);
});

test('all records can be deleted, and numbers continue', async () => {
  const { store } = await createChainedStore();
  const result = await pruneRecords(store, { beforeMs: afterAllMs, nowMs: afterAllMs - 1 });
  expect(result).toMatchObject({ deletedCount: 7, kept: null });
  expect(await listRecords(store)).toEqual([[8, 'records-pruned']]);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', firstSequence: 8 });
});

test('with nothing to delete, nothing changes', async () => {
  const { store } = await createChainedStore();
  expect(await pruneRecords(store, { beforeMs: startMs, nowMs })).toMatchObject({ deletedCount: 0 });
  expect(await store.chain.checkpoints()).toEqual([]);
  expect(await listRecords(store)).toHaveLength(7);
});

test('a changed record is named and not deleted', async () => {
  const { store, tamper } = await createChainedStore();
  tamper("UPDATE requests SET outcome = 'DENY' WHERE sequence = 3");
  expect(await pruneRecords(store, { beforeMs: afterAllMs, nowMs: afterAllMs })).toMatchObject({
    deletedCount: 0,
    break: { sequence: 3, difference: 'content' },
  });
  expect(await listRecords(store)).toHaveLength(7);
});

test('a record restored before the beginning is found', async () => {
  const { store, tamper } = await createChainedStore();
  await pruneRecords(store, { beforeMs: startMs + 4000, nowMs });
  tamper('UPDATE requests SET sequence = 2 WHERE sequence = 6');
  expect(await verifyChain(store)).toMatchObject({ break: { sequence: 2, difference: 'inserted' } });
});

test('a deletion in several steps leaves one beginning, and every step is complete', async () => {
  const { store } = await createChainedStore();
  const rows = Array.from({ length: 4500 }, () => requestRow());
  await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 20 })));
  const progress: number[] = [];
  const nowLaterMs = startMs + 1_500_000;
  await pruneRecords(store, {
    beforeMs: nowLaterMs,
    nowMs: nowLaterMs,
    onProgress: (count) => progress.push(count),
  });
  expect(progress.length).toBeGreaterThan(2);
  expect(await store.chain.checkpoints()).toHaveLength(1);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
});
