// The routes of the transparency log on a running service: the checkpoint and its key for everybody, proofs for people
// who see the records, and that a third party verifies them with the key alone.

import { expect, test, vi } from 'vitest';
import { canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import {
  type ReadCheckpoint,
  readCheckpointNote,
} from '../../../src/service/transparency-log/checkpoint-note.ts';
import { isConsistent, isIncluded, leafHash } from '../../../src/service/transparency-log/merkle-tree.ts';
import type { InclusionProof } from '../../../src/service/transparency-log/prove.ts';
import { checkSignature, readVerifierKey } from '../../../src/service/transparency-log/signed-note.ts';
import { firstAdmin, signedIn } from './person-client.ts';
import { authorize, type Service, startService } from './service.ts';

const logTiming = { beginAfterMs: 10, everyMs: 50 };

/** Waits until a checkpoint of at least this size is published. */
async function checkpointOf({ url }: Service, sizeMin: number): Promise<ReadCheckpoint> {
  return await vi.waitFor(
    async () => {
      const checkpoint = readCheckpointNote(await (await fetch(`${url}/v1/log/checkpoint`)).text());
      if (checkpoint === null || checkpoint.size < sizeMin) throw new Error('it is not published yet');
      return checkpoint;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const bytes = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'base64'));

test('a third party verifies a denial with the key of the log alone', async () => {
  const service = await startService({ logTiming });
  const admin = await signedIn(service, (await firstAdmin(service)).email);
  const reply = await authorize(service, { body: '{"action_key":"demo.deny","payload":{}}' });
  const { request_id: id } = (await reply.json()) as { request_id: string };
  await checkpointOf(service, 1);
  const keys = (await (await fetch(`${service.url}/v1/log/key`)).json()) as {
    log: string;
    verifier_key: string;
  };
  expect(keys.log).toBe('localhost/writ');
  const proofs = await vi.waitFor(
    async () => {
      const answer = await admin.send(`/v1/log/proof?request=${id}`);
      if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
      return answer;
    },
    { timeout: 20_000, interval: 100 },
  );
  const [proof] = (proofs.body as { items: readonly InclusionProof[] }).items;
  const checkpoint = readCheckpointNote(proof!.checkpoint)!;
  expect(checkSignature(checkpoint.note, readVerifierKey(keys.verifier_key)!)).toBe('signed');
  expect(proof!.entry).toMatchObject({ kind: 'request', id, outcome: 'DENY' });
  const claim = {
    leaf: leafHash(canonicalJson(proof!.entry)),
    index: proof!.leaf_index,
    size: checkpoint.size,
    root: checkpoint.root,
  };
  expect(isIncluded(claim, bytes(proof!.inclusion))).toBe(true);

  const earlier = checkpoint;
  await authorize(service, { body: '{"action_key":"demo.deny","payload":{}}' });
  await checkpointOf(service, earlier.size + 1);
  const { body } = await admin.send(`/v1/log/consistency?old=${earlier.size}`);
  const consistency = body as { consistency: readonly string[]; checkpoint: string };
  const later = readCheckpointNote(consistency.checkpoint)!;
  expect(isConsistent(earlier, later, bytes(consistency.consistency))).toBe(true);
});

test('what is not there, not yet there, or wrong is refused', async () => {
  const service = await startService({ logTiming: { beginAfterMs: 600_000 } });
  const admin = await signedIn(service, (await firstAdmin(service)).email);
  const status = async (path: string) => (await admin.send(path)).status;
  expect((await fetch(`${service.url}/v1/log/checkpoint`)).status).toBe(404);
  expect(await status('/v1/log/proof?sequence=1')).toBe(404);
  for (const query of ['', '?request=1&sequence=1', '?sequence=x', '?old=1'])
    expect(await status(`/v1/log/proof${query}`)).toBe(400);
  expect(await status('/v1/log/consistency')).toBe(400);
  expect(await status('/v1/log/proof?request=0195a3f0-0000-7000-8000-000000000000')).toBe(404);
  expect((await fetch(`${service.url}/v1/log/proof?sequence=1`)).status).toBe(401);
});
