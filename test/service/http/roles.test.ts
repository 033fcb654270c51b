// Who may do what, over HTTP: every route of the OpenAPI document, for every role and every kind of
// credential, compared with the table that is written by hand. INVARIANT: a route without a cell in that
// table fails this test, and so does a cell that differs from the service.

import { beforeAll, describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import type { OpenApiDocument, OperationObject } from '../../../src/service/http/contract/openapi.ts';
import { type Grant, operations, type Role, roles } from '../../../src/service/people/operations.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { csrfToken, startSession } from '../../../src/service/people/sessions.ts';
import { standingCollection, standingId } from '../../../src/service/requests/approvals/standing-approval.ts';
import {
  accessByHand,
  type CredentialKind,
  credentialByHand,
  operationsByHand,
  rolesByHand,
} from './access-table.ts';
import {
  type Answer,
  type Client,
  client as clientOf,
  firstAdmin,
  password,
  personWith,
  signInDeps,
} from './person-client.ts';
import { authorize, policyText, type Service, shareService } from './service.ts';
import { usePolicies } from './written-policies.ts';

const shared = shareService({ openRequestsMax: 10_000 });

/** One more action, which asks the control owner; `demo.escalate` asks finance. */
beforeAll(() =>
  usePolicies(
    shared(),
    `${policyText.replace('demo.reauth {', 'demo.reauth, demo.owned {')}
policy owned on demo.owned { escalate by_owner to owner within 1h because "the control owner decides" }
`,
  ),
);

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** Routes that a person may call without being signed in; each has tests of its own. */
const publicRoutes = [
  'GET /.well-known/authzen-configuration',
  'GET /.well-known/jwks.json',
  'GET /healthz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /readyz',
  'GET /v1/log/checkpoint',
  'GET /v1/log/key',
  'GET /v1/sign-in',
  'POST /v1/applications',
  'POST /v1/invitations/accept',
  'POST /v1/invitations/preview',
  'POST /v1/passwords/check',
  'POST /v1/reset-link',
  'POST /v1/reset-link/use',
  'POST /v1/session',
  'POST /v1/session/passkey',
  'POST /v1/session/passkey-options',
  'POST /v1/setup',
];

const routes = new WeakMap<Service, Promise<readonly Route[]>>();

function routesOf(service: Service): Promise<readonly Route[]> {
  const known = routes.get(service) ?? readRoutes(service);
  routes.set(service, known);
  return known;
}

async function readRoutes({ url }: Service): Promise<readonly Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function accessOf({ operation }: Route): string {
  return String(operation['x-writ-access']);
}

/** A body that the document gives as an example. */
function bodyOf({ operation }: Route): unknown {
  const examples = Object(operation.requestBody).content?.['application/json']?.examples ?? {};
  return (Object.values(examples)[0] as { readonly value: unknown } | undefined)?.value;
}

function call(client: Pick<Client, 'send'>, route: Route, id = 'no-such-id') {
  const path = route.path.replace(/\{\w+\}/g, id);
  const body = bodyOf(route);
  // Without `group` the vote counts for any group that the person may answer for, or as control owner.
  return client.send(path, {
    method: route.method,
    body: body === undefined ? body : { ...body, group: undefined },
  });
}

test('without credentials every route but the public ones answers 401', async () => {
  const service = shared();
  const routes = await routesOf(service);
  const open: string[] = [];
  for (const route of routes) {
    const body = bodyOf(route);
    const { status } = await fetch(`${service.url}${route.path.replace(/\{\w+\}/g, 'no-such-id')}`, {
      method: route.method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (status !== 401) open.push(`${route.method} ${route.path}`);
  }
  // A sign-in with a wrong password and similar calls are refused with 401 as well, although they are public.
  expect(open.filter((name) => !publicRoutes.includes(name))).toEqual([]);
  const withoutSecurity = routes.filter(({ operation }) => (operation.security as unknown[]).length === 0);
  expect(withoutSecurity.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(publicRoutes);
});

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

test('the table of roles equals the one written by hand, in each cell', () => {
  expect(operations).toEqual(operationsByHand);
  expect(roles).toEqual(rolesByHand);
});

test('every route of people has the operation and the credential of the table by hand', async () => {
  const ofPeople = (await routesOf(shared())).filter(({ operation }) =>
    (operation.security as readonly object[]).some((one) => 'session' in one),
  );
  const found = ofPeople.map((route) => [
    nameOf(route),
    accessOf(route),
    route.operation['x-writ-credential'],
  ]);
  const expected = [...accessByHand].map(([route, access]) => [route, access, credentialOf(route)]);
  expect(found.toSorted()).toEqual(expected.toSorted());
  for (const { operation } of ofPeople) {
    const takesToken = (operation.security as readonly object[]).some((one) => 'personalToken' in one);
    expect(takesToken).toBe(operation['x-writ-credential'] === 'session-or-token');
  }
});

function credentialOf(route: string): CredentialKind {
  return credentialByHand.get(route) ?? 'session-or-token';
}

const kinds = ['none', 'agent key', 'token', 'session', 'proved session'] as const;

/** A client with one more session of this person, made without HTTP. */
async function sessionClient(service: Service, person: Person): Promise<Client> {
  const deps = signInDeps(service);
  const found = await deps.directory.people.find(person.id);
  const { secret, session } = await startSession(deps, found?.value ?? person, {
    address: '127.0.0.1',
    way: 'password',
  });
  const headers = { cookie: `writ_session=${secret}`, 'x-csrf-token': csrfToken(deps, session) };
  return clientOf(service, headers);
}

/** Bodies that change nothing when the route lets the caller through. */
const harmless: Readonly<Record<string, object>> = {
  'POST /v1/session/password': { new_password: 'short' },
  'POST /v1/tokens': { name: '\u202E', roles: [], days: 1 },
};

/** The fields that prove who the person is; a one-time code alone is no proof. */
const proofNames = ['password', 'passkey'];

function withoutProof(body: unknown): object {
  return Object.fromEntries(Object.entries(Object(body)).filter(([name]) => !proofNames.includes(name)));
}

/** Why the route refuses this kind of credential; null when it accepts it. */
function shut(route: Route, kind: (typeof kinds)[number], grant: Grant | 'signed-in'): string | null {
  const takesAgents = (route.operation.security as readonly object[]).some((one) => 'agentKey' in one);
  const credential = credentialOf(nameOf(route));
  if (kind === 'agent key') return takesAgents ? null : 'not_signed_in';
  if (kind === 'none') return takesAgents ? 'not_signed_in' : 'not_signed_in';
  if (kind === 'token' && credential !== 'session-or-token') return 'session_needed';
  if (grant === 'no') return 'not_allowed';
  return kind === 'session' && credential === 'proved-session' ? 'proof_needed' : null;
}

const doorCodes = [
  'not_signed_in',
  'missing_api_key',
  'session_needed',
  'proof_needed',
  'cross_site_request',
];

describe.each(rolesByHand)('each route and each kind of credential, for %s', (role) => {
  test.each(kinds)('%s', async (kind) => {
    const service = shared();
    const admin = (await firstAdmins.get(service)) ?? (await rememberAdmin(service));
    const groups = asksGroups(role) ? ['finance'] : [];
    const email = `${kind.replace(' ', '-')}-${role}@example.com`;
    const somebody = await personWith(service, admin, { email, roles: [role], groups });
    const wrong: unknown[] = [];
    for (const route of await routesOf(service)) {
      const access = accessByHand.get(nameOf(route));
      if (access === undefined) continue;
      const grant = access === 'signed-in' ? access : (operationsByHand[access]?.[role] ?? 'no');
      const expected = shut(route, kind, grant);
      // A stream without an end is tested elsewhere.
      if (route.path === '/v1/events' && expected === null) continue;
      const body = harmless[nameOf(route)] ?? withoutProof(bodyOf(route));
      const hasBody = route.operation.requestBody !== undefined;
      const answer = await (await clientFor(kind, somebody)).send(
        route.path.replace(/\{\w+\}/g, 'no-such-id'),
        {
          method: route.method,
          ...(hasBody
            ? { body: kind === 'proved session' && isProved(route) ? { ...body, password } : body }
            : {}),
        },
      );
      const code = String(answer.body?.type ?? '').replace('urn:writ:error:', '');
      const isShut = [...doorCodes, ...(expected === 'not_allowed' ? ['not_allowed'] : [])].includes(code);
      if (code === 'internal_error' || (isShut ? code : null) !== expected) {
        wrong.push([nameOf(route), code, expected]);
      }
    }
    expect(wrong).toEqual([]);
  });
});

function isProved(route: Route): boolean {
  return credentialOf(nameOf(route)) === 'proved-session';
}

async function clientFor(
  kind: (typeof kinds)[number],
  somebody: Client & { readonly person: Person },
): Promise<Client> {
  const service = shared();
  if (kind === 'none') return clientOf(service, {});
  if (kind === 'agent key') return clientOf(service, { 'x-agent-api-key': service.apiKey });
  return kind === 'token' ? somebody : await sessionClient(service, somebody.person);
}

describe.each(rolesByHand)('%s', (role: Role) => {
  let client: Client;
  const email = `only-${role}@example.com`;

  beforeAll(async () => {
    const service = shared();
    const admin = (await firstAdmins.get(service)) ?? (await rememberAdmin(service));
    client = await personWith(service, admin, {
      email,
      roles: [role],
      groups: asksGroups(role) ? ['finance'] : [],
    });
  });

  test.each(Object.keys(operationsByHand))('%s', async (name) => {
    const service = shared();
    const grant: Grant = operationsByHand[name]?.[role] ?? 'no';
    const routes = (await routesOf(service)).filter((route) => accessByHand.get(nameOf(route)) === name);
    for (const route of routes) {
      // The client has a token; the test above covers routes that accept no token.
      if (credentialOf(nameOf(route)) !== 'session-or-token') continue;
      const at = `${route.method} ${route.path}`;
      const own = await call(
        client,
        route,
        await subjectOf(route, { owner: email, action: asksGroups(role) ? 'demo.escalate' : 'demo.owned' }),
      );
      const other = await call(
        client,
        route,
        await subjectOf(route, { owner: 'ops', action: 'demo.reauth' }),
      );
      const codes = [own, other].map(({ body }) => String(body?.type ?? '').replace('urn:writ:error:', ''));
      expect([at, codes]).toEqual([at, expect.not.arrayContaining(['not_signed_in', 'internal_error'])]);
      const refused = codes.map((code) => code === 'not_allowed');
      const isHidden = ['not_allowed', 'not_found', 'request_not_found'].includes(codes[1] ?? '');
      switch (grant) {
        case 'no':
          expect([at, refused]).toEqual([at, [true, true]]);
          break;
        case 'yes':
          expect([at, refused]).toEqual([at, [false, false]]);
          break;
        case 'own':
          expect([at, refused[0], isHidden]).toEqual([at, false, isOfOne(route)]);
          expect([at, codes[0]]).toEqual([at, expect.not.stringMatching(/not_found$/)]);
          // Lists and counts leave out things that are not the person's own, so they return 200.
          if (!isOfOne(route) && !isFile(own))
            expect([at, own.body.items?.length ?? own.body.count]).toEqual([at, expect.any(Number)]);
      }
    }
  });
});

/**
 * Whether the role's own requests are those that ask its groups; otherwise they are those of its agents that
 * ask the control owner.
 */
function asksGroups(role: Role): boolean {
  return role === 'approver' || role === 'admin';
}

/**
 * Whether the reply is a file. A file also leaves out things that are not the person's own, which another
 * test checks.
 */
function isFile({ headers }: Answer): boolean {
  return headers.get('content-type')?.startsWith('application/jsonl') ?? false;
}

function isOfOne({ path }: Route): boolean {
  return path.includes('{id}');
}

const firstAdmins = new WeakMap<Service, ReturnType<typeof firstAdmin>>();

function rememberAdmin(service: Service): ReturnType<typeof firstAdmin> {
  const admin = firstAdmin(service);
  firstAdmins.set(service, admin);
  return admin;
}

let agents = 0;

/**
 * The id for the route's `{id}`: a new agent of this owner, or a request of such an agent. `demo.escalate`
 * asks finance.
 */
async function subjectOf(
  { path }: Route,
  { owner, action }: { readonly owner: string; readonly action: string },
): Promise<string> {
  const isAgent = path.startsWith('/v1/agents/{id}');
  const isDelegation = path.startsWith('/v1/delegations/{id}');
  const isStanding = path.startsWith('/v1/standing-approvals/{id}');
  const isPlan = path.startsWith('/v1/plans/{id}');
  const isOfAgent = isAgent || isDelegation || isStanding || isPlan || path.startsWith('/v1/requests/{id}');
  if (!isOfAgent) return 'no-such-id';
  const service = shared();
  agents += 1;
  const draft = { name: `agent-${agents}`, riskTier: 'low', controlOwner: owner, tags: [] };
  const added = await addAgent(service.store, draft);
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  if (isAgent) return added.agent.id;
  if (isDelegation) return await delegationOf(added.apiKey);
  if (isPlan) return await planOf(added.apiKey, action);
  const body = JSON.stringify({ action_key: action, payload: {} });
  const reply = await authorize(service, { key: added.apiKey, body });
  const { request_id: id } = (await reply.json()) as { readonly request_id: string };
  return isStanding ? await standingOf(added.agent.id, id, action) : id;
}

/** A standing approval of the request that nobody has given yet. */
async function standingOf(agentId: string, requestId: string, actionKey: string): Promise<string> {
  const { documents } = shared().store;
  const id = standingId(requestId, 'demo/one_more');
  const nowMs = Date.now();
  const value = { id, createdAtMs: nowMs, agentId, requestId, actionKey, rule: 'demo/one_more' } as const;
  const rest = { per: [], scope: 'scope', untilMs: nowMs + 3_600_000, revoked: null };
  await documents.write([standingCollection(documents).put({ ...value, ...rest }, 0)], null);
  return id;
}

async function planOf(apiKey: string, action: string): Promise<string> {
  const own = clientOf(shared(), { 'x-agent-api-key': apiKey });
  const body = { submit: true, steps: [{ action_key: action, payload: {} }] };
  return (await own.send('/v1/plans', { method: 'POST', body })).body.plan_id;
}

async function delegationOf(apiKey: string): Promise<string> {
  const until = new Date(Date.now() + 60_000).toISOString();
  const own = clientOf(shared(), { 'x-agent-api-key': apiKey });
  const body = { name: 'sub', actions: ['*'], until };
  return (await own.send('/v1/delegations', { method: 'POST', body })).body.delegation.id;
}
