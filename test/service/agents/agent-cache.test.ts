// The agent cache on a real store: a cached agent equals what the store would return.

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AgentCache, createAgentCache } from '../../../src/service/agents/agent-cache.ts';
import { cachedMsMax } from '../../../src/service/agents/key-cache.ts';
import { createApiKey } from '../../../src/service/agents/keys.ts';
import { addAgent, authenticate, rotateKey } from '../../../src/service/agents/registry.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { startMs, temporaryFolder } from '../store/rows.ts';

async function open(path: string): Promise<Store> {
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  return store;
}

async function start() {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await open(path);
  return { path, ...(await register(store, 'buyer')) };
}

async function register(store: Store, name: string) {
  const added = await addAgent(store, { name, riskTier: 'low', controlOwner: 'ops', tags: [] }, startMs);
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  return { store, agent: added.agent, apiKey: added.apiKey, cache: createAgentCache(store) };
}

const at = (steadyMs: number, nowMs = startMs) => ({ steadyMs, nowMs });

/** Looks in the cache first, then in the store, as the service does. */
async function kindOf(cache: AgentCache, text: string, moment: ReturnType<typeof at>): Promise<string> {
  return cache.cached(text, moment) === null ? (await cache.authenticate(text, moment)).kind : 'ok';
}

test('an authenticated agent is cached for a moment, and its use is recorded', async () => {
  const { store, agent, apiKey, cache } = await start();
  expect(cache.cached(apiKey, at(0))).toBeNull();
  await cache.authenticate(apiKey, at(0));
  const noteUse = vi.spyOn(store.agents, 'noteUse');
  expect(cache.cached(apiKey, at(cachedMsMax - 1))).toMatchObject({ agent, key: { agentId: agent.id } });
  expect(noteUse).toHaveBeenCalledOnce();
  expect(cache.cached(apiKey, at(cachedMsMax))).toBeNull();
});

test('a key with the same id and another secret is not the cached one', async () => {
  const { apiKey, cache } = await start();
  await cache.authenticate(apiKey, at(0));
  const other = createApiKey().text;
  expect(cache.cached(apiKey.slice(0, 13) + other.slice(13), at(0))).toBeNull();
  expect(cache.cached(apiKey.slice(0, -1), at(0))).toBeNull();
  expect(cache.cached(`${apiKey}0`, at(0))).toBeNull();
  expect(cache.cached('', at(0))).toBeNull();
  expect(cache.cached(apiKey, at(0))).not.toBeNull();
});

test.each(['disabled', 'revoked'] as const)('%s here: refused from the next request on', async (status) => {
  const { store, agent, apiKey, cache } = await start();
  await cache.authenticate(apiKey, at(0));
  await store.agents.setStatus({ agentId: agent.id, status, atMs: startMs });
  expect(await kindOf(cache, apiKey, at(0))).toBe(status);
});

test('a result found during a change is not cached beyond the change', async () => {
  const { store, agent, apiKey, cache } = await start();
  const change = store.agents.setStatus({ agentId: agent.id, status: 'revoked', atMs: startMs });
  // The writer has not stored the change yet, so the store still returns the old state.
  await cache.authenticate(apiKey, at(0));
  await change;
  expect(await kindOf(cache, apiKey, at(0))).toBe('revoked');
});

test('revoked by another process: refused within the documented time', async () => {
  const { path, agent, apiKey, cache } = await start();
  expect(cachedMsMax).toBeLessThanOrEqual(1_000);
  await cache.authenticate(apiKey, at(0));
  const other = await open(path);
  await other.agents.setStatus({ agentId: agent.id, status: 'revoked', atMs: startMs });
  expect(await kindOf(cache, apiKey, at(cachedMsMax))).toBe('revoked');
});

test('a key is refused when it expires, cached or not', async () => {
  const { store, agent, apiKey, cache } = await start();
  await rotateKey(store, { agentId: agent.id, graceMs: 100, nowMs: startMs });
  await cache.authenticate(apiKey, at(0));
  expect(await kindOf(cache, apiKey, at(1, startMs + 99))).toBe('ok');
  expect(await kindOf(cache, apiKey, at(1, startMs + 100))).toBe('expired');
});

test('law: with changes made here, cache and store agree at every step', async () => {
  const step = fc.constantFrom('ask', 'ask', 'later', 'disable', 'enable', 'rotate');
  const { store } = await start();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { agent, apiKey, cache } = await register(store, `buyer-${runs++}`);
      const keys = [apiKey];
      let nowMs = startMs;
      for (const each of steps) {
        nowMs += each === 'later' ? cachedMsMax : 7;
        if (each === 'disable')
          await store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: nowMs });
        if (each === 'enable')
          await store.agents.setStatus({ agentId: agent.id, status: 'active', atMs: nowMs });
        if (each === 'rotate') {
          const rotated = await rotateKey(store, { agentId: agent.id, graceMs: 300, nowMs });
          if (rotated.kind === 'rotated') keys.push(rotated.apiKey);
        }
        for (const key of keys) {
          expect(await kindOf(cache, key, at(nowMs, nowMs))).toBe(
            (await authenticate(store, key, nowMs)).kind,
          );
        }
      }
    }),
    { numRuns: 15 },
  );
}, 60_000);
