// SCIM: an identity provider sends its users and groups, as Okta and Entra ID do, and a person whom it
// removes loses access.

import { describe, expect, test } from 'vitest';
import { createDirectory, type Directory } from '../../../src/service/people/directory.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { startSession } from '../../../src/service/people/sessions.ts';
import { type Answer, firstAdmin, password, personWith, send, signedIn } from './person-client.ts';
import { type Service, shareService, startService } from './service.ts';
import { ssoSettings, startSsoService, Visitor } from './sso-service.ts';
import { codeOf } from './written-policies.ts';

const scimToken = 'a token that nobody guesses, and long';
const sso = { ...ssoSettings('https://id.example.com'), scimToken: scimToken.replaceAll(' ', '-') };
const shared = shareService({ sso });

/** Sends a SCIM request as an identity provider does. */
async function scim(
  service: Pick<Service, 'url'>,
  line: string,
  body?: unknown,
  token = sso.scimToken,
): Promise<Answer> {
  const [method = '', path = ''] = line.split(/ (.*)/);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
  const answer = await send(service, `/scim/v2${path}`, { method, body, headers });
  if (answer.body !== undefined)
    expect(answer.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
  return { ...answer, body: answer.body === undefined ? undefined : JSON.parse(answer.body) };
}

const users = 'urn:ietf:params:scim:schemas:core:2.0:User';
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

const patch = (...Operations: readonly object[]) => ({ schemas: [patchOp], Operations });

function directoryOf({ store }: Pick<Service, 'store'>): Directory {
  return createDirectory(store.documents, Date.now);
}

async function personOf(service: Pick<Service, 'store'>, email: string): Promise<Person | null> {
  return (await directoryOf(service).people.findByName(email))?.value ?? null;
}

let count = 0;

/** Adds a user with a new address. */
async function addUser(service: Service, changes: object = {}) {
  const userName = `user${++count}@example.com`;
  const answer = await scim(service, 'POST /Users', { schemas: [users], userName, active: true, ...changes });
  expect(answer.status).toBe(201);
  return { id: String(answer.body.id), userName, body: answer.body };
}

/** Sets the members of the group with this name; returns the group's id. */
async function setGroup(service: Service, displayName: string, ids: readonly string[]): Promise<string> {
  const filter = encodeURIComponent(`displayName eq "${displayName}"`);
  const { body } = await scim(service, `GET /Groups?filter=${filter}`);
  const members = ids.map((value) => ({ value }));
  const id = body.Resources[0]?.id;
  if (id === undefined) return (await scim(service, 'POST /Groups', { displayName, members })).body.id;
  await scim(service, `PUT /Groups/${id}`, { displayName, members });
  return id;
}

describe('as Okta sends it', () => {
  test('a person is assigned, added to a group, removed and restored', async () => {
    const service = shared();
    const filter = encodeURIComponent('userName eq "olga@example.com"');
    expect((await scim(service, `GET /Users?filter=${filter}&startIndex=1&count=100`)).body).toMatchObject({
      totalResults: 0,
      Resources: [],
    });
    const sent = {
      schemas: [users],
      userName: 'olga@example.com',
      name: { givenName: 'Olga', familyName: 'Orlova' },
      emails: [{ primary: true, value: 'olga@example.com', type: 'work' }],
      displayName: 'Olga Orlova',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    };
    const added = await scim(service, 'POST /Users', sent);
    expect(added.status).toBe(201);
    const { id } = added.body;
    expect(added.headers.get('location')).toBe(added.body.meta.location);
    const { locale: _, password: __, ...kept } = sent;
    expect(added.body).toMatchObject(kept);
    expect(JSON.stringify(added.body)).not.toContain('1mz050nq');
    // Olga is in no group that is mapped to roles, so she is not a person of the service.
    expect(await personOf(service, 'olga@example.com')).toBeNull();
    const group = await setGroup(service, 'payments', []);
    const members = [{ value: id, display: 'olga@example.com' }];
    const into = patch({ op: 'add', path: 'members', value: members });
    expect((await scim(service, `PATCH /Groups/${group}`, into)).body.members).toMatchObject([{ value: id }]);
    const olga = await personOf(service, 'olga@example.com');
    expect(olga).toMatchObject({
      name: 'Olga Orlova',
      roles: ['approver'],
      groups: ['finance'],
      status: 'active',
      passwordHash: null,
    });
    expect((await scim(service, `GET /Users/${id}`)).body.groups).toMatchObject([{ display: 'payments' }]);

    const out = await scim(service, `PATCH /Users/${id}`, patch({ op: 'replace', value: { active: false } }));
    expect([out.status, out.body.active]).toEqual([200, false]);
    expect(await personOf(service, 'olga@example.com')).toMatchObject({ id: olga?.id, status: 'disabled' });
    await scim(service, `PUT /Users/${id}`, sent);
    expect(await personOf(service, 'olga@example.com')).toMatchObject({ id: olga?.id, status: 'active' });
    await scim(service, `PATCH /Groups/${group}`, patch({ op: 'remove', path: `members[value eq "${id}"]` }));
    expect(await personOf(service, 'olga@example.com')).toMatchObject({ status: 'disabled' });
    const records = (await service.store.chain.segment(0, 1_000)).records;
    expect(JSON.stringify(records)).toContain('group-changed');
  });
});

describe('as Entra ID sends it', () => {
  test('a person is changed by paths, with booleans as texts', async () => {
    const service = shared();
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const { id } = await addUser(service, {
      schemas: [users, enterprise],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      emails: [{ primary: true, type: 'work', value: 'emil@example.com' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    });
    const changed = await scim(
      service,
      `PATCH /Users/${id}`,
      patch(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'e@example.com' },
        { op: 'Replace', path: 'name.familyName', value: 'Ek' },
        { op: 'Add', path: `${users}:displayName`, value: 'Emil Ek' },
        { op: 'Add', path: `${enterprise}:department`, value: 'Sales' },
        { op: 'Replace', path: 'active', value: 'False' },
        { op: 'Replace', value: { 'name.givenName': 'Emil', externalId: 'e1' } },
      ),
    );
    expect(changed.body).toMatchObject({
      externalId: 'e1',
      displayName: 'Emil Ek',
      name: { givenName: 'Emil', familyName: 'Ek' },
      emails: [{ value: 'e@example.com' }],
      active: false,
    });
    const filter = encodeURIComponent('externalId eq "e1"');
    const found = await scim(service, `GET /Users?filter=${filter}&attributes=userName`);
    expect(found.body.Resources).toEqual([{ schemas: [users], id, userName: changed.body.userName }]);
  });

  test('groups are returned without their members, and members are added and removed', async () => {
    const service = shared();
    const [one, two] = [await addUser(service), await addUser(service)];
    const group = (await scim(service, 'POST /Groups', { displayName: 'everybody' })).body.id;
    const filter = encodeURIComponent('displayName eq "everybody"');
    const told = await scim(service, `GET /Groups?excludedAttributes=members&filter=${filter}`);
    expect(told.body.Resources).toMatchObject([{ id: group, displayName: 'everybody' }]);
    expect(told.body.Resources[0]).not.toHaveProperty('members');
    const value = [{ value: one.id }, { value: two.id }];
    await scim(service, `PATCH /Groups/${group}`, patch({ op: 'Add', path: 'members', value }));
    expect(await personOf(service, one.userName)).toMatchObject({ roles: ['auditor'] });
    const without = patch({ op: 'Remove', path: 'members', value: [{ value: one.id }] });
    expect((await scim(service, `PATCH /Groups/${group}`, without)).body.members).toHaveLength(1);
    expect(await personOf(service, one.userName)).toMatchObject({ status: 'disabled' });
    // No role is mapped to the new name, so the members lose their roles.
    await scim(
      service,
      `PATCH /Groups/${group}`,
      patch({ op: 'Replace', path: 'displayName', value: 'others' }),
    );
    expect(await personOf(service, two.userName)).toMatchObject({ status: 'disabled' });
    await scim(
      service,
      `PATCH /Groups/${group}`,
      patch({ op: 'Replace', value: { displayName: 'everybody' } }),
    );
    expect(await personOf(service, two.userName)).toMatchObject({ status: 'active' });
    expect((await scim(service, `DELETE /Groups/${group}`)).status).toBe(204);
    expect(await personOf(service, two.userName)).toMatchObject({ status: 'disabled' });
  });
});

describe('whoever is taken out is out', () => {
  test('at once: their sessions end, and they are the same person after their return', async () => {
    const service = shared();
    const { id, userName } = await addUser(service);
    await setGroup(service, 'payments', [id]);
    const person = await personOf(service, userName);
    if (person === null) throw new Error('nobody');
    const directory = directoryOf(service);
    await startSession({ directory }, person, { address: '127.0.0.1', way: 'single-sign-on' });
    expect(await directory.sessions.list({ parent: person.id, countMax: 9 })).toHaveLength(1);
    expect((await scim(service, `DELETE /Users/${id}`)).status).toBe(204);
    expect(await directory.sessions.list({ parent: person.id, countMax: 9 })).toEqual([]);
    for (const line of ['GET', 'DELETE', 'PUT', 'PATCH'].map((method) => `${method} /Users/${id}`)) {
      const body = line.startsWith('PATCH') ? patch({ op: 'add', path: 'x', value: 1 }) : { userName };
      expect((await scim(service, line, line.startsWith('P') ? body : undefined)).status).toBe(404);
    }
    const filter = encodeURIComponent('displayName eq "payments"');
    expect((await scim(service, `GET /Groups?filter=${filter}`)).body.Resources[0].members).toEqual([]);
    const again = await scim(service, 'POST /Users', { userName: userName.toUpperCase() });
    expect(again.status).toBe(201);
    await setGroup(service, 'payments', [again.body.id]);
    expect(await personOf(service, userName)).toMatchObject({ id: person.id, status: 'active' });
  });

  test('from two groups at the same moment', async () => {
    const service = shared();
    const { id, userName } = await addUser(service);
    const groups = [await setGroup(service, 'payments', [id]), await setGroup(service, 'everybody', [id])];
    expect(await personOf(service, userName)).toMatchObject({ roles: ['approver', 'auditor'] });
    const answers = await Promise.all(
      groups.map((group) =>
        scim(service, `PATCH /Groups/${group}`, patch({ op: 'remove', path: `members[value eq "${id}"]` })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await personOf(service, userName)).toMatchObject({ status: 'disabled' });
  });
});

describe('what stands here', () => {
  test('an existing account is taken over with its password, except an account of an admin', async () => {
    const service = await startService({ sso });
    const ann = await firstAdmin(service);
    const { person } = await personWith(service, ann, { email: 'leo@example.com', roles: ['operator'] });
    const refused = await scim(service, 'POST /Users', { userName: 'ann@example.com' });
    expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness']);
    const { body } = await scim(service, 'POST /Users', { userName: 'leo@example.com' });
    // Until the provider puts Leo into a mapped group, he keeps his old roles.
    expect(await personOf(service, 'leo@example.com')).toMatchObject({ roles: ['operator'] });
    await setGroup(service, 'everybody', [body.id]);
    const leo = await personOf(service, 'leo@example.com');
    expect(leo).toMatchObject({ id: person.id, roles: ['auditor'], passwordHash: null });
    const signIn = { method: 'POST', body: { email: 'leo@example.com', password } };
    expect(codeOf(await send(service, '/v1/session', signIn))).toEqual([401, 'wrong_credentials']);
    // A change of groups does not enable a person whom an admin has disabled.
    const admin = await signedIn(service, 'ann@example.com');
    await admin.send(`/v1/people/${person.id}`, { method: 'PATCH', body: { status: 'disabled' } });
    await setGroup(service, 'payments', [body.id]);
    expect(await personOf(service, 'leo@example.com')).toMatchObject({
      roles: ['approver', 'auditor'],
      status: 'disabled',
    });
  });

  test('one active admin remains', async () => {
    const service = await startService({ sso });
    const [one, two] = [await addUser(service), await addUser(service)];
    const group = await setGroup(service, 'writ-admins', [one.id, two.id]);
    expect(await personOf(service, one.userName)).toMatchObject({ roles: ['admin'] });
    expect((await scim(service, `DELETE /Groups/${group}`)).status).toBe(409);
    expect((await scim(service, `DELETE /Users/${one.id}`)).status).toBe(204);
    const last = await scim(
      service,
      `PATCH /Users/${two.id}`,
      patch({ op: 'replace', value: { active: false } }),
    );
    expect([last.status, last.body.detail]).toEqual([409, 'this would leave no active admin']);
    expect(await personOf(service, two.userName)).toMatchObject({ status: 'active' });
  });
});

describe('what is not taken', () => {
  const token = sso.scimToken;
  test.each([
    ['no token', ''],
    ['another token', 'x'.repeat(token.length)],
    ['a part of it', token.slice(0, -1)],
    ['more than it', `${token}x`],
    ['null', 'null'],
  ])('with %s nothing', async (_, given) => {
    for (const line of ['GET /Users', 'POST /Users', 'GET /ServiceProviderConfig', 'DELETE /Groups/x']) {
      const answer = await scim(
        shared(),
        line,
        line.startsWith('POST') ? { userName: 'x@y.example' } : undefined,
        given,
      );
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(answer.body).toMatchObject({ status: '401' });
    }
    expect(await personOf(shared(), 'x@y.example')).toBeNull();
  });

  test('without a configured token every token is refused', async () => {
    const service = await startService();
    for (const given of ['null', '', 'undefined', token])
      expect((await scim(service, 'GET /Users', undefined, given)).status).toBe(401);
  });

  test.each([
    ['POST /Users', {}, 400, 'invalidValue'],
    ['POST /Users', [], 400, 'invalidSyntax'],
    ['POST /Users', { userName: 'no address' }, 400, 'invalidValue'],
    ['POST /Users', { userName: 7 }, 400, 'invalidValue'],
    ['POST /Users', { userName: 'a@example.com', active: 'maybe' }, 400, 'invalidValue'],
    ['POST /Users', { userName: 'a@example.com', emails: ['x\ud800'] }, 400, 'invalidSyntax'],
    ['POST /Groups', { members: [] }, 400, 'invalidValue'],
    ['POST /Groups', { displayName: 'x', members: [{ value: 'nobody' }] }, 400, 'invalidValue'],
    ['POST /Groups', { displayName: 'x', members: [{}] }, 400, 'invalidValue'],
    ['GET /Users?filter=userName%20sw%20%22a%22', undefined, 400, 'invalidFilter'],
    ['GET /Users?filter=password%20eq%20%22a%22', undefined, 400, 'invalidFilter'],
    ['GET /Groups?filter=userName%20eq%20%22a%22', undefined, 400, 'invalidFilter'],
    ['GET /Users?count=many', undefined, 400, 'invalidValue'],
    ['PATCH /Users/x', { Operations: [] }, 400, 'invalidSyntax'],
    ['PATCH /Users/x', patch({ op: 'move', path: 'active' }), 400, 'invalidSyntax'],
    ['PATCH /Users/x', patch({ op: 'remove' }), 400, 'invalidPath'],
    ['PATCH /Users/x', patch({ op: 'add', path: '[]', value: 1 }), 400, 'invalidPath'],
    ['PATCH /Users/x', patch({ op: 'replace', path: 'active', value: true }), 404, undefined],
    ['DELETE /Groups/x', undefined, 404, undefined],
  ] as const)('%s %j', async (line, body, status, scimType) => {
    const answer = await scim(shared(), line, body);
    expect([answer.status, answer.body.scimType]).toEqual([status, scimType]);
    expect(answer.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
  });

  test('a duplicate name in any case, and a partially valid change', async () => {
    const service = shared();
    const { id, userName } = await addUser(service);
    const twice = await scim(service, 'POST /Users', { userName: userName.toUpperCase() });
    expect([twice.status, twice.body.scimType]).toEqual([409, 'uniqueness']);
    const other = await addUser(service);
    const renamed = patch({ op: 'replace', path: 'userName', value: other.userName });
    expect((await scim(service, `PATCH /Users/${id}`, renamed)).status).toBe(409);
    const half = patch(
      { op: 'replace', path: 'displayName', value: 'Half' },
      { op: 'remove', path: 'userName' },
    );
    expect((await scim(service, `PATCH /Users/${id}`, half)).status).toBe(400);
    expect((await scim(service, `GET /Users/${id}`)).body).not.toHaveProperty('displayName');
    const name = { displayName: 'Twice' };
    expect((await scim(service, 'POST /Groups', name)).status).toBe(201);
    expect((await scim(service, 'POST /Groups', { displayName: 'TWICE' })).status).toBe(409);
  });
});

test('describes the supported parts of SCIM, and returns pages', async () => {
  const service = shared();
  expect((await scim(service, 'GET /ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
  });
  const schemas = (await scim(service, 'GET /Schemas')).body.Resources;
  expect(schemas.map(({ name }: { name: string }) => name)).toEqual(['User', 'Group']);
  expect((await scim(service, 'GET /ResourceTypes')).body.totalResults).toBe(2);
  await addUser(service);
  await addUser(service);
  const all = (await scim(service, 'GET /Users?count=200')).body;
  const second = (await scim(service, 'GET /Users?startIndex=2&count=1')).body;
  expect(second).toMatchObject({ totalResults: all.totalResults, startIndex: 2, itemsPerPage: 1 });
  expect(second.Resources).toEqual([all.Resources[1]]);
  expect((await scim(service, 'GET /Users?count=0')).body.Resources).toEqual([]);
});

describe('sign-ins of the provider', () => {
  test('are open to provisioned people, with the groups of SCIM, by the id in both', async () => {
    const { service, oidc } = await startSsoService({ scimToken: sso.scimToken });
    const account = { email: 'ben@example.com', name: 'Ben', groups: ['writ-admins'] };
    oidc.accounts.set('ben', account);
    oidc.accounts.set('mallory', { ...account, email_verified: true });
    const visitor = new Visitor();
    expect(await visitor.signIn(service, 'ben')).toBe('/?sso=not-provisioned');
    expect(await personOf(service, 'ben@example.com')).toBeNull();
    const user = { userName: 'ben@example.com', externalId: 'ben' };
    const { id } = (await scim(service, 'POST /Users', user)).body;
    expect(await visitor.signIn(service, 'ben')).toBe('/?sso=no-role');
    await setGroup(service, 'payments', [id]);
    expect(await visitor.signIn(service, 'ben')).toBe('/requests');
    expect((await visitor.session(service)).body.roles).toEqual(['approver']);
    // Roles that an admin adds to those of the groups last until the next check.
    const { people, change } = directoryOf(service);
    const ben = await people.findByName('ben@example.com');
    if (ben === null) throw new Error('nobody');
    const more = { ...ben.value, roles: ['approver', 'auditor'] as const };
    const record = { who: 'test', what: 'person-changed', subject: 'x', before: null, after: null };
    await change([people.put(more, ben.version)], record);
    await visitor.signIn(service, 'ben');
    expect((await visitor.session(service)).body.roles).toEqual(['approver']);
    // Another subject with the same address is another person.
    expect(await new Visitor().signIn(service, 'mallory')).toBe('/?sso=address-taken');
    await scim(service, `PATCH /Users/${id}`, patch({ op: 'replace', value: { active: false } }));
    expect((await visitor.session(service)).status).toBe(401);
    expect(await visitor.signIn(service, 'ben')).toBe('/?sso=disabled');
  });

  test('are linked by address only if it is verified', async () => {
    const { service, oidc } = await startSsoService({ scimToken: sso.scimToken });
    const { id } = (await scim(service, 'POST /Users', { userName: 'ben@example.com' })).body;
    await setGroup(service, 'payments', [id]);
    oidc.accounts.set('ben', { email: 'ben@example.com' });
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=not-provisioned');
    oidc.accounts.set('ben', { email: 'ben@example.com', email_verified: true });
    expect(await new Visitor().signIn(service, 'ben')).toBe('/requests');
  });
});
