// Receipts from the real service, checked as a tool checks them, with `jose`.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import {
  createReceiptCheck,
  createUsedReceiptFiles,
  createUsedReceipts,
  ReceiptError,
  receiptMeta,
  requireReceipt,
} from '../../integrations/typescript/receipt.ts';
import { firstAdmin, personWith, signedIn } from '../service/http/person-client.ts';
import { authorize, type Service, startService } from '../service/http/service.ts';
import { codeOf, give, type View } from '../service/http/written-policies.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { keptReceipts } from './used-receipts.ts';

const payload = { amount: 120.5, vendor: 'Café ☕', lines: [{ b: 2, a: [1, null, true] }], __proto__x: 1e-7 };

interface Got {
  readonly view: View;
  readonly receipt: string | null;
}

async function grant(service: Service, prefer = 'receipt', action = 'demo.allow', key = ''): Promise<Got> {
  const body = JSON.stringify({ action_key: action, payload });
  const headers = { prefer, ...(key === '' ? {} : { 'idempotency-key': key }) };
  const reply = await authorize(service, { body, headers });
  return { view: (await reply.json()) as View, receipt: reply.headers.get('writ-receipt') };
}

async function keysOf({ url }: Service) {
  const reply = await fetch(`${url}/.well-known/jwks.json`);
  return { reply, body: await reply.json() };
}

async function checkOf(service: Service, changes: Partial<Parameters<typeof createReceiptCheck>[0]> = {}) {
  const keys = createLocalJWKSet((await keysOf(service)).body);
  const used = keptReceipts();
  return createReceiptCheck({ issuer: 'http://localhost', audience: 'demo', keys, used, ...changes });
}

function claimsOf(receipt: string) {
  return JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString());
}

describe('a receipt', () => {
  test('contains what was granted, and is accepted once', async () => {
    const service = await startService();
    const { view, receipt } = await grant(service);
    const check = await checkOf(service);
    expect(await check(receipt, 'demo.allow', payload)).toMatchObject({
      requestId: view.request_id,
      agentId: service.agent.id,
      action: 'demo.allow',
      approvedBy: [],
    });
    await expect(check(receipt, 'demo.allow', payload)).rejects.toThrow('it has been used');
    const claims = claimsOf(receipt ?? '');
    expect(claims).toMatchObject({
      iss: 'http://localhost',
      aud: 'demo',
      sub: `agent:${service.agent.id}`,
      jti: view.request_id,
      txn: view.request_id,
      policy: { set: `sha256:${service.policies.current().digest}`, rule: 'demo/most' },
    });
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(60);
    expect((receipt ?? '').length).toBeLessThan(1_000);
  });

  test('is issued only on request, and only for a grant', async () => {
    const service = await startService();
    expect((await grant(service, 'wait=0')).receipt).toBeNull();
    expect((await grant(service, 'receipt', 'demo.deny')).receipt).toBeNull();
    expect((await grant(service, 'receipt', 'demo.escalate')).receipt).toBeNull();
    const named = await grant(service, 'attach, receipt=files.example.com');
    expect(claimsOf(named.receipt ?? '').aud).toBe('files.example.com');
  });

  test('names the approvers after the wait, and is issued again with the same id while the grant is valid', async () => {
    const time = { aheadMs: 0 };
    const service = await startService({ clock: () => Date.now() + time.aheadMs });
    const admin = await firstAdmin(service);
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service, admin, who);
    const first = await grant(service, 'attach, receipt', 'demo.escalate', 'call-1');
    await give(ben, first.view.request_id, 'approve');
    const { view, receipt } = await grant(service, 'attach, receipt', 'demo.escalate', 'call-1');
    expect(view).toMatchObject({ request_id: first.view.request_id, decision: 'ALLOW' });
    expect(claimsOf(receipt ?? '').approved_by).toEqual(['finance']);
    const again = async (key = service.apiKey) => {
      const headers = { 'x-agent-api-key': key };
      const reply = await fetch(`${service.url}/v1/requests/${view.request_id}/receipt`, { headers });
      return { status: reply.status, body: await reply.json() };
    };
    const check = await checkOf(service);
    await check(receipt, 'demo.escalate', payload);
    const second = (await again()).body.receipt;
    await expect(check(second, 'demo.escalate', payload)).rejects.toThrow('it has been used');
    expect(codeOf(await ben.send(`/v1/requests/${view.request_id}/receipt`))).toEqual([
      401,
      'missing_api_key',
    ]);
    expect(second).toBe(receipt);
    time.aheadMs = 61_000;
    const late = await again();
    expect([late.status, late.body.detail]).toEqual([
      409,
      expect.stringContaining('ask for the action again'),
    ]);
  });

  test('is refused without the wish for one, and for a used or stopped request or one of another agent', async () => {
    const service = await startService();
    const admin = await signedIn(service, (await firstAdmin(service)) && 'ann@example.com');
    const status = async (id: string) => {
      const headers = { 'x-agent-api-key': service.apiKey };
      return (await fetch(`${service.url}/v1/requests/${id}/receipt`, { headers })).status;
    };
    expect(await status((await grant(service, 'wait=0')).view.request_id)).toBe(409);
    const { view } = await grant(service);
    expect(await status(view.request_id)).toBe(200);
    const on = await admin.send('/v1/kill-switches', { method: 'POST', body: { scope: 'all', reason: 'x' } });
    expect(await status(view.request_id)).toBe(403);
    await admin.send(`/v1/kill-switches/${on.body.id}/deactivate`, {
      method: 'POST',
      body: { reason: 'checked' },
    });
    await fetch(`${service.url}/v1/requests/${view.request_id}/outcome`, {
      method: 'POST',
      headers: { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' },
      body: '{"executed":true}',
    });
    expect(await status(view.request_id)).toBe(409);
    expect(await status('019a0000-0000-7000-8000-000000000000')).toBe(404);
  });

  test('is not issued for an approval that no call has used', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service, admin, who);
    const { view } = await grant(service, 'receipt', 'demo.escalate', 'call-1');
    await give(ben, view.request_id, 'approve');
    const look = async () => {
      const headers = { 'x-agent-api-key': service.apiKey };
      return await fetch(`${service.url}/v1/requests/${view.request_id}/receipt`, { headers });
    };
    const early = await look();
    expect([early.status, (await early.json()).detail]).toEqual([
      409,
      expect.stringContaining('this approval is not used yet'),
    ]);
    const { receipt } = await grant(service, 'receipt', 'demo.escalate', 'call-1');
    expect((await (await look()).json()).receipt).toBe(receipt);
    await (await checkOf(service))(receipt, 'demo.escalate', payload);
  });

  test('comes with the held answer, which takes the approval', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service, admin, who);
    const waiting = grant(service, 'receipt, wait=20', 'demo.escalate');
    const open = () => service.store.requests.openOf(service.agent.id, 1);
    await vi.waitFor(async () => expect(await open()).toHaveLength(1), { timeout: 10_000 });
    const [id = ''] = await open();
    await give(ben, id, 'approve');
    const { view, receipt } = await waiting;
    expect(view).toMatchObject({ request_id: id, decision: 'ALLOW' });
    await (await checkOf(service))(receipt, 'demo.escalate', payload);
    const { events } = (await service.store.requests.history(id))!;
    expect(events.at(-1)?.what).toBe('taken');
  });

  test('can be turned off', async () => {
    const service = await startService({ areReceiptsOn: false });
    expect((await grant(service)).receipt).toBeNull();
    expect((await keysOf(service)).body).toEqual({ keys: [] });
  });

  test('its record holds no digest in clear', async () => {
    const service = await startService();
    const { view, receipt } = await grant(service);
    const digest = claimsOf(receipt ?? '').authorization_details[0].payload_digest;
    const row = await service.store.requests.find(view.request_id);
    expect(row?.recordJson).toContain('"sealedDigest":"v1.');
    expect(row?.recordJson).not.toContain(digest);
  });
});

describe('what a tool refuses', () => {
  test('a receipt that was changed', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const [head = '', , signature = ''] = (receipt ?? '').split('.');
    const claims = claimsOf(receipt ?? '');
    const check = await checkOf(service);
    for (const name of Object.keys(claims)) {
      const value = claims[name];
      const changed =
        typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}x` : [value, value];
      const body = Buffer.from(JSON.stringify({ ...claims, [name]: changed })).toString('base64url');
      await expect(check(`${head}.${body}.${signature}`, 'demo.allow', payload), name).rejects.toThrow(
        ReceiptError,
      );
    }
    const none = Buffer.from('{"alg":"none","typ":"writ-receipt+jwt"}').toString('base64url');
    const unsigned = `${none}.${receipt?.split('.')[1]}.`;
    for (const bad of [unsigned, '', 'x', null, undefined, `${receipt}x`])
      await expect(check(bad, 'demo.allow', payload)).rejects.toThrow(ReceiptError);
    await check(receipt, 'demo.allow', payload);
  });

  test('one with a valid signature and other contents', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA');
    const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'EdDSA' }] });
    const digest = 'sha-256:RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o';
    const details = [{ type: 'writ_action', action_key: 'demo.allow', payload_digest: digest }];
    const now = Math.floor(Date.now() / 1000);
    const good = {
      iss: 'http://localhost',
      aud: 'demo',
      sub: 'agent:a',
      jti: 'j',
      iat: now,
      exp: now + 60,
      authorization_details: details,
    };
    const signed = (claims: object, typ = 'writ-receipt+jwt') =>
      new SignJWT(claims as never).setProtectedHeader({ alg: 'EdDSA', kid: 'k', typ }).sign(privateKey);
    const check = () =>
      createReceiptCheck({ issuer: 'http://localhost', audience: 'demo', keys, used: keptReceipts() });
    await check()(await signed(good), 'demo.allow', {});
    const [detail] = details;
    const wrong: readonly (readonly [string, object])[] = [
      ['issuer', { iss: 'http://localhosts' }],
      ['audience', { aud: 'demos' }],
      ['over', { exp: now - 6, iat: now - 66 }],
      ['longer than any', { iat: now - 120, exp: now + 3_600 }],
      ['not yet', { iat: now + 60 }],
      ['action', { authorization_details: [{ ...detail, action_key: 'demo.deny' }] }],
      ['payload', { authorization_details: [{ ...detail, payload_digest: `${digest}x` }] }],
      ['kind', { authorization_details: [{ ...detail, type: 'another' }] }],
      ['two', { authorization_details: [...details, ...details] }],
      ['none', { authorization_details: [] }],
      ['no list', { authorization_details: 'x' }],
      ...Object.keys(good).map((name) => [`without ${name}`, { [name]: undefined }] as const),
    ];
    for (const [what, change] of wrong)
      await expect(check()(await signed({ ...good, ...change }), 'demo.allow', {}), what).rejects.toThrow(
        ReceiptError,
      );
    await expect(check()(await signed(good, 'JWT'), 'demo.allow', {})).rejects.toThrow(ReceiptError);
  });

  test('one for another action, another payload, another audience; one that has expired', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const check = await checkOf(service);
    await expect(check(receipt, 'demo.deny', payload)).rejects.toThrow('another action');
    await expect(check(receipt, 'demo.allow', { ...payload, amount: 121.5 })).rejects.toThrow(
      'another payload',
    );
    await expect(
      (await checkOf(service, { audience: 'files' }))(receipt, 'demo.allow', payload),
    ).rejects.toThrow(ReceiptError);
    await expect(
      (await checkOf(service, { issuer: 'http://elsewhere' }))(receipt, 'demo.allow', payload),
    ).rejects.toThrow(ReceiptError);
    vi.useFakeTimers({ now: Date.now() + 70_000, toFake: ['Date'] });
    try {
      await expect(check(receipt, 'demo.allow', payload)).rejects.toThrow(ReceiptError);
    } finally {
      vi.useRealTimers();
    }
    await check(receipt, 'demo.allow', payload);
  });

  test('all but one of many concurrent uses of one receipt', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const check = await checkOf(service, { used: keptReceipts() });
    const shown = await Promise.allSettled(
      Array.from({ length: 20 }, () => check(receipt, 'demo.allow', payload)),
    );
    expect(shown.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('one from before the list of used receipts began, since it may have been used then', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const check = await checkOf(service, { used: createUsedReceipts() });
    await expect(check(receipt, 'demo.allow', payload)).rejects.toThrow('before this tool started');
    const folder = temporaryFolder();
    const lasting = async () => await checkOf(service, { used: createUsedReceiptFiles(folder) });
    await (await lasting())(receipt, 'demo.allow', payload);
    await expect((await lasting())(receipt, 'demo.allow', payload)).rejects.toThrow('it has been used');
  });

  test('all of them while the list of used receipts cannot be written', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const folder = join(temporaryFolder(), 'used');
    const used = createUsedReceiptFiles(folder);
    rmSync(folder, { recursive: true });
    const check = await checkOf(service, { used });
    await expect(check(receipt, 'demo.allow', payload)).rejects.toThrow('cannot be written');
    const odd = await checkOf(service, { used: { putIfAbsent: () => 'yes' as never } });
    await expect(odd(receipt, 'demo.allow', payload)).rejects.toThrow(ReceiptError);
  });

  test('a call of an MCP tool without one: the tool does not run', async () => {
    const service = await startService();
    let ran = 0;
    const keys = createLocalJWKSet((await keysOf(service)).body);
    const handler = requireReceipt(
      { issuer: 'http://localhost', audience: 'demo', keys, used: keptReceipts() },
      (_call: {
        params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> };
      }) => {
        ran += 1;
        return { content: [] };
      },
    );
    const { receipt } = await grant(service);
    const call = (meta?: Record<string, unknown>, name = 'allow') =>
      handler({ params: { name, arguments: payload, ...(meta === undefined ? {} : { _meta: meta }) } });
    for (const refused of [
      await call(),
      await call({}),
      await call({ [receiptMeta]: 7 }),
      await call({ [receiptMeta]: receipt }, 'another'),
    ])
      expect(refused).toMatchObject({ isError: true });
    expect(ran).toBe(0);
    expect(await call({ [receiptMeta]: receipt })).toEqual({ content: [] });
    expect(await call({ [receiptMeta]: receipt })).toMatchObject({ isError: true });
    expect(ran).toBe(1);
  });
});

describe('keys', () => {
  test('the next one is published a day before it signs, the last one until its receipts are over', async () => {
    const time = { aheadMs: 0 };
    const service = await startService({ clock: () => Date.now() + time.aheadMs });
    await firstAdmin(service);
    let admin = await signedIn(service, 'ann@example.com');
    const kidOf = (receipt: string | null) =>
      JSON.parse(Buffer.from(receipt?.split('.')[0] ?? '', 'base64url').toString()).kid;
    const published = async () => (await keysOf(service)).body.keys.map(({ kid }: { kid: string }) => kid);
    const { reply, body } = await keysOf(service);
    expect(reply.headers.get('cache-control')).toBe('max-age=3600');
    expect(Object.keys(body.keys[0]).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    const [first] = await published();
    expect(kidOf((await grant(service)).receipt)).toBe(first);
    const rotate = (sent: object) => admin.send('/v1/receipt-keys', { method: 'POST', body: sent });
    expect((await rotate({})).status).toBe(201);
    expect(codeOf(await rotate({}))).toEqual([409, 'conflict']);
    const [next] = await published();
    expect([await published(), kidOf((await grant(service)).receipt)]).toEqual([[next, first], first]);
    time.aheadMs = 24 * 60 * 60_000;
    const late = await grant(service);
    expect([await published(), kidOf(late.receipt)]).toEqual([[next, first], next]);
    time.aheadMs += 7 * 60_000;
    expect(await published()).toEqual([next]);
    admin = await signedIn(service, 'ann@example.com');
    expect((await rotate({ immediately: true })).status).toBe(201);
    const [last] = await published();
    expect([await published(), kidOf((await grant(service)).receipt)]).toEqual([[last], last]);
    expect(last).not.toBe(next);
    const check = createReceiptCheck({
      issuer: 'http://localhost',
      audience: 'demo',
      keys: createLocalJWKSet((await keysOf(service)).body),
    });
    await expect(check(late.receipt, 'demo.allow', payload)).rejects.toThrow(ReceiptError);
    const records = (await admin.send('/v1/audit')).body.items;
    expect(JSON.stringify(records)).toContain('receipt-keys-rotated');
  });

  test('are read from the service, and without them nothing is accepted', async () => {
    const service = await startService();
    const { receipt } = await grant(service);
    const jwks = (await keysOf(service)).body;
    await jwtVerify(receipt ?? '', createLocalJWKSet(jwks), { issuer: 'http://localhost', audience: 'demo' });
    const check = createReceiptCheck({ issuer: 'http://127.0.0.1:9', audience: 'demo' });
    await expect(check(receipt, 'demo.allow', payload)).rejects.toThrow(ReceiptError);
    const strangers = await generateKeyPair('EdDSA');
    const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(strangers.publicKey)), alg: 'EdDSA' }] });
    await expect((await checkOf(service, { keys }))(receipt, 'demo.allow', payload)).rejects.toThrow(
      ReceiptError,
    );
  });
});
