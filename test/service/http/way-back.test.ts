// Account recovery over HTTP: an admin makes a link, whoever has the link sets a password, and nobody learns
// which addresses are known.

import { describe, expect, test } from 'vitest';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { firstAdmin, password, personWith, send, setUpCodes, signedIn } from './person-client.ts';
import { startService } from './service.ts';
import { codeOf } from './written-policies.ts';

const post = (body: unknown) => ({ method: 'POST', body });
const another = 'another horse battery';

async function scene() {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ben = await personWith(service, admin, { email: 'ben@example.com', roles: ['auditor'] });
  return { service, ben, ann: await signedIn(service, 'ann@example.com') };
}

describe('a reset link', () => {
  test('is created by an admin with a proof, and lets its person set a password', async () => {
    const { service, ben, ann } = await scene();
    const path = `/v1/people/${ben.person.id}/reset-link`;
    expect(codeOf(await ann.send(path, post({})))).toEqual([403, 'proof_needed']);
    const made = await ann.send(path, post({ password }));
    expect([made.status, made.body.email]).toEqual([201, 'ben@example.com']);
    const { token } = made.body;
    const looked = await send(service, '/v1/reset-link', post({ token }));
    expect(looked.body).toMatchObject({ email: 'ben@example.com', removes_second_factors: false });
    const session = await signedIn(service, 'ben@example.com');
    const notices = (await session.send('/v1/session')).body.notices;
    expect(notices).toMatchObject([{ kind: 'reset-link-made' }]);
    const use = (next: string) => send(service, '/v1/reset-link/use', post({ token, password: next }));
    const weak = await use('short');
    expect([weak.status, weak.body.errors[0].pointer]).toEqual([400, '/password']);
    expect((await use(another)).status).toBe(204);
    expect(codeOf(await use(another))).toEqual([404, 'link_not_valid']);
    expect((await session.send('/v1/session')).status).toBe(401);
    expect((await ben.send('/v1/session')).status).toBe(401);
    const audit = JSON.stringify((await ann.send('/v1/audit')).body);
    expect(audit).toContain('password-reset');
    expect(audit).not.toContain(token);
  });

  test('has the same refusal for a guess, an empty token and a link of another kind', async () => {
    const { service, ann } = await scene();
    const invited = await ann.send(
      '/v1/invitations',
      post({ email: 'x@example.com', name: 'X', roles: ['auditor'] }),
    );
    const answers = [];
    for (const token of ['', 'guess', invited.body.token, 'A'.repeat(43)]) {
      for (const [path, body] of [
        ['/v1/reset-link', { token }],
        ['/v1/reset-link/use', { token, password: another }],
      ] as const) {
        const { status, body: answer } = await send(service, path, post(body));
        answers.push(JSON.stringify([status, answer.type, answer.detail]));
      }
    }
    expect(new Set(answers)).toEqual(
      new Set([JSON.stringify([404, 'urn:writ:error:link_not_valid', 'ask an admin for a new link'])]),
    );
  });

  test('can be tried only a limited number of times', async () => {
    const { service } = await scene();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        send(service, '/v1/reset-link', post({ token: `guess ${i}` })).then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(31);
    expect(statuses).toContain(429);
  });

  test('is refused to an admin with only a token', async () => {
    const { ben, service } = await scene();
    const admin = (
      await createDirectory(service.store.documents, Date.now).people.findByName('ann@example.com')
    )?.value;
    if (admin === undefined) throw new Error('nobody');
    const boss = await personWith(service, admin, { email: 'zoe@example.com', roles: ['admin'] });
    const refused = await boss.send(`/v1/people/${ben.person.id}/reset-link`, post({ password }));
    expect(codeOf(refused)).toEqual([403, 'session_needed']);
  });
});

test('an invitation shows who invites whom to which role, and stays valid', async () => {
  const { service, ann } = await scene();
  const draft = { email: 'cleo@example.com', name: 'Cleo', roles: ['approver'], groups: ['finance'] };
  const { token } = (await ann.send('/v1/invitations', post(draft))).body;
  for (let i = 0; i < 2; i++) {
    const { body } = await send(service, '/v1/invitations/preview', post({ token }));
    expect(body).toMatchObject({ ...draft, invited_by: 'Ann' });
  }
  expect((await send(service, '/v1/invitations/accept', post({ token, password }))).status).toBe(201);
  expect(codeOf(await send(service, '/v1/invitations/preview', post({ token })))).toEqual([
    404,
    'link_not_valid',
  ]);
});

test('recovery codes are created with one-time codes, are counted, and prove a change once', async () => {
  const nowMs = Date.now();
  const service = await startService({ clock: () => nowMs });
  await firstAdmin(service);
  const ann = await signedIn(service, 'ann@example.com');
  const { secret } = (await ann.send('/v1/session/totp', { method: 'POST' })).body;
  const confirmed = await ann.send(
    '/v1/session/totp/confirm',
    post({ secret, code: totpAt(secret, nowMs), password }),
  );
  const codes: readonly string[] = confirmed.body.recovery_codes;
  expect(codes).toHaveLength(10);
  const left = async () => (await ann.send('/v1/session/recovery-codes')).body.remaining;
  expect(await left()).toBe(10);
  const make = (code?: string) =>
    ann.send('/v1/session/recovery-codes', post({ password, ...(code === undefined ? {} : { code }) }));
  expect(codeOf(await make())).toEqual([401, 'code_needed']);
  const made = await make(codes[0]);
  expect([made.status, made.body.recovery_codes.length]).toEqual([201, 10]);
  expect(codeOf(await make(codes[1]))).toEqual([401, 'wrong_credentials']);
  expect(await left()).toBe(10);
  expect((await signedIn(service, 'ann@example.com', made.body.recovery_codes[3])).headers.cookie).toMatch(
    /^writ_session=/,
  );
  expect(await left()).toBe(9);
});

describe('an admin', () => {
  test('sees the sessions of a person and their methods, and ends one or all', async () => {
    const { service, ben, ann } = await scene();
    const nowMs = Date.now();
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    const first = await signedIn(service, 'ben@example.com');
    await setUpCodes(service, ben.person, { secret, clock: () => nowMs - 60_000 });
    const second = await signedIn(service, 'ben@example.com', totpAt(secret, nowMs));
    const path = `/v1/people/${ben.person.id}/sessions`;
    const { items } = (await ann.send(path)).body;
    expect(items.map(({ method }: { method: string }) => method).toSorted()).toEqual([
      'password',
      'password-and-code',
    ]);
    expect(items.every(({ is_current: isThisOne }: { is_current: boolean }) => !isThisOne)).toBe(true);
    const withCode = items.find(({ method }: { method: string }) => method === 'password-and-code');
    expect((await ann.send(`${path}/${withCode.id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await second.send('/v1/session')).status).toBe(401);
    expect((await first.send('/v1/session')).status).toBe(200);
    expect((await ann.send(path, { method: 'DELETE' })).status).toBe(204);
    expect((await first.send('/v1/session')).status).toBe(401);
    // Ending another person's sessions leaves Ben's token and his sign-in untouched.
    expect((await ben.send('/v1/session')).status).toBe(200);
    const whats = (await ann.send('/v1/audit')).body.items.map(({ what }: { what: string }) => what);
    expect(whats).toEqual(expect.arrayContaining(['session-ended', 'sessions-ended']));
    expect((await ann.send('/v1/people/nobody/sessions')).status).toBe(404);
    expect((await ann.send('/v1/people/nobody/sessions', { method: 'DELETE' })).status).toBe(404);
  });

  test('ends sessions of others, and nobody else may', async () => {
    const { service, ben } = await scene();
    const session = await signedIn(service, 'ben@example.com');
    const path = `/v1/people/${ben.person.id}/sessions`;
    expect(codeOf(await session.send(path))).toEqual([403, 'not_allowed']);
    expect(codeOf(await session.send(path, { method: 'DELETE' }))).toEqual([403, 'not_allowed']);
  });
});
