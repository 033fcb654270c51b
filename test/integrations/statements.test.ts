// Statements of the real service: signed for refused requests as for granted ones, and never taken for a receipt, by
// neither client, not even with the key of statements among the keys of receipts.

import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { createReceiptCheck } from '../../integrations/typescript/receipt.ts';
import { authorize, type Service, startService } from '../service/http/service.ts';
import type { View } from '../service/http/written-policies.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { inPython, requirePython } from './python/python.ts';
import { keptReceipts } from './used-receipts.ts';

beforeAll(requirePython);

const payload = { amount: 12 };

async function ask(service: Service, action: string): Promise<View & { readonly receipt: string | null }> {
  const body = JSON.stringify({ action_key: action, payload });
  const reply = await authorize(service, { body, headers: { prefer: 'receipt, wait=0' } });
  return { ...((await reply.json()) as View), receipt: reply.headers.get('writ-receipt') };
}

async function statementOf(service: Service, id: string, key = service.apiKey) {
  const headers = { 'x-agent-api-key': key };
  const reply = await fetch(`${service.url}/v1/requests/${id}/statement`, { headers });
  return { status: reply.status, statement: ((await reply.json()) as { statement: string }).statement };
}

async function keysOf({ url }: Service) {
  const [log, jwks] = await Promise.all(
    ['/v1/log/key', '/.well-known/jwks.json'].map(async (path) => (await fetch(`${url}${path}`)).json()),
  );
  return { statement: log.statement_key, receipts: jwks.keys };
}

const actions = {
  'demo.allow': 'auto_approved',
  'demo.deny': 'rejected',
  'demo.escalate': 'pending',
  'demo.reauth': 'pending',
};

describe('a statement', () => {
  test('tells how each kind of request was decided', async () => {
    const service = await startService();
    const { statement: key } = await keysOf(service);
    for (const [action, status] of Object.entries(actions)) {
      const { request_id: id, decision } = await ask(service, action);
      const { statement } = await statementOf(service, id);
      const { payload: claims, protectedHeader } = await jwtVerify(
        statement,
        createLocalJWKSet({ keys: [key] }),
      );
      expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'writ-statement+jwt', kid: key.kid });
      expect(claims).toMatchObject({
        iss: 'http://localhost',
        sub: `agent:${service.agent.id}`,
        txn: id,
        statement: { action_key: action, first_decision: decision, executed: null },
      });
      expect((claims.statement as { status: string }).status).toBe(status);
      for (const claim of ['aud', 'exp', 'jti', 'authorization_details'])
        expect(claims).not.toHaveProperty(claim);
    }
  });

  test('tells what became of the request', async () => {
    const time = { aheadMs: 0 };
    const service = await startService({ clock: () => Date.now() + time.aheadMs });
    const [granted, waiting] = [await ask(service, 'demo.allow'), await ask(service, 'demo.escalate')];
    const headers = { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' };
    const body = JSON.stringify({ executed: true });
    await fetch(`${service.url}/v1/requests/${granted.request_id}/outcome`, {
      method: 'POST',
      headers,
      body,
    });
    time.aheadMs = 2 * 3_600_000;
    const read = async (id: string) => {
      const { statement } = await statementOf(service, id);
      return JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString()).statement;
    };
    expect(await read(granted.request_id)).toMatchObject({ status: 'consumed', executed: true });
    expect(await read(waiting.request_id)).toMatchObject({ status: 'expired', executed: null });
  });

  test('is for the agent of the request alone', async () => {
    const service = await startService();
    const { request_id: id } = await ask(service, 'demo.deny');
    expect((await statementOf(service, id, 'writ_wrong')).status).toBe(401);
    expect((await statementOf(service, '0195a3f0-0000-7000-8000-000000000000')).status).toBe(404);
  });

  test('is no receipt, whatever it is about and whichever keys a tool has', async () => {
    const service = await startService();
    const keys = await keysOf(service);
    const granted = await ask(service, 'demo.allow');
    const statements = await Promise.all(
      [granted.request_id, (await ask(service, 'demo.deny')).request_id].map(
        async (id) => (await statementOf(service, id)).statement,
      ),
    );
    for (const set of [keys.receipts, [...keys.receipts, keys.statement], [keys.statement]]) {
      for (const audience of ['demo', `agent:${service.agent.id}`]) {
        const options = { issuer: 'http://localhost', audience, used: keptReceipts() };
        const check = createReceiptCheck({ ...options, keys: createLocalJWKSet({ keys: set }) });
        for (const statement of statements)
          await expect(check(statement, 'demo.allow', payload)).rejects.toThrow();
      }
      const passes = await inPython(
        {
          statements,
          keys: { keys: set },
          payload,
          receipt: granted.receipt,
          used: join(temporaryFolder(), 'used'),
        },
        `
passes = []
for statement in given['statements'] + [given['receipt']]:
    try:
        writ.verify_receipt(statement, given['keys'], issuer='http://localhost', audience='demo',
                            action='demo.allow', payload=given['payload'], used=writ.UsedReceiptFiles(given['used']))
        passes.append(True)
    except writ.ReceiptError:
        passes.append(False)
say(passes)`,
      );
      // The receipt itself passes wherever its key is known.
      expect(passes).toEqual([false, false, set.length > 1 || set[0] !== keys.statement]);
    }
  });
});
