// People over HTTP: how they sign in, stay signed in and sign out, and that only the dashboard's own pages
// can act for them.

import { describe, expect, test } from 'vitest';
import { createSetUpLink, invite } from '../../../src/service/people/access.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { digestOf } from '../../../src/service/people/secrets.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import {
  client,
  cookieOf,
  firstAdmin,
  password,
  personWith,
  send,
  signedIn,
  tokenClient,
} from './person-client.ts';
import { startService } from './service.ts';
import { usePolicies } from './written-policies.ts';

describe('the first admin', () => {
  test('signs up by the link of the first start, which works once', async () => {
    const service = await startService();
    const directory = createDirectory(service.store.documents, Date.now);
    const token = await createSetUpLink(directory);
    const body = { token, email: 'ann@example.com', name: 'Ann', password };
    const wrong = await send(service, '/v1/setup', { method: 'POST', body: { ...body, token: 'guess' } });
    expect([wrong.status, wrong.body.type]).toEqual([404, 'urn:writ:error:link_not_valid']);
    const weak = await send(service, '/v1/setup', { method: 'POST', body: { ...body, password: 'ann' } });
    expect([weak.status, weak.body.errors[0].pointer]).toEqual([400, '/password']);
    const made = await send(service, '/v1/setup', { method: 'POST', body });
    expect([made.status, made.body.roles]).toEqual([201, ['admin']]);
    expect((await send(service, '/v1/setup', { method: 'POST', body })).status).toBe(404);
  });
});

describe('a session', () => {
  test('is a cookie that scripts and other sites cannot read', async () => {
    const service = await startService({ publicUrl: 'https://writ.example.com' });
    await firstAdmin(service);
    const body = { email: 'ann@example.com', password };
    const answer = await send(service, '/v1/session', { method: 'POST', body });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^writ_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
      expect.stringMatching(
        /^writ_device=[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=34560000$/,
      ),
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('needs its CSRF token for a change, but not for a read', async () => {
    const service = await startService();
    await firstAdmin(service);
    const { headers } = await signedIn(service, 'ann@example.com');
    const other = await signedIn(service, 'ann@example.com');
    const cookie = headers.cookie ?? '';
    const look = await send(service, '/v1/session', { headers: { cookie } });
    expect([look.status, look.body.person.email]).toEqual([200, 'ann@example.com']);
    const draft = { method: 'POST', body: { name: 'ci', roles: ['admin'], days: 1, password } };
    const token = headers['x-csrf-token'] ?? '';
    for (const wrong of [undefined, '', 'guess', other.headers['x-csrf-token'] ?? '']) {
      const sent = { cookie, ...(wrong === undefined ? {} : { 'x-csrf-token': wrong }) };
      const refused = await send(service, '/v1/tokens', { ...draft, headers: sent });
      expect([refused.status, refused.body.type]).toEqual([403, 'urn:writ:error:cross_site_request']);
    }
    const made = await send(service, '/v1/tokens', { ...draft, headers: { cookie, 'x-csrf-token': token } });
    expect(made.status).toBe(201);
  });

  test('that the browser already had is ended, whoever set its cookie', async () => {
    const service = await startService();
    await firstAdmin(service);
    const planted = await signedIn(service, 'ann@example.com');
    const body = { email: 'ann@example.com', password };
    const answer = await send(service, '/v1/session', { method: 'POST', body, headers: planted.headers });
    expect(cookieOf(answer)).not.toBe(planted.headers.cookie);
    expect((await planted.send('/v1/session')).status).toBe(401);
    expect((await send(service, '/v1/session', { headers: { cookie: cookieOf(answer) } })).status).toBe(200);
  });

  test('ends with signing out, and all sessions end with a new password', async () => {
    const service = await startService();
    await firstAdmin(service);
    const [first, second, third] = [
      await signedIn(service, 'ann@example.com'),
      await signedIn(service, 'ann@example.com'),
      await signedIn(service, 'ann@example.com'),
    ];
    const out = await first.send('/v1/session', { method: 'DELETE' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await first.send('/v1/session')).status).toBe(401);
    const body = { password, new_password: 'another horse battery' };
    const changed = await second.send('/v1/session/password', { method: 'POST', body });
    expect(changed.status).toBe(200);
    expect((await third.send('/v1/session')).status).toBe(401);
    const now = await send(service, '/v1/session', { headers: { cookie: cookieOf(changed) } });
    expect(now.status).toBe(200);
  });

  test.each([
    ['two cookies', { cookie: 'writ_session=a; writ_session=b' }],
    ['a cookie of nobody', { cookie: 'writ_session=abc' }],
    ['an agent key', { authorization: `Bearer writ_${'0'.repeat(46)}` }],
    ['a token of nobody', { authorization: `Bearer writp_${'0'.repeat(46)}` }],
    ['nothing', {}],
  ])('is not made of %s', async (_, headers) => {
    const service = await startService();
    const answer = await send(service, '/v1/session', { headers: headers as Record<string, string> });
    expect([answer.status, answer.body.type]).toEqual([401, 'urn:writ:error:not_signed_in']);
  });

  test('is delayed after five failed sign-ins', async () => {
    const service = await startService();
    await firstAdmin(service);
    const attempt = (guess: string) =>
      send(service, '/v1/session', { method: 'POST', body: { email: 'ann@example.com', password: guess } });
    for (let i = 0; i < 5; i++) expect((await attempt('wrong wrong wrong')).status).toBe(401);
    const answer = await attempt(password);
    expect([answer.status, answer.body.type]).toEqual([429, 'urn:writ:error:too_many_attempts']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('accepts a one-time code once', async () => {
    const nowMs = Date.now();
    const service = await startService({ clock: () => nowMs });
    await firstAdmin(service);
    const ann = await signedIn(service, 'ann@example.com');
    const { secret } = (await ann.send('/v1/session/totp', { method: 'POST' })).body;
    const confirm = (code: string) =>
      ann.send('/v1/session/totp/confirm', { method: 'POST', body: { secret, code, password } });
    expect((await confirm('000000')).body.errors).toEqual([
      { pointer: '/code', detail: 'this is not the code that the app shows now' },
    ]);
    expect((await confirm(totpAt(secret, nowMs))).status).toBe(200);
    const signIn = (code?: string) => {
      const body = { email: 'ann@example.com', password, ...(code === undefined ? {} : { code }) };
      return send(service, '/v1/session', { method: 'POST', body });
    };
    expect((await signIn()).body.type).toBe('urn:writ:error:code_needed');
    // The code of the set-up is used up; the next code, half a minute ahead, is good once.
    expect((await signIn(totpAt(secret, nowMs))).body).toMatchObject({
      status: 401,
      type: 'urn:writ:error:code_used',
      detail: 'this code was used before: wait for the next one',
    });
    const next = totpAt(secret, nowMs + 30_000);
    expect((await signIn(next)).status).toBe(200);
    expect((await signIn(next)).status).toBe(401);
  });
});

describe('access', () => {
  test('is requested, granted, and accepted by a link, once', async () => {
    const service = await startService();
    await firstAdmin(service);
    const ann = await signedIn(service, 'ann@example.com');
    const ask = { email: 'ben@example.com', name: 'Ben', reason: 'I approve payments' };
    const applied = await send(service, '/v1/applications', { method: 'POST', body: ask });
    expect(applied.status).toBe(201);
    const { items } = (await ann.send('/v1/applications')).body;
    expect(items).toMatchObject([{ id: applied.body.id, status: 'open', is_overdue: false, ...ask }]);
    const path = `/v1/applications/${applied.body.id}`;
    const body = { roles: ['approver'], groups: ['finance'] };
    const granted = await ann.send(`${path}/grant`, { method: 'POST', body });
    expect(granted.status).toBe(201);
    const again = await ann.send(`${path}/decline`, { method: 'POST', body: { reason: 'no' } });
    expect([again.status, again.body.type]).toEqual([409, 'urn:writ:error:conflict']);
    const accept = () =>
      send(service, '/v1/invitations/accept', {
        method: 'POST',
        body: { token: granted.body.token, password },
      });
    expect((await accept()).status).toBe(201);
    expect((await accept()).status).toBe(404);
    const ben = await signedIn(service, 'ben@example.com');
    expect((await ben.send('/v1/session')).body.roles).toEqual(['approver']);
    expect((await ben.send('/v1/people')).body.type).toBe('urn:writ:error:not_allowed');
  });

  test('ends at once when it is removed', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await signedIn(service, 'ann@example.com');
    const ben = await personWith(service, admin, { email: 'ben@example.com', roles: ['auditor'] });
    expect((await ben.send('/v1/people')).status).toBe(200);
    const change = { method: 'PATCH', body: { status: 'disabled' } };
    expect((await ann.send(`/v1/people/${ben.person.id}`, change)).status).toBe(200);
    expect((await ben.send('/v1/people')).status).toBe(401);
  });

  test('of the last admin cannot be removed', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await tokenClient(service, admin);
    const answer = await ann.send(`/v1/people/${admin.id}`, {
      method: 'PATCH',
      body: { roles: ['auditor'] },
    });
    expect([answer.status, answer.body.detail]).toEqual([403, 'this is the last active admin']);
  });
});

describe('a group that no active policy asks', () => {
  const warning = 'no active policy asks the group `finanse`; the policies ask finance';

  test('is named in an invitation, a granted application and a change, and assigned all the same', async () => {
    const service = await startService();
    const ann = await firstAdmin(service);
    const admin = await signedIn(service, 'ann@example.com');
    const given = { roles: ['approver'], groups: ['finance', 'finanse'] };
    const post = (path: string, body: object) => admin.send(path, { method: 'POST', body });
    const invited = await post('/v1/invitations', { email: 'ben@example.com', name: 'Ben', ...given });
    expect([invited.status, invited.body.warnings]).toEqual([201, [warning]]);
    const applied = await post('/v1/applications', { email: 'eve@example.com', name: 'Eve', reason: 'work' });
    const granted = await post(`/v1/applications/${applied.body.id}/grant`, given);
    expect([granted.status, granted.body.warnings]).toEqual([201, [warning]]);
    const draft = { email: 'cy@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const { person } = await personWith(service, ann, draft);
    const change = (body: object) => admin.send(`/v1/people/${person.id}`, { method: 'PATCH', body });
    const changed = await change(given);
    expect([changed.body.groups, changed.body.warnings]).toEqual([given.groups, [warning]]);
    expect((await change({ groups: ['finance'] })).body.warnings).toEqual([]);
    expect((await change({ name: 'Cy' })).body.warnings).toEqual([]);
  });

  test('is any group if no rule asks people', async () => {
    const service = await startService();
    await usePolicies(
      service,
      'action demo.allow { ... }\npolicy demo on demo.* { allow all because "all" }\n',
    );
    await firstAdmin(service);
    const admin = await signedIn(service, 'ann@example.com');
    const body = { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] };
    const invited = await admin.send('/v1/invitations', { method: 'POST', body });
    const told = 'no active policy asks the group `finance`; the policies ask no group for approval';
    expect(invited.body.warnings).toEqual([told]);
  });
});

describe('an invitation', () => {
  const post = (body: unknown) => ({ method: 'POST', body });

  test('is listed while its link is valid, without its token', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await tokenClient(service, admin);
    const before = createDirectory(service.store.documents, () => Date.now() - 7 * 24 * 3_600_000);
    const late = { email: 'late@example.com', name: 'Late', roles: ['auditor'], groups: [] } as const;
    expect((await invite(before, { person: admin, roles: admin.roles }, late)).kind).toBe('invited');
    const ben = { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] };
    const made = (await ann.send('/v1/invitations', post(ben))).body;
    const zoe = { email: 'zoe@example.com', name: 'Zoe', roles: ['auditor'] };
    const { token } = (await ann.send('/v1/invitations', post(zoe))).body;
    const first = await ann.send('/v1/invitations?limit=1');
    const rest = await ann.send(`/v1/invitations?limit=1&cursor=${first.body.next_cursor}`);
    const items = [...first.body.items, ...rest.body.items];
    expect(rest.body.next_cursor).toBeNull();
    expect(items).toEqual(
      expect.arrayContaining([
        { ...zoe, groups: [], id: expect.any(String), created_by: admin.id, ...times },
        { ...ben, id: made.id, created_by: admin.id, ends_at: made.ends_at, created_at: expect.any(String) },
      ]),
    );
    expect(items.map(({ created_at }) => created_at)).toEqual(
      items.map(({ created_at }) => created_at).toSorted((a, b) => b.localeCompare(a)),
    );
    for (const secret of [made.token, token]) {
      expect(JSON.stringify(items)).not.toContain(secret);
      expect(JSON.stringify(items)).not.toContain(digestOf(secret));
    }
    const accept = await send(service, '/v1/invitations/accept', post({ token, password }));
    expect(accept.status).toBe(201);
    expect((await ann.send('/v1/invitations')).body.items).toMatchObject([{ email: 'ben@example.com' }]);
  });

  const times = { created_at: expect.any(String), ends_at: expect.any(String) };

  test('that is withdrawn is not accepted, and the record says who withdrew it', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await tokenClient(service, admin);
    const ben = { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] };
    const { id, token } = (await ann.send('/v1/invitations', post(ben))).body;
    const withdraw = () => ann.send(`/v1/invitations/${id}`, { method: 'DELETE' });
    expect((await withdraw()).status).toBe(204);
    const again = await withdraw();
    expect([again.status, again.body.type]).toEqual([404, 'urn:writ:error:not_found']);
    const accept = await send(service, '/v1/invitations/accept', post({ token, password }));
    expect([accept.status, accept.body.type]).toEqual([404, 'urn:writ:error:link_not_valid']);
    expect((await ann.send('/v1/invitations')).body.items).toEqual([]);
    const { items } = (await ann.send('/v1/audit?subject=ben@example.com')).body;
    const { email, ...shown } = ben;
    const who = `ann@example.com (${admin.id})`;
    expect(items).toMatchObject([
      { what: 'invitation-withdrawn', who, subject: email, before: shown, after: null },
      { what: 'person-invited', who, subject: email, before: null, after: shown },
    ]);
    expect((await ann.send('/v1/invitations', post(ben))).status).toBe(201);
  });

  test('to a role that only an admin gives is sent in a session and withdrawn only by an admin', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await signedIn(service, 'ann@example.com');
    const otto = await personWith(service, admin, { email: 'otto@example.com', roles: ['operator'] });
    const draft = { email: 'ben@example.com', name: 'Ben' };
    for (const [standing, what] of [
      [{ roles: ['auditor', 'admin'] }, 'the role `admin`'],
      [{ roles: ['auditor', 'operator'] }, 'the role `operator`'],
      [{ roles: ['approver'], groups: ['finance'] }, 'the role `approver`'],
      [{ roles: ['owner'], groups: ['finance'] }, 'approval groups'],
    ] as const) {
      const asked = await otto.send('/v1/invitations', post({ ...draft, ...standing }));
      expect([asked.status, asked.body.detail]).toEqual([403, `only an admin can assign ${what}`]);
      const invited = await ann.send('/v1/invitations', post({ ...draft, ...standing }));
      const path = `/v1/invitations/${invited.body.id}`;
      const refused = await otto.send(path, { method: 'DELETE' });
      const detail = `only an admin can withdraw an invitation with ${what}`;
      expect([refused.status, refused.body.detail]).toEqual([403, detail]);
      expect((await otto.send('/v1/invitations')).body.items).toMatchObject([{ id: invited.body.id }]);
      expect((await ann.send(path, { method: 'DELETE' })).status).toBe(204);
    }
    const { id } = (await ann.send('/v1/invitations', post({ ...draft, roles: ['auditor'] }))).body;
    expect((await otto.send(`/v1/invitations/${id}`, { method: 'DELETE' })).status).toBe(204);
  });
});

describe('a body', () => {
  test.each([
    [{ email: 1, name: 'Ben', roles: ['auditor'] }, '/email'],
    [{ email: 'ben@example.com', name: 'Ben', roles: ['king'] }, '/roles/0'],
    [{ email: 'ben@example.com', name: 'Ben', roles: ['auditor'], is_admin: true }, '/is_admin'],
    [{ email: 'ben@example.com', roles: ['auditor'] }, '/name'],
    [[], ''],
  ])('%j is refused with its place', async (body, pointer) => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = await tokenClient(service, admin);
    const answer = await ann.send('/v1/invitations', { method: 'POST', body });
    expect([answer.status, answer.body.type]).toEqual([400, 'urn:writ:error:invalid_body']);
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });

  test('is validated strictly', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const { headers } = await tokenClient(service, admin);
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const twice = '{"email":"ben@example.com","email":"eve@example.com","name":"Ben","roles":["auditor"]}';
    const reply = await fetch(`${service.url}/v1/invitations`, { ...sent, body: twice });
    expect((await reply.json()) as unknown).toMatchObject({ type: 'urn:writ:error:invalid_json' });
  });
});

describe('a list', () => {
  test('continues after the last page, and refuses unknown parameters', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ann = client(service, (await tokenClient(service, admin)).headers);
    for (let i = 0; i < 4; i++) {
      await personWith(service, admin, { email: `p${i}@example.com`, roles: ['auditor'] });
    }
    const emails: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await ann.send(`/v1/people?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      emails.push(...body.items.map(({ email }: { email: string }) => email));
      cursor = body.next_cursor;
    }
    expect(emails.toSorted()).toEqual([
      'ann@example.com',
      'p0@example.com',
      'p1@example.com',
      'p2@example.com',
      'p3@example.com',
    ]);
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'page=2', 'limit=1&limit=2']) {
      const answer = await ann.send(`/v1/people?${query}`);
      expect([query, answer.status, answer.body.type]).toEqual([query, 400, 'urn:writ:error:invalid_query']);
    }
  });
});
