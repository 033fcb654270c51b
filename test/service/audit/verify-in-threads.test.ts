// Several threads find the same as one walk: everything whole, or the same first record that is not.

import { describe, expect, onTestFinished, test } from 'vitest';
import { createCheckpointSigner } from '../../../src/service/audit/checkpoint.ts';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { verifyInThreads } from '../../../src/service/audit/verify-in-threads.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { startMs } from '../store/rows.ts';
import { createChainedStore } from './chained.ts';

const small = { threads: 2, recordsOfThread: 2 };

describe('threads find what one walk finds', () => {
  test.each<readonly string[]>([
    [],
    ["UPDATE requests SET outcome = 'DENY' WHERE sequence = 2"],
    ["UPDATE requests SET outcome = 'DENY' WHERE sequence = 6"],
    [`UPDATE refusals SET hash = '${'0'.repeat(64)}'`],
    ["UPDATE requests SET seal = '' WHERE sequence = 3"],
    ["UPDATE requests SET now_status = 'approved' WHERE sequence = 7"],
    ['DELETE FROM requests WHERE sequence = 6'],
    ['DELETE FROM refusals', "UPDATE requests SET outcome = 'DENY' WHERE sequence = 2"],
    ['UPDATE requests SET sequence = 60 WHERE sequence = 6'],
  ])('%s', async (...statements) => {
    const { store, tamper } = await createChainedStore();
    tamper(...statements);
    const expected = await verifyChain(store);
    expect(expected.kind).toBe(statements.length === 0 ? 'whole' : 'broken');
    expect(await verifyInThreads(store, small)).toEqual(expected);
  });

  test('a checkpoint inside a stretch, and one that was forged', async () => {
    const { store, path } = await createChainedStore();
    const { records } = await store.chain.segment(0, 10);
    const signer = createCheckpointSigner(store.masterKey);
    const other = { sequence: 3, hash: records[3]!.hash };
    const checkpoints = [signer.sign(other, 'end', startMs)];
    const expected = await verifyChain(store, { checkpoints });
    expect(expected).toMatchObject({ kind: 'broken', break: { difference: 'rewritten', sequence: 3 } });
    expect(await verifyInThreads(store, { ...small, checkpoints })).toEqual(expected);
    const foreign = await openStore({ path: `${path}.other` });
    onTestFinished(() => foreign.close());
    const forged = [createCheckpointSigner(foreign.masterKey).sign(other, 'end', startMs)];
    expect(await verifyInThreads(store, { ...small, checkpoints: forged })).toEqual(
      await verifyChain(store, { checkpoints: forged }),
    );
  });

  test('a chain that begins later', async () => {
    const { store } = await createChainedStore();
    await pruneRecords(store, { beforeMs: startMs + 2_500, nowMs: startMs + 9_000_000 });
    const expected = await verifyChain(store);
    expect(expected).toMatchObject({ kind: 'whole', firstSequence: 4 });
    expect(await verifyInThreads(store, small)).toEqual(expected);
  });
});
