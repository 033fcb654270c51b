// Registering and identifying agents, on a real store.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createApiKey } from '../../../src/service/agents/keys.ts';
import {
  type AgentDraft,
  addAgent,
  authenticate,
  defaultGraceMs,
  rotateKey,
  setSigning,
} from '../../../src/service/agents/registry.ts';
import { deriveKey, unseal } from '../../../src/service/agents/sealing.ts';
import { sealingPurpose } from '../../../src/service/agents/signature.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { startMs, temporaryFolder } from '../store/rows.ts';

const draft: AgentDraft = { name: 'buyer-1', riskTier: 'low', controlOwner: 'ops@example.com', tags: ['eu'] };

async function openEmpty(path = join(temporaryFolder(), 'writ.db')): Promise<Store> {
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  return store;
}

async function register(store: Store, change: Partial<AgentDraft> = {}) {
  const result = await addAgent(store, { ...draft, ...change }, startMs);
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems));
  return result;
}

test('a registered agent is authenticated by its key', async () => {
  const store = await openEmpty();
  const { agent, apiKey } = await register(store);
  expect(agent).toMatchObject({ ...draft, status: 'active', signing: 'off', createdAtMs: startMs });
  expect(await authenticate(store, apiKey, startMs)).toMatchObject({
    kind: 'ok',
    agent,
    key: { notAfterMs: null },
  });
});

test.each<[string, Partial<AgentDraft>, string]>([
  ['no name', { name: '' }, 'name'],
  ['a blank name', { name: '  ' }, 'name'],
  ['a long name', { name: 'é'.repeat(101) }, 'name'],
  ['a name with space around', { name: ' a' }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a direction mark', { name: 'a\u202eb' }, 'name'],
  ['an unknown tier', { riskTier: 'extreme' }, 'riskTier'],
  ['no owner', { controlOwner: '' }, 'controlOwner'],
  ['an empty tag', { tags: ['a', ''] }, 'tags'],
  ['a long tag', { tags: ['x'.repeat(51)] }, 'tags'],
  ['a repeated tag', { tags: ['a', 'a'] }, 'tags'],
  ['many tags', { tags: Array.from({ length: 51 }, String) }, 'tags'],
])('%s is refused', async (_, change, field) => {
  const store = await openEmpty();
  const result = await addAgent(store, { ...draft, ...change });
  expect(result).toMatchObject({ kind: 'invalid', problems: [{ field }] });
  expect(await store.agents.list()).toEqual([]);
});

test('the longest name is 100 characters, each counted once', async () => {
  const { agent } = await register(await openEmpty(), { name: '🦊'.repeat(100) });
  expect([...agent.name]).toHaveLength(100);
});

test('all problems are reported at once, and a taken name is one', async () => {
  const store = await openEmpty();
  const wrong = { name: '', riskTier: '', controlOwner: '', tags: [''] };
  expect(await addAgent(store, wrong)).toMatchObject({
    problems: [{ field: 'name' }, { field: 'riskTier' }, { field: 'controlOwner' }, { field: 'tags' }],
  });
  await register(store);
  expect(await addAgent(store, { ...draft, name: 'Buyer-1' })).toEqual({
    kind: 'invalid',
    problems: [{ field: 'name', message: 'another agent has this name' }],
  });
});

test('each kind of invalid key has its own refusal', async () => {
  const store = await openEmpty();
  const { apiKey } = await register(store);
  const kindOf = async (header: string | undefined) => (await authenticate(store, header, startMs)).kind;
  expect(await kindOf(undefined)).toBe('missing');
  expect(await kindOf('')).toBe('missing');
  expect(await kindOf(`${apiKey.slice(0, -1)}!`)).toBe('malformed');
  expect(await kindOf(createApiKey().text)).toBe('unknown');
});

test('a mistyped key is refused without a read of the store', async () => {
  const store = await openEmpty();
  const { apiKey } = await register(store);
  const find = vi.spyOn(store.agents, 'findByKeyId');
  const other = apiKey.at(20) === 'x' ? 'y' : 'x';
  const mistyped = [
    ...['nonsense', apiKey.slice(1), `${apiKey}0`, apiKey.toLowerCase().replace('writ_', 'writ-')],
    ...[`${apiKey.slice(0, 20)}${other}${apiKey.slice(21)}`, `${apiKey.slice(0, -6)}000000`],
  ];
  for (const text of mistyped) expect((await authenticate(store, text, startMs)).kind).toBe('malformed');
  expect(find).not.toHaveBeenCalled();
  expect((await authenticate(store, apiKey, startMs)).kind).toBe('ok');
  expect(find).toHaveBeenCalledOnce();
});

test('a valid key with the id of another is unknown', async () => {
  const store = await openEmpty();
  const { agent } = await register(store);
  const forged = createApiKey();
  const [key] = await store.agents.keys(agent.id);
  // The store gets the forged key's id with the digest of the agent's own key, so that the forged key is
  // found.
  await store.agents.rotateKey({ key: { ...key!, id: forged.id }, othersNotAfterMs: startMs + 1 });
  expect((await authenticate(store, forged.text, startMs)).kind).toBe('unknown');
});

test('a disabled or revoked agent is known but refused', async () => {
  const store = await openEmpty();
  const { agent, apiKey } = await register(store);
  for (const status of ['disabled', 'revoked'] as const) {
    await store.agents.setStatus({ agentId: agent.id, status, atMs: startMs });
    expect(await authenticate(store, apiKey, startMs)).toMatchObject({
      kind: status,
      agent: { id: agent.id },
    });
  }
});

test('after a rotation both keys are valid until the old one expires', async () => {
  const store = await openEmpty();
  const { agent, apiKey } = await register(store);
  const rotated = await rotateKey(store, { agentId: agent.id, graceMs: defaultGraceMs, nowMs: startMs });
  if (rotated.kind !== 'rotated') throw new Error(rotated.kind);
  const at = async (key: string, nowMs: number) => await authenticate(store, key, nowMs);
  const endMs = startMs + 24 * 3600 * 1000;
  expect(await at(apiKey, endMs - 1)).toMatchObject({ kind: 'ok', key: { notAfterMs: endMs } });
  expect(await at(apiKey, endMs)).toEqual({ kind: 'expired' });
  expect(await at(rotated.apiKey, endMs)).toMatchObject({ kind: 'ok', key: { notAfterMs: null } });
  const third = await rotateKey(store, { agentId: agent.id, graceMs: 1000, nowMs: startMs + 1 });
  expect(third).toEqual({ kind: 'too-many-keys' });
});

test('a rotation can expire the old key at once', async () => {
  const store = await openEmpty();
  const { agent, apiKey } = await register(store);
  await rotateKey(store, { agentId: agent.id, graceMs: 0, nowMs: startMs });
  expect(await authenticate(store, apiKey, startMs)).toEqual({ kind: 'expired' });
});

test('signing creates a secret that the store keeps sealed for this agent only', async () => {
  const store = await openEmpty();
  const { agent } = await register(store);
  const result = await setSigning(store, { agentId: agent.id, signing: 'required', nowMs: startMs });
  if (result.kind !== 'changed' || result.signingSecret === null) throw new Error('no secret');
  expect(result.signingSecret).toMatch(/^writsec_[0-9A-Za-z]{43}$/);
  const sealed = (await store.agents.find(agent.id))?.sealedSigningSecret ?? '';
  const key = deriveKey(store.masterKey, sealingPurpose);
  expect(unseal(key, agent.id, sealed)).toBe(result.signingSecret);
  expect(unseal(key, 'another', sealed)).toBeNull();

  expect(await setSigning(store, { agentId: agent.id, signing: 'off', nowMs: startMs })).toMatchObject({
    signingSecret: null,
  });
  expect((await store.agents.find(agent.id))?.sealedSigningSecret).toBeNull();
  expect((await setSigning(store, { agentId: 'nobody', signing: 'off', nowMs: 0 })).kind).toBe(
    'unknown-agent',
  );
});

test('a change of the setting keeps the secret, unless a new one is requested', async () => {
  const store = await openEmpty();
  const { agent } = await register(store);
  const set = async (signing: 'off' | 'optional' | 'required', isSecretNew = false) => {
    const result = await setSigning(store, { agentId: agent.id, signing, nowMs: startMs, isSecretNew });
    return result.kind === 'changed' ? result.signingSecret : result.kind;
  };
  const sealed = async () => (await store.agents.find(agent.id))?.sealedSigningSecret;
  const first = await set('optional');
  expect(first).toMatch(/^writsec_/);
  const before = await sealed();
  expect(await set('required')).toBeNull();
  expect(await sealed()).toBe(before);
  const second = await set('required', true);
  expect(second).toMatch(/^writsec_/);
  expect(second).not.toBe(first);
  expect(unseal(deriveKey(store.masterKey, sealingPurpose), agent.id, (await sealed()) ?? '')).toBe(second);
  expect(await set('off')).toBeNull();
  expect(await sealed()).toBeNull();
  expect(await set('optional')).not.toBe(second);
});

test('the files contain neither keys nor signing secrets', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openEmpty(path);
  const { agent, apiKey } = await register(store);
  const signing = await setSigning(store, { agentId: agent.id, signing: 'optional', nowMs: startMs });
  const secret = signing.kind === 'changed' ? (signing.signingSecret ?? '') : '';
  const bytes = Buffer.concat([readFileSync(path), readFileSync(`${path}-wal`)]);
  expect(bytes.includes(agent.name)).toBe(true);
  expect(secret).toMatch(/^writsec_/);
  for (const text of [apiKey, apiKey.slice(13, 45), secret, secret.slice(8)]) {
    expect(bytes.includes(text)).toBe(false);
  }
});

test('the use of a key reaches the store soon', async () => {
  const store = await openEmpty();
  const { agent, apiKey } = await register(store);
  await authenticate(store, apiKey, startMs + 90_000);
  await expect.poll(async () => (await store.agents.keys(agent.id))[0]?.lastUsedAtMs).toBe(startMs + 60_000);
});
