// A call that comes for an approval is decided by its own facts, whichever way it comes: by `Prefer: attach`,
// from a held answer, under an idempotency key, or with the approval that AuthZEN shows.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { type Service, shareService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers audit "Audit"
action mail.send, mail.post { to: string }
action web.fetch { }
action payment.create { id: string, amount: number }
meter tainted = count() of web.fetch per session over 24h
meter posted = count() of mail.post per session over 24h
policy web on web.fetch { allow all }
policy mails on mail.* {
  allow all for 10m
  deny tainted_session when tainted > 0 because "this session has read the web"
  deny often when action.key == "mail.post" and posted > 1 because "one a session"
  escalate asked to finance within 1h
  escalate audited to audit within 1h when request.session == "audited"
}
policy payments on payment.create {
  allow most for 10m
  deny from_there when request.session == "there" because "not from there"
  escalate large to finance within 1h
  escalate odd to audit within 1h when request.session == "audited"
}
`;

const shared = shareService({ startsWith: policies, openRequestsMax: 1_000 });
let service: Service;
let admin: Client;
let ben: Client;
let cat: Client;
let benId: string;
let count = 0;

beforeAll(async () => {
  service = shared();
  const first = await firstAdmin(service);
  admin = await signedIn(service, 'ann@example.com');
  const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const made = await personWith(service, first, who);
  benId = made.person.id;
  ben = await signedIn(service, 'ben@example.com');
  cat = await personWith(service, first, {
    email: 'cat@example.com',
    roles: ['approver'],
    groups: ['audit'],
  });
  await usePolicies(service, policies);
});

interface From {
  readonly session: string;
  readonly prefer?: string;
  readonly key?: string;
}

/** Sends the same mail from a session. */
function mail(to: string, { session, prefer = 'attach', key }: From, action = 'mail.send') {
  const headers = { prefer, 'x-agent-session': session, ...(key && { 'idempotency-key': key }) };
  return ask(service, action, { payload: { to }, headers });
}

const taint = (session: string) =>
  ask(service, 'web.fetch', { payload: {}, headers: { 'x-agent-session': session } });

const approve = async (id: string, group: 'finance' | 'audit' = 'finance') =>
  expect((await give(group === 'audit' ? cat : ben, id, 'approve', group)).status).toBe(200);

/** A mail that people have approved, asked from a session that has read nothing. */
async function approved(key?: string) {
  count += 1;
  const [to, session] = [`m${count}@example.com`, `clean-${count}`];
  const from: From = key === undefined ? { session } : { session, key };
  const { request_id: id } = await mail(to, from);
  await approve(id);
  return { id, to, session };
}

const tainted = { decision: 'DENY', reason: 'this session has read the web', status: 'rejected' };

describe('a call that the policies refuse', () => {
  test('does not use an approval, which stays valid for its own call', async () => {
    const { id, to, session } = await approved();
    await taint('dirty');
    const refused = await mail(to, { session: 'dirty' });
    expect(refused).toMatchObject({ ...tainted, matched_policy: 'mails' });
    expect(refused.request_id).not.toBe(id);
    expect((await look(service, refused.request_id)).body.trace.length).toBeGreaterThan(0);
    expect((await look(service, id)).body.status).toBe('approved');
    expect(await mail(to, { session })).toMatchObject({ request_id: id, decision: 'ALLOW' });
  });

  test('does not use it after its own session has changed', async () => {
    const { id, to, session } = await approved();
    await taint(session);
    expect(await mail(to, { session })).toMatchObject(tainted);
    expect((await look(service, id)).body.status).toBe('approved');
  });

  test('does not use it from a long poll', async () => {
    const to = 'held@example.com';
    const { request_id: id } = await mail(to, { session: 'held' });
    const waiting = mail(to, { session: 'holding', prefer: 'attach, wait=20' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await taint('holding');
    await approve(id);
    expect(await waiting).toMatchObject({ ...tainted, request_id: id });
    expect((await look(service, id)).body.status).toBe('approved');
  });

  test('does not join the pending request of another call', async () => {
    const { request_id: id } = await mail('joined@example.com', { session: 'joined' });
    await taint('joining');
    const refused = await mail('joined@example.com', { session: 'joining', prefer: 'attach, wait=5' });
    expect(refused).toMatchObject(tainted);
    expect(refused.request_id).not.toBe(id);
  });

  test('is not answered with a grant under the idempotency key of the first', async () => {
    const headers = (session: string) => ({ 'idempotency-key': 'same', 'x-agent-session': session });
    const payload = { to: 'key@example.com' };
    const first = await ask(service, 'mail.send', { payload, headers: headers('first') });
    await approve(first.request_id);
    await taint('second');
    const refused = await ask(service, 'mail.send', { payload, headers: headers('second') });
    expect(refused).toMatchObject({ ...tainted, matched_policy: 'mails', request_id: first.request_id });
    for (let times = 0; times < 2; times += 1)
      expect(await ask(service, 'mail.send', { payload, headers: headers('first') })).toMatchObject({
        decision: 'ALLOW',
        request_id: first.request_id,
      });
    // The repeated call has taken the approval, so that no other call takes it, too.
    const other = await mail('key@example.com', { session: 'third', key: 'another' });
    expect(other).toMatchObject({
      decision: 'ESCALATE',
      request_id: expect.not.stringContaining(first.request_id),
    });
  });

  test('does not get the grant that it used before', async () => {
    const { id, to, session } = await approved('taken');
    expect(await mail(to, { session, key: 'taken' })).toMatchObject({ request_id: id, decision: 'ALLOW' });
    await taint(session);
    expect((await mail(to, { session, key: 'taken' })).decision).toBe('DENY');
  });
});

test('a call that needs more people is a request of its own, and asks them all', async () => {
  const { id, to, session } = await approved();
  const more = await mail(to, { session: 'audited' });
  expect(more).toMatchObject({ decision: 'ESCALATE', request_id: expect.not.stringContaining(id) });
  expect(more.message).toContain('audit');
  await approve(more.request_id, 'finance');
  await approve(more.request_id, 'audit');
  expect(await mail(to, { session: 'audited' })).toMatchObject({
    request_id: more.request_id,
    decision: 'ALLOW',
  });
  expect(await mail(to, { session })).toMatchObject({ request_id: id, decision: 'ALLOW' });
});

test('a call that needs more approvals than a pending request does not join it', async () => {
  const to = 'wait@example.com';
  const { request_id: id } = await mail(to, { session: 'plain' });
  const more = await mail(to, { session: 'audited' });
  expect(more).toMatchObject({ decision: 'ESCALATE', request_id: expect.not.stringContaining(id) });
  expect(more.message).toContain('audit');
});

test('a call that other meters count is a request of its own, and each counts once', async () => {
  const post = (session: string) => mail('p@example.com', { session }, 'mail.post');
  const { request_id: first } = await post('one');
  await approve(first);
  const { request_id: second } = await post('two');
  expect(second).not.toBe(first);
  await approve(second);
  expect(await post('two')).toMatchObject({ request_id: second, decision: 'ALLOW' });
  expect(await post('one')).toMatchObject({ request_id: first, decision: 'ALLOW' });
  for (const session of ['one', 'two'])
    expect(await post(session)).toMatchObject({ decision: 'DENY', reason: 'one a session' });
});

test('an approval whose giver was disabled does not serve, and serves again after they are enabled', async () => {
  const { id, to, session } = await approved();
  const change = async (status: string) => {
    const { body, headers } = await admin.send(`/v1/people/${benId}`);
    const match = headers.get('etag');
    expect(body.id).toBe(benId);
    return await admin.send(`/v1/people/${benId}`, {
      method: 'PATCH',
      body: { status },
      ...(match && { headers: { 'if-match': match } }),
    });
  };
  expect((await change('disabled')).status).toBe(200);
  expect(await mail(to, { session })).toMatchObject({
    decision: 'ESCALATE',
    request_id: expect.not.stringContaining(id),
  });
  expect((await change('active')).status).toBe(200);
  ben = await signedIn(service, 'ben@example.com');
  expect(await mail(to, { session })).toMatchObject({ request_id: id, decision: 'ALLOW' });
});

test('the record of the use has the facts of the call, and the rule that allowed it', async () => {
  const { id, to, session } = await approved();
  expect((await mail(to, { session: 'taker' })).request_id).toBe(id);
  const { events } = (await service.store.requests.history(id))!;
  expect(events.at(-1)).toMatchObject({
    what: 'taken',
    detail: {
      call: {
        request: { session: 'taker', ip: expect.any(String) },
        satisfied: { escalate: ['mails/asked'] },
        meters: { tainted: { low: '0', high: '0' } },
        decision: { outcome: 'ALLOW', by: 'mails/all' },
        policySet: service.policies.current().digest,
      },
    },
  });
  expect(session).not.toBe('taker');
});

describe('AuthZEN', () => {
  const payment = (amount: number, more: object = {}) => ({
    subject: { type: 'user', id: 'alice' },
    action: { name: 'create', properties: { amount } },
    resource: { type: 'payment', id: 'p-1' },
    ...more,
  });
  const call = (path: string, body: unknown, session: string) =>
    send(service, `/access/v1/${path}`, {
      method: 'POST',
      body,
      headers: { 'x-agent-api-key': service.apiKey, 'x-agent-session': session },
    });

  async function approvedPayment(amount: number) {
    const { evaluation_id, evaluated_at, reason, access_request } = (
      await call('evaluation', payment(amount), 'here')
    ).body.context;
    const denial = { evaluation_id, evaluated_at, reason, expires_at: access_request.expires_at };
    const { task } = (await call('requests', { ...payment(amount), denial }, 'here')).body;
    expect(codeOf(await give(ben, task.id, 'approve', 'finance'))).toEqual([200, 'approved']);
    return payment(amount, {
      context: { approval: { id: task.id, approved_until: '2030-01-01T00:00:00Z' } },
    });
  }

  test('an approval does not serve an evaluation that other rules refuse, or that needs other approvers', async () => {
    const shown = await approvedPayment(500);
    expect((await call('evaluation', shown, 'there')).body).toMatchObject({
      decision: false,
      context: { message: 'not from there', reason: 'policy_denied' },
    });
    expect((await call('evaluation', shown, 'audited')).body).toMatchObject({
      decision: false,
      context: { next_action: 'request' },
    });
    expect((await call('evaluation', shown, 'elsewhere')).body.decision).toBe(true);
    expect((await call('evaluation', shown, 'here')).body.decision).toBe(false);
  });
});
