// The claim `act` of a token over HTTP: who acts for the agent, what an actor may do, and that adding one never
// allows more. Also: what an agent with a token passes on by delegations.

import { beforeAll, expect, test } from 'vitest';
import { makeKey, type SigningKey, shareIssuer } from './issuer.ts';
import { personWith, send } from './person-client.ts';
import {
  ask,
  granted,
  issuerSettings,
  startWorkloadService,
  type WorkloadService,
  workloadToken,
} from './workload-service.ts';
import { codeOf, give } from './written-policies.ts';

const issuer = shareIssuer();
let key: SigningKey;

beforeAll(async () => {
  key = await makeKey('first');
  issuer.keys = [key];
});

const actors = [
  { subject: 'planner', name: 'planner' },
  { subject: 'mailer', name: 'mailer', actions: ['demo.pay'] },
];

async function start(): Promise<WorkloadService & { readonly identityId: string }> {
  const started = await startWorkloadService([issuerSettings(issuer)]);
  const { body } = await started.map({ actors });
  await granted(started.service, await workloadToken(issuer.url, key));
  return { ...started, identityId: body.id };
}

const tokenOf = (act: unknown) => workloadToken(issuer.url, key, { act });

test('actors are the chain of the request, the first one first, and each is one more guard', async () => {
  const { service } = await start();
  const nested = { sub: 'mailer', act: { sub: 'planner', iss: issuer.url } };
  const { body, code } = await ask(service, await tokenOf(nested));
  expect(code).toBe('ALLOW');
  const row = await service.store.requests.find(body.request_id ?? '');
  expect(JSON.parse(row?.recordJson ?? '')).toMatchObject({
    request: { chain: ['planner', 'mailer'] },
    chain: [{ name: 'planner' }, { name: 'mailer', actions: ['demo.pay'] }],
  });
  // What the agent itself gets, the mailer does not: its link names no other action.
  expect((await ask(service, await workloadToken(issuer.url, key), { action: 'demo.ask' })).code).toBe(
    'ESCALATE',
  );
  expect((await ask(service, await tokenOf(nested), { action: 'demo.ask' })).code).toBe('DENY');
  // The rule lets a chain pass that begins with the planner; the mailer alone is another chain.
  expect((await ask(service, await tokenOf({ sub: 'mailer' }))).code).toBe('DENY');
});

test('an actor that is unknown, malformed, too deep or of another issuer refuses the token', async () => {
  const { service } = await start();
  const deep = (count: number): object =>
    count === 1 ? { sub: 'planner' } : { sub: 'planner', act: deep(count - 1) };
  expect((await ask(service, await tokenOf(deep(5)))).code).toBe('ALLOW');
  const wrong: readonly unknown[] = [
    { sub: 'stranger' },
    { sub: 'planner', act: { sub: 'stranger' } },
    { sub: 'planner', iss: 'https://other.example' },
    { iss: issuer.url },
    { sub: 7 },
    'planner',
    ['planner'],
    null,
    { sub: 'planner', act: null },
    deep(6),
  ];
  for (const act of wrong) {
    const answer = await ask(service, await tokenOf(act));
    expect([act, answer.status, answer.code]).toEqual([act, 403, 'identity_not_mapped']);
  }
});

test('an actor asks for decisions and does nothing else', async () => {
  const { service } = await start();
  const authorization = `Bearer ${await tokenOf({ sub: 'planner' })}`;
  const list = await send(service, '/v1/delegations', { headers: { authorization } });
  expect([list.status, list.body.type]).toEqual([403, 'urn:writ:error:delegated_key']);
  const terms = { name: 'more', actions: ['*'], until: new Date(Date.now() + 60_000).toISOString() };
  const made = await send(service, '/v1/delegations', {
    method: 'POST',
    body: terms,
    headers: { authorization },
  });
  expect([made.status, made.body.detail]).toEqual([409, expect.stringContaining('cannot delegate')]);
});

test('what an agent delegates with a token lasts as long as its identity', async () => {
  const { service, admin, identityId } = await start();
  const headers = { authorization: `Bearer ${await workloadToken(issuer.url, key)}` };
  const terms = {
    name: 'planner',
    actions: ['demo.pay'],
    until: new Date(Date.now() + 60_000).toISOString(),
  };
  const made = await send(service, '/v1/delegations', { method: 'POST', body: terms, headers });
  expect(made.status).toBe(201);
  const pay = () =>
    send(service, '/v1/authorize', {
      method: 'POST',
      body: { action_key: 'demo.pay', payload: { amount: 5 } },
      headers: { 'x-agent-api-key': made.body.api_key },
    });
  expect((await pay()).body.decision).toBe('ALLOW');
  await admin.send(`/v1/agents/${service.agent.id}/identities/${identityId}`, { method: 'DELETE' });
  expect((await pay()).body.type).toBe('urn:writ:error:delegation_ended');
});

test('a request by an actor is approved, and its approval taken, only while its identity lasts', async () => {
  const { service, person, admin, identityId } = await start();
  const finance = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const approver = await personWith(service, person, finance);
  const token = await tokenOf({ sub: 'planner' });
  const taking = { action: 'demo.ask', headers: { prefer: 'attach' } };
  const early = await ask(service, token, taking);
  expect((await give(approver, early.body.request_id ?? '', 'approve')).body.status).toBe('approved');
  expect((await ask(service, token, taking)).code).toBe('ALLOW');
  const late = await ask(service, token, taking);
  expect(late.code).toBe('ESCALATE');
  await admin.send(`/v1/agents/${service.agent.id}/identities/${identityId}`, { method: 'DELETE' });
  expect(codeOf(await give(approver, late.body.request_id ?? '', 'approve'))).toEqual([403, 'stopped']);
  expect((await ask(service, token, { action: 'demo.ask' })).code).toBe('identity_not_mapped');
});
