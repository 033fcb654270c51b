// Who may do what, over HTTP: every route that the OpenAPI document names, for every role of the table. INVARIANT: a
// route without a cell in the table fails here, and so does one that lets anybody in without credentials.

import { beforeAll, describe, expect, test } from 'vitest';
import { addAgent } from '../../src/agents/registry.ts';
import { type Grant, type OperationName, operations, type Role, roles } from '../../src/people/operations.ts';
import type { OpenApiDocument, OperationObject } from '../../src/server/openapi.ts';
import { type Answer, type Client, firstAdmin, personWith } from './person-client.ts';
import { authorize, type Service, shareService } from './service.ts';

const shared = shareService({ openRequestsMax: 10_000 });

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** Whatever a person may reach without being signed in; each has checks of its own. */
const publicRoutes = [
  ...['GET /healthz', 'GET /metrics', 'GET /openapi.json', 'GET /readyz', 'POST /v1/applications'],
  ...['POST /v1/invitations/accept', 'POST /v1/session', 'POST /v1/session/passkey'],
  ...['POST /v1/session/passkey-options', 'POST /v1/setup'],
];

async function routesOf({ url }: Service): Promise<readonly Route[]> {
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
  return client.send(path, { method: route.method, body: bodyOf(route) });
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
  // Signing in with a wrong password, and the like, is 401 as well.
  expect(open.filter((name) => !publicRoutes.includes(name))).toEqual([]);
  const withoutSecurity = routes.filter(({ operation }) => (operation.security as unknown[]).length === 0);
  expect(withoutSecurity.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(publicRoutes);
});

test('every route of people names a row of the table, and every row has a route', async () => {
  const ofPeople = (await routesOf(shared())).filter(({ operation }) =>
    (operation.security as readonly object[]).some((one) => 'session' in one),
  );
  const named = new Set(ofPeople.map(accessOf));
  expect([...named].filter((name) => name !== 'signed-in' && !Object.hasOwn(operations, name))).toEqual([]);
  expect(Object.keys(operations).filter((name) => !named.has(name))).toEqual([]);
});

describe.each(roles)('%s', (role: Role) => {
  let client: Client;
  const email = `only-${role}@example.com`;

  beforeAll(async () => {
    const service = shared();
    const admin = (await firstAdmins.get(service)) ?? (await rememberAdmin(service));
    client = await personWith(service, admin, {
      ...{ email, roles: [role], groups: role === 'approver' || role === 'admin' ? ['finance'] : [] },
    });
  });

  test.each(Object.keys(operations) as OperationName[])('%s', { timeout: 60_000 }, async (name) => {
    const service = shared();
    const grant: Grant = operations[name][role];
    const routes = (await routesOf(service)).filter((route) => accessOf(route) === name);
    for (const route of routes) {
      const at = `${route.method} ${route.path}`;
      const own = await call(
        client,
        route,
        await subjectOf(route, { owner: email, action: 'demo.escalate' }),
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
          // A list leaves out what is not theirs.
          if (!isOfOne(route) && !isFile(own))
            expect([at, own.body.items.length]).toEqual([at, expect.any(Number)]);
      }
    }
  });
});

/** A file leaves out what is not theirs as well, which has a test of its own. */
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

/** A new agent of this owner, or a request of one, for the route's `{id}`. `demo.escalate` asks finance. */
async function subjectOf(
  { path }: Route,
  { owner, action }: { readonly owner: string; readonly action: string },
): Promise<string> {
  const isAgent = path.startsWith('/v1/agents/{id}');
  if (!isAgent && !path.startsWith('/v1/requests/{id}')) return 'no-such-id';
  const service = shared();
  agents += 1;
  const draft = { name: `agent-${agents}`, riskTier: 'low', controlOwner: owner, tags: [] };
  const added = await addAgent(service.store, draft);
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  if (isAgent) return added.agent.id;
  const body = JSON.stringify({ action_key: action, payload: {} });
  const reply = await authorize(service, { key: added.apiKey, body });
  return ((await reply.json()) as { readonly request_id: string }).request_id;
}
