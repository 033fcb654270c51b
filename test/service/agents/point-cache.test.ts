// The cache of enforcement points and their agents, on a real store: a cached entry equals what the store
// would return.

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createDocumentUses, lastUseOf } from '../../../src/service/agents/document-uses.ts';
import { cachedMsMax } from '../../../src/service/agents/key-cache.ts';
import { createApiKey } from '../../../src/service/agents/keys.ts';
import * as changes from '../../../src/service/agents/points/change-point.ts';
import {
  authenticatePoint,
  type PointAuthentication,
  pointKeyUses,
  type SentByPoint,
} from '../../../src/service/agents/points/point.ts';
import { createPointCache, type PointCache } from '../../../src/service/agents/points/point-cache.ts';
import { addAgent } from '../../../src/service/agents/registry.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { startMs, temporaryFolder } from '../store/rows.ts';

const at = (steadyMs: number, nowMs = startMs) => ({ steadyMs, nowMs });
const by = ({ documents }: Store, nowMs = startMs) => ({ documents, who: 'olga', nowMs });

async function start() {
  const path = join(temporaryFolder(), 'writ.db');
  const open = async () => {
    const store = await openStore({ path });
    onTestFinished(() => store.close());
    return store;
  };
  const store = await open();
  const agents = [];
  for (const name of ['buyer', 'null']) {
    const draft = { name, riskTier: 'low', controlOwner: 'ops', tags: [] };
    const added = await addAgent(store, draft, startMs);
    if (added.kind !== 'added') throw new Error(added.kind);
    agents.push(added.agent);
  }
  return { open, store, agents, ids: agents.map(({ id }) => id), ...(await register(store, agents)) };
}

async function register(store: Store, agents: readonly { readonly id: string }[], name = 'proxy') {
  const made = await changes.addPoint(by(store), {
    name,
    agents: agents.map(({ id }) => id),
    mayRelease: false,
  });
  if (made.kind !== 'made') throw new Error(made.kind);
  const cache = createPointCache(store);
  const sent: SentByPoint = { keyText: made.apiKey, agentName: 'buyer' };
  return { point: made.point, sent, cache };
}

/** Looks in the cache first, then in the store, as the service does. */
async function found(cache: PointCache, sent: SentByPoint, now: ReturnType<typeof at>) {
  const known = cache.cached(sent, now);
  return known === null ? await cache.authenticate(sent, now) : ({ kind: 'ok', ...known } as const);
}

test('the agent of a point is cached for a moment, by name and by id, as the same object', async () => {
  const { cache, sent, ids } = await start();
  expect(cache.cached(sent, at(0))).toBeNull();
  const first = await cache.authenticate(sent, at(0));
  if (first.kind !== 'ok') throw new Error(first.kind);
  const byName = cache.cached(sent, at(cachedMsMax - 1));
  expect(byName?.agent).toBe(first.agent);
  expect(byName?.point).toBe(first.point);
  expect(cache.cached({ ...sent, agentName: ids[0] ?? '' }, at(0))).toBe(byName);
  expect(cache.isCurrent(sent.keyText, first, at(0))).toBe(true);
  expect(cache.cached(sent, at(cachedMsMax))).toBeNull();
  const again = await cache.authenticate(sent, at(cachedMsMax));
  expect(again).toMatchObject({ kind: 'ok' });
  expect('agent' in again && again.agent).toBe(first.agent);
});

test('another agent, no agent, and another secret are not the cached ones', async () => {
  const { cache, sent } = await start();
  for (const agentName of ['buyer', 'null']) await cache.authenticate({ ...sent, agentName }, at(0));
  const other = createApiKey('writpep_').text;
  expect(cache.cached({ ...sent, agentName: null }, at(0))).toBeNull();
  expect(cache.cached({ ...sent, agentName: 'nobody' }, at(0))).toBeNull();
  expect(cache.cached({ ...sent, keyText: sent.keyText.slice(0, 16) + other.slice(16) }, at(0))).toBeNull();
  expect(cache.cached({ ...sent, keyText: `${sent.keyText}0` }, at(0))).toBeNull();
  expect(cache.cached({ ...sent, agentName: 'null' }, at(0))?.agent.name).toBe('null');
});

test('a result found during a change is not cached beyond the change', async () => {
  const { cache, sent, store, point } = await start();
  const change = changes.setPointStatus(by(store), point.id, 'disabled');
  await cache.authenticate(sent, at(0));
  await change;
  expect((await found(cache, sent, at(0))).kind).toBe('point-disabled');
});

test('revoked by another process: refused within the documented time', async () => {
  const { cache, sent, open, point } = await start();
  await cache.authenticate(sent, at(0));
  await changes.setPointStatus(by(await open()), point.id, 'revoked');
  expect((await found(cache, sent, at(cachedMsMax))).kind).toBe('point-revoked');
});

test('law: with changes made here, cache and store agree at every step', async () => {
  const step = fc.constantFrom('ask', 'later', 'disable', 'enable', 'unassign', 'assign', 'rotate', 'agent');
  const { store, ids } = await start();
  let runs = 0;
  const asks = [...ids, 'buyer', 'null', null];
  const act = async (each: string, pointId: string, nowMs: number): Promise<string | null> => {
    const who = by(store, nowMs);
    if (each === 'disable') await changes.setPointStatus(who, pointId, 'disabled');
    if (each === 'enable') await changes.setPointStatus(who, pointId, 'active');
    if (each === 'unassign') await changes.describePoint(who, pointId, { agents: ids.slice(1) });
    if (each === 'assign') await changes.describePoint(who, pointId, { agents: ids });
    if (each === 'agent')
      await store.agents.setStatus({
        agentId: ids[0] ?? '',
        status: nowMs % 2 === 0 ? 'active' : 'disabled',
        atMs: nowMs,
      });
    const rotated = each === 'rotate' ? await changes.rotatePointKey(who, pointId, 30) : null;
    return rotated?.kind === 'made' ? rotated.apiKey : null;
  };
  const plain = ({ kind, ...rest }: PointAuthentication) =>
    'agent' in rest ? { kind, agent: rest.agent, point: rest.point, keyId: rest.key.id } : { kind };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const agents = ids.map((id) => ({ id }));
      const { cache, sent, point } = await register(store, agents, `proxy-${runs++}`);
      const keys = [sent.keyText];
      let nowMs = startMs;
      for (const each of steps) {
        nowMs += each === 'later' ? cachedMsMax : 7;
        const made = await act(each, point.id, nowMs);
        if (made !== null) keys.push(made);
        for (const keyText of keys)
          for (const agentName of asks) {
            const asked = { keyText, agentName };
            const told = plain(await found(cache, asked, at(nowMs, nowMs)));
            expect(told).toEqual(plain(await authenticatePoint(store, asked, nowMs)));
          }
      }
    }),
    { numRuns: 12 },
  );
}, 60_000);

test('the use of a key is kept to the minute, changes nothing that a grant depends on, and is deleted with the key', async () => {
  const { store, point, sent } = await start();
  const used = await authenticatePoint(store, sent, startMs);
  if (used.kind !== 'ok') throw new Error(used.kind);
  const [keyId = ''] = (await changes.keysOf(store.documents, point.id)).map(({ id }) => id);
  const uses = createDocumentUses(store.documents, pointKeyUses);
  const minute = startMs - (startMs % 60_000);
  expect(await lastUseOf(store.documents, pointKeyUses, keyId)).toBeNull();
  for (const [noted, kept] of [
    [startMs, minute],
    [startMs + 120_000, minute + 120_000],
    [startMs, minute + 120_000],
  ] as const) {
    uses.note(used.key, noted);
    await uses.flush();
    expect(await lastUseOf(store.documents, pointKeyUses, keyId)).toBe(kept);
  }
  expect(await authenticatePoint(store, sent, startMs)).toEqual(used);
  for (const nowMs of [startMs, startMs + 1])
    expect((await changes.rotatePointKey(by(store, nowMs), point.id, 0)).kind).toBe('made');
  expect(await lastUseOf(store.documents, pointKeyUses, keyId)).toBeNull();
});

test('a key is refused from the moment at which it expires', async () => {
  const { store, point, sent } = await start();
  await changes.rotatePointKey(by(store), point.id, 1_000);
  const kinds = [999, 1_000].map((ms) => authenticatePoint(store, sent, startMs + ms));
  expect((await Promise.all(kinds)).map(({ kind }) => kind)).toEqual(['ok', 'expired']);
});
