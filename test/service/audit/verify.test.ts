// Each way of tampering with the records, and what the verification reports.

import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCheckpointSigner } from '../../../src/service/audit/checkpoint.ts';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import {
  type ChainEntry,
  type ChainRecord,
  chainStart,
  linkHash,
} from '../../../src/service/store/contract/chain.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { requestRow, startMs } from '../store/rows.ts';
import { type ChainedStore, createChainedStore, listRecords } from './chained.ts';

async function signEnd({ store }: ChainedStore) {
  const result = await verifyChain(store);
  if (result.kind === 'broken') throw new Error(result.break.message);
  return createCheckpointSigner(store.masterKey).sign(result.end, 'end', 1_800_000_000_000);
}

test('an unchanged chain is verified', async () => {
  const { store } = await createChainedStore();
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', firstSequence: 1, end: { sequence: 7 } });
  expect(await listRecords(store)).toEqual([
    [1, 'agent-added'],
    [2, 'request'],
    [3, 'request'],
    [4, 'refusal'],
    [5, 'agent-disabled'],
    [6, 'request'],
    [7, 'request'],
  ]);
});

test('an empty chain is verified', async () => {
  const chained = await createChainedStore();
  chained.tamper('DELETE FROM requests', 'DELETE FROM refusals', 'DELETE FROM changes');
  expect(await verifyChain(chained.store)).toMatchObject({ kind: 'whole', end: { sequence: 0 } });
});

describe('what was tampered with is found, and named', () => {
  const request = (sequence: number) => `requests WHERE sequence = ${sequence}`;

  test.each<[string, readonly string[], object]>([
    [
      'a changed byte in a record',
      ["UPDATE requests SET record_json = replace(record_json, 'Staples', 'Stapler') WHERE sequence = 3"],
      { sequence: 3, difference: 'content', name: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ],
    [
      'a white space in a record',
      ["UPDATE requests SET record_json = record_json || ' ' WHERE sequence = 2"],
      { sequence: 2, difference: 'content' },
    ],
    [
      'a changed status',
      ["UPDATE requests SET status = 'approved' WHERE sequence = 6"],
      { sequence: 6, difference: 'content' },
    ],
    [
      'a changed last record',
      ["UPDATE requests SET outcome = 'DENY' WHERE sequence = 7"],
      { sequence: 7, difference: 'record' },
    ],
    [
      'another person in a change',
      ["UPDATE changes SET who = 'nobody' WHERE sequence = 5"],
      { sequence: 5, difference: 'content', name: 'agent-disabled agent-1' },
    ],
    [
      'a changed hash',
      [`UPDATE requests SET hash = '${'0'.repeat(64)}' WHERE sequence = 3`],
      { sequence: 3, difference: 'hash' },
    ],
    ['a deleted request', [`DELETE FROM ${request(3)}`], { sequence: 3, difference: 'missing', name: null }],
    ['a deleted refusal', ['DELETE FROM refusals'], { sequence: 4, difference: 'missing' }],
    [
      'a deleted first record',
      ['DELETE FROM changes WHERE sequence = 1'],
      { sequence: 1, difference: 'missing' },
    ],
    [
      'swapped rows',
      [
        'UPDATE requests SET sequence = 99 WHERE sequence = 2',
        'UPDATE requests SET sequence = 2 WHERE sequence = 3',
        'UPDATE requests SET sequence = 3 WHERE sequence = 99',
      ],
      { sequence: 2, difference: 'record' },
    ],
    [
      'a row moved into a gap that it leaves',
      ['DELETE FROM refusals', 'UPDATE requests SET sequence = 4 WHERE sequence = 6'],
      { sequence: 4, difference: 'record' },
    ],
    ['an inserted row with a number that is taken', [insertion(5)], { sequence: 5, difference: 'inserted' }],
    ['an inserted row before the first', [insertion(0)], { sequence: 0, difference: 'inserted' }],
    ['an inserted row after the last', [insertion(8)], { sequence: 8, difference: 'record' }],
    ['an inserted row far behind the last', [insertion(100_000)], { sequence: 8, difference: 'missing' }],
  ])('%s', async (_, statements, found) => {
    const { store, tamper } = await createChainedStore();
    tamper(...statements);
    expect(await verifyChain(store)).toEqual({
      kind: 'broken',
      break: expect.objectContaining({ message: expect.any(String), ...found }),
    });
  });

  test('is not repaired by later records', async () => {
    const { store, tamper } = await createChainedStore();
    tamper("UPDATE requests SET outcome = 'DENY' WHERE sequence = 7");
    const appended = store.requests.append(requestRow(), { openMax: 20 });
    await expect(appended).rejects.toMatchObject({ code: 'tampered' });
    expect(await verifyChain(store)).toMatchObject({ break: { sequence: 7, difference: 'record' } });
  });

  test('includes an earlier request that grants nothing any more, whatever is appended', async () => {
    const { store, tamper } = await createChainedStore();
    tamper("UPDATE requests SET outcome = 'DENY' WHERE sequence = 2");
    expect(await store.requests.append(requestRow(), { openMax: 20 })).toBe('stored');
    expect(await verifyChain(store)).toMatchObject({ break: { sequence: 2, difference: 'content' } });
  });
});

describe('how a request stands', () => {
  /** Record 7 is pending; records 8 and 9 are its later events. */
  async function createDecided(): Promise<ChainedStore> {
    const chained = await createChainedStore();
    const { requests, chain } = chained.store;
    const requestId = String((await chain.segment(6, 1)).records[0]?.entry.id);
    const common = { who: 'ann', atMs: startMs + 7000, detail: null };
    const state = { decidedAtMs: null, expiresAtMs: startMs + 1_000_000 };
    const events = [
      { ...common, what: 'approved', state: { ...state, status: 'pending' } },
      { ...common, what: 'rejected', state: { ...state, status: 'rejected' } },
    ] as const;
    await requests.change({ requestId, events, from: ['pending'], seen: null });
    return chained;
  }

  test('is the status of its last change', async () => {
    const { store } = await createDecided();
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 9 } });
  });

  test.each<[string, string, object]>([
    [
      'another status',
      "UPDATE requests SET now_status = 'approved' WHERE sequence = 7",
      { sequence: 7, difference: 'state', message: expect.stringMatching(/`approved`.*`rejected`/) },
    ],
    [
      'no status',
      'UPDATE requests SET now_status = NULL, now_decided_ms = NULL, now_expires_ms = NULL WHERE sequence = 7',
      { sequence: 7, difference: 'state', message: expect.stringMatching(/`pending`.*`rejected`/) },
    ],
    [
      'a status that is none',
      "UPDATE requests SET now_status = 'x' WHERE sequence = 7",
      { sequence: 7, difference: 'state' },
    ],
    [
      'another end',
      'UPDATE requests SET now_expires_ms = now_expires_ms + 1 WHERE sequence = 7',
      { sequence: 7, difference: 'state', message: expect.stringContaining('end time') },
    ],
    [
      'a status where nothing has become of the request',
      "UPDATE requests SET now_status = 'approved', now_expires_ms = expires_ms WHERE sequence = 6",
      { sequence: 6, difference: 'state' },
    ],
    [
      'another status in the change, and in the row with it',
      "UPDATE request_events SET status = 'approved' WHERE sequence = 9",
      { sequence: 9, difference: 'record', name: expect.stringMatching(/^rejected [0-9a-f-]{36}$/) },
    ],
    [
      'a deleted last change',
      'DELETE FROM request_events WHERE sequence = 9',
      { sequence: 7, difference: 'state' },
    ],
    [
      'a deleted earlier change',
      'DELETE FROM request_events WHERE sequence = 8',
      { sequence: 8, difference: 'missing' },
    ],
    [
      'another person in a change',
      "UPDATE request_events SET who = 'bob' WHERE sequence = 8",
      { sequence: 8, difference: 'content' },
    ],
    [
      'a change of another request',
      "UPDATE request_events SET request_id = 'other' WHERE sequence = 9",
      { sequence: 7, difference: 'state' },
    ],
  ])('tampered with, it is found: %s', async (_, statement, found) => {
    const { store, tamper } = await createDecided();
    tamper(statement);
    if (Object(found).sequence === 9)
      tamper("UPDATE requests SET now_status = 'approved' WHERE sequence = 7");
    expect(await verifyChain(store)).toEqual({
      kind: 'broken',
      break: expect.objectContaining({ message: expect.any(String), ...found }),
    });
  });

  test('a rejected request can be pruned with the others', async () => {
    const { store } = await createDecided();
    const nowMs = startMs + 700_000;
    expect(await pruneRecords(store, { beforeMs: nowMs, nowMs })).toMatchObject({ deletedCount: 9 });
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole', firstSequence: 10 });
  });
});

/** A copy of record 2 with another id, at `sequence`. */
function insertion(sequence: number): string {
  return `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, expires_ms, record_json, hash)
    SELECT ${sequence}, 'inserted', agent_id, action_key, outcome, status, created_ms, expires_ms, record_json, hash
    FROM requests WHERE sequence = 2`;
}

describe('checkpoints', () => {
  test('a truncated end is found by one kept elsewhere', async () => {
    const chained = await createChainedStore();
    const kept = await signEnd(chained);
    chained.tamper('DELETE FROM requests WHERE sequence >= 6');
    expect(await verifyChain(chained.store)).toMatchObject({ kind: 'whole', end: { sequence: 5 } });
    const truncated = { break: { sequence: 6, difference: 'truncated' } };
    expect(await verifyChain(chained.store, { checkpoints: [kept] })).toMatchObject(truncated);
  });

  test('a truncated end is found by one in the store', async () => {
    const chained = await createChainedStore();
    await chained.store.chain.addCheckpoint(await signEnd(chained));
    chained.tamper('DELETE FROM requests WHERE sequence >= 6');
    expect(await verifyChain(chained.store)).toMatchObject({
      break: { sequence: 6, difference: 'truncated' },
    });
  });

  test('a truncated end that has grown again is found', async () => {
    const chained = await createChainedStore();
    const kept = await signEnd(chained);
    chained.tamper('DELETE FROM requests WHERE sequence = 7');
    const append = () => chained.store.requests.append(requestRow(), { openMax: 20 });
    await expect(append()).rejects.toMatchObject({ code: 'tampered' });
    // A holder of the key may accept the differences and go on.
    await chained.store.state.accept({ atMs: startMs, differences: [] });
    for (let i = 0; i < 3; i++) await chained.store.requests.append(requestRow(), { openMax: 20 });
    expect(await verifyChain(chained.store, { checkpoints: [kept] })).toMatchObject({
      break: { sequence: 7, difference: 'rewritten' },
    });
  });

  test('a forged one is ignored', async () => {
    const chained = await createChainedStore();
    const genuine = await signEnd(chained);
    const forged = { break: { sequence: 7, difference: 'forged-checkpoint' } };
    for (const change of [{ hash: '0'.repeat(64) }, { atMs: 1 }, { purpose: 'pruned' as const }]) {
      const checkpoints = [{ ...genuine, ...change }];
      expect(await verifyChain(chained.store, { checkpoints })).toMatchObject(forged);
    }
    const stranger = createCheckpointSigner(randomBytes(32)).sign(genuine, 'end', genuine.atMs);
    expect(await verifyChain(chained.store, { checkpoints: [stranger] })).toMatchObject(forged);
  });

  test('a forged one does not hide that the first records were deleted', async () => {
    const chained = await createChainedStore();
    const { signature, atMs } = await signEnd(chained);
    chained.tamper(
      `INSERT INTO checkpoints SELECT sequence, hash, ${atMs}, 'pruned', '${signature}' FROM refusals`,
      'DELETE FROM changes WHERE sequence <= 4',
      'DELETE FROM requests WHERE sequence <= 4',
      'DELETE FROM refusals WHERE sequence <= 4',
    );
    expect(await verifyChain(chained.store)).toMatchObject({
      break: { sequence: 4, difference: 'forged-checkpoint' },
    });
  });

  test('one of the end permits no deletion', async () => {
    const chained = await createChainedStore();
    await chained.store.chain.addCheckpoint(await signEnd(chained));
    chained.tamper(
      "UPDATE checkpoints SET purpose = 'pruned'",
      'DELETE FROM requests',
      'DELETE FROM changes',
    );
    expect(await verifyChain(chained.store)).toMatchObject({ break: { difference: 'forged-checkpoint' } });
  });
});

test('a long chain is verified completely', async () => {
  const { store } = await createChainedStore();
  await Promise.all(Array.from({ length: 1234 }, () => store.requests.append(requestRow(), { openMax: 20 })));
  const seen: number[] = [];
  const result = await verifyChain(store, {
    onSegment: async (records) => {
      seen.push(records.length);
      return 'go on';
    },
  });
  expect(result).toMatchObject({ kind: 'whole', end: { sequence: 1241 } });
  expect(Math.max(...seen)).toBeLessThanOrEqual(500);
});

describe('a walk that goes on where another has stopped', () => {
  const stops = [1, 2, 3, 4, 5, 6, 7];

  async function walkTo(chained: ChainedStore, sequence: number) {
    const records = (await chained.store.chain.segment(0, sequence)).records;
    return { sequence, hash: records.at(-1)?.hash ?? '' };
  }

  test.each(stops)('after record %i has the same result, however few are read at once', async (stop) => {
    const chained = await createChainedStore();
    const whole = await verifyChain(chained.store);
    const after = await walkTo(chained, stop);
    for (const recordsAtOnce of [1, 2, 100]) {
      const rest = await verifyChain(chained.store, { after, recordsAtOnce });
      expect(rest).toMatchObject({ kind: 'whole', end: whole.kind === 'whole' ? whole.end : null });
    }
  });

  test.each(stops)('after record %i finds a fault behind it', async (stop) => {
    for (const wrong of stops.slice(stop).filter((sequence) => [2, 3, 6, 7].includes(sequence))) {
      const chained = await createChainedStore();
      const after = await walkTo(chained, stop);
      chained.tamper(`UPDATE requests SET outcome = 'DENY' WHERE sequence = ${wrong}`);
      const rest = await verifyChain(chained.store, { after });
      expect(rest).toMatchObject({ kind: 'broken', break: { sequence: wrong } });
    }
  });

  test('finds that the records before it were deleted or replaced', async () => {
    const cut = await createChainedStore();
    const end = await walkTo(cut, 7);
    cut.tamper('DELETE FROM requests WHERE sequence = 7');
    expect(await verifyChain(cut.store, { after: end })).toMatchObject({
      kind: 'broken',
      break: { sequence: 7, difference: 'truncated' },
    });
    const other = await createChainedStore();
    const after = { ...(await walkTo(other, 7)), hash: 'f'.repeat(64) };
    expect(await verifyChain(other.store, { after })).toMatchObject({
      kind: 'broken',
      break: { sequence: 7, difference: 'rewritten' },
    });
  });

  test('continues with the remaining records if some were deleted meanwhile', async () => {
    const chained = await createChainedStore();
    const after = await walkTo(chained, 2);
    await pruneRecords(chained.store, { beforeMs: startMs + 100_000_000, nowMs: startMs + 100_000_000 });
    expect(await verifyChain(chained.store, { after })).toMatchObject({ kind: 'whole' });
  });
});

test('a lane that was rewritten whole is found by the knot that names its end', async () => {
  const entry = (outcome: string): ChainEntry => ({
    kind: 'request',
    sequence: 1,
    lane: 1,
    follows: 0,
    outcome,
  });
  const recordOf = (one: ChainEntry, previous = chainStart.hash): ChainRecord => ({
    entry: one,
    hash: linkHash(previous, one),
    later: null,
  });
  const written = recordOf(entry('DENY'));
  const ends = JSON.stringify([[1, 1, written.hash]]);
  const knot = recordOf({ kind: 'knot', sequence: 2, at_ms: 1, ends_json: ends, follows: 0 });
  const verify = (first: ChainRecord) =>
    verifyChain({
      masterKey: randomBytes(32),
      chain: {
        checkpoints: async () => [],
        segment: async () => ({ pruning: null, records: [first, knot], firstSequence: 1, lastSequence: 2 }),
      },
    } as unknown as Store);
  expect(await verify(written)).toMatchObject({ kind: 'whole' });
  expect(await verify(recordOf(entry('ALLOW')))).toMatchObject({
    kind: 'broken',
    break: {
      sequence: 1,
      difference: 'rewritten',
      message: expect.stringContaining('record 2, which lists the last record'),
    },
  });
});
