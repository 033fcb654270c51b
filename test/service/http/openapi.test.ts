// GET /openapi.json: the document covers all routes, and its examples fit its own schemas. Requests made from
// the document, good and bad, get only replies that it announces.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OpenApiDocument, OperationObject } from '../../../src/service/http/contract/openapi.ts';
import type { JsonSchema } from '../../../src/service/http/contract/operation.ts';
import { problems } from '../../../src/service/http/contract/problem.ts';
import { tries } from '../../support/tries.ts';
import { mismatches, undocumentedIn } from './documented.ts';
import { type Service, sandboxToken, shareService } from './service.ts';
import { ssoSettings } from './sso-service.ts';

const scimToken = 's'.repeat(40);
const shared = shareService({ sso: { ...ssoSettings('https://id.example.com'), scimToken } });

async function documentOf(service: Service): Promise<OpenApiDocument> {
  const reply = await fetch(`${service.url}/openapi.json`);
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await reply.json()) as OpenApiDocument;
}

interface Found {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationObject;
}

function operationsOf(document: OpenApiDocument): readonly Found[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

const managed = [
  'delete /v1/people/{id}/totp',
  'delete /v1/session',
  'delete /v1/session/passkeys/{id}',
  'delete /v1/session/totp',
  'delete /v1/tokens/{id}',
  'get /v1/applications',
  'get /v1/people',
  'get /v1/people/{id}',
  'get /v1/plans',
  'get /v1/plans/{id}',
  'post /v1/plans',
  'post /v1/plans/{id}/votes',
  'post /v1/delegations',
  'get /v1/delegations',
  'get /v1/agents/{id}/delegations',
  'delete /v1/delegations/{id}',
  'get /v1/enforcement-points',
  'post /v1/enforcement-points',
  'get /v1/enforcement-points/{id}',
  'patch /v1/enforcement-points/{id}',
  'post /v1/enforcement-points/{id}/disable',
  'post /v1/enforcement-points/{id}/enable',
  'post /v1/enforcement-points/{id}/revoke',
  'get /v1/enforcement-points/{id}/keys',
  'post /v1/enforcement-points/{id}/keys',
  'get /v1/session',
  'get /v1/session/passkeys',
  'get /v1/tokens',
  'patch /v1/people/{id}',
  'post /v1/applications',
  'post /v1/applications/{id}/decline',
  'post /v1/applications/{id}/grant',
  'post /v1/invitations',
  'post /v1/invitations/accept',
  'post /v1/hooks/claude-code',
  'get /.well-known/authzen-configuration',
  'post /access/v1/evaluation',
  'post /access/v1/evaluations',
  'post /access/v1/requests',
  'post /access/v1/requests/{id}/cancel',
  'get /access/v1/requests/{id}',
  'post /access/v1/search/action',
  'get /v1/invitations',
  'delete /v1/invitations/{id}',
  'get /v1/sign-in',
  'post /v1/invitations/preview',
  'get /v1/people/{id}/sessions',
  'delete /v1/people/{id}/sessions',
  'delete /v1/people/{id}/sessions/{session}',
  'get /v1/chat-links',
  'post /v1/chat-links',
  'post /v1/chat-links/{id}/confirm',
  'delete /v1/chat-links/{id}',
  'get /v1/people/{id}/chat-links',
  'delete /v1/people/{id}/chat-links/{link}',
  'post /v1/people/{id}/reset-link',
  'post /v1/reset-link',
  'post /v1/reset-link/use',
  'get /v1/session/recovery-codes',
  'post /v1/session/recovery-codes',
  'delete /v1/session/notices/{id}',
  'get /v1/sessions',
  'delete /v1/sessions/{id}',
  'post /v1/session/proof/options',
  'post /v1/session',
  'post /v1/session/passkey',
  'post /v1/session/passkey-options',
  'post /v1/session/passkeys',
  'post /v1/session/passkeys/options',
  'post /v1/session/password',
  'post /v1/session/totp',
  'post /v1/session/totp/confirm',
  'post /v1/setup',
  'post /v1/tokens',
  'get /v1/actions',
  'get /v1/agents',
  'post /v1/agents',
  'get /v1/agents/{id}',
  'patch /v1/agents/{id}',
  'post /v1/agents/{id}/disable',
  'post /v1/agents/{id}/enable',
  'post /v1/agents/{id}/revoke',
  'get /v1/agents/{id}/keys',
  'post /v1/agents/{id}/keys',
  'post /v1/agents/{id}/signing',
  'get /v1/agents/{id}/identities',
  'post /v1/agents/{id}/identities',
  'delete /v1/agents/{id}/identities/{identity}',
  'get /v1/events',
  'get /v1/overview',
  'get /v1/policies/hits',
  'get /v1/policies',
  'post /v1/policies/reload',
  'get /v1/audit',
  'get /v1/audit/stream',
  'post /v1/audit/verify',
  'get /v1/policies/files',
  'get /v1/policies/file',
  'post /v1/policies/try',
  'post /v1/policies/diff',
  'get /v1/policies/diff',
  'get /v1/policies/summary',
  'get /v1/policies/summary/diff',
  'get /v1/policies/history',
  'get /v1/policies/state',
  'post /v1/policies/replay',
  'post /v1/policies/roll-back',
  'get /v1/policies/proposals',
  'post /v1/policies/proposals',
  'get /v1/policies/proposals/{id}',
  'post /v1/policies/proposals/{id}/accept',
  'post /v1/policies/proposals/{id}/reject',
  'post /v1/policies/proposals/{id}/withdraw',
  'get /v1/policies/vocabulary',
  'get /v1/policies/first-request',
  'get /v1/diagnostics/{code}',
  'get /v1/requests/{id}/explain',
  'get /v1/requests/{id}/suggestions',
  'get /v1/audit/export',
  'get /v1/log/proof',
  'get /v1/log/consistency',
  'get /v1/webhooks',
  'post /v1/webhooks',
  'get /v1/webhooks/{id}',
  'patch /v1/webhooks/{id}',
  'delete /v1/webhooks/{id}',
  'post /v1/webhooks/{id}/secret',
  'post /v1/webhooks/{id}/test',
  'get /v1/webhooks/{id}/deliveries',
  'get /v1/replicas',
  'get /v1/kill-switches',
  'post /v1/kill-switches',
  'post /v1/kill-switches/{id}/deactivate',
  'get /v1/requests/count',
  'get /v1/requests/export',
  'get /v1/agents/{id}/payload-profile',
  'get /v1/requests/{id}/amounts',
  'get /v1/agents/{id}/activity',
  'get /v1/requests',
  'post /v1/requests/{id}/outcome',
  'get /v1/approvals',
  'post /v1/approvals/votes',
  'get /v1/stand-ins',
  'post /v1/stand-ins',
  'post /v1/stand-ins/{id}/confirm',
  'delete /v1/stand-ins/{id}',
  'get /v1/standing-approvals',
  'get /v1/standing-approvals/{id}',
  'post /v1/standing-approvals/{id}/revoke',
  'get /v1/review-locks',
  'post /v1/requests/{id}/review-lock',
  'delete /v1/requests/{id}/review-lock',
  'get /v1/requests/{id}/assignment',
  'post /v1/requests/{id}/assignment',
  'delete /v1/requests/{id}/assignment',
  'post /v1/requests/{id}/snooze',
  'delete /v1/requests/{id}/snooze',
  'post /v1/requests/{id}/approve',
  'post /v1/requests/{id}/comments',
  'post /v1/requests/{id}/reject',
  'post /v1/requests/{id}/revoke-approval',
  'post /v1/requests/{id}/step-up',
  'post /v1/requests/{id}/step-up/options',
  'post /v1/agents/{id}/step-up',
  'post /v1/agents/{id}/step-up/options',
  'get /v1/alerts',
  'get /v1/alerts/active',
  'get /v1/alert-rules',
  'post /v1/alert-rules',
  'patch /v1/alert-rules/{id}',
  'delete /v1/alert-rules/{id}',
];

test('names each route once', async () => {
  const document = await documentOf(shared());
  expect(document.openapi).toBe('3.1.0');
  expect(
    operationsOf(document)
      .map(({ path, method }) => `${method} ${path}`)
      .sort(),
  ).toEqual(
    [
      'get /healthz',
      'post /v1/passwords/check',
      'put /v1/policies/draft',
      'get /v1/policies/draft',
      'get /v1/groups',
      'get /v1/audit/approvals/export',
      'get /v1/audit/approvals',
      'delete /v1/policies/draft',
      'get /metrics',
      'get /openapi.json',
      'get /readyz',
      'get /.well-known/jwks.json',
      'get /v1/receipt-keys',
      'post /v1/receipt-keys',
      'get /v1/requests/{id}',
      'get /v1/tables',
      'get /v1/tables/{name}',
      ...['get', 'put', 'delete'].map((method) => `${method} /v1/tables/{name}/{key}`),
      'get /v1/requests/{id}/receipt',
      'get /v1/requests/{id}/statement',
      ...['checkpoint', 'key'].map((name) => `get /v1/log/${name}`),
      'post /v1/outcomes',
      'post /v1/requests/{id}/withdraw',
      'post /plants',
      ...['ServiceProviderConfig', 'ResourceTypes', 'Schemas'].map((name) => `get /scim/v2/${name}`),
      ...['Users', 'Groups'].flatMap((name) => [
        ...['get', 'post'].map((method) => `${method} /scim/v2/${name}`),
        ...['get', 'put', 'patch', 'delete'].map((method) => `${method} /scim/v2/${name}/{id}`),
      ]),
      'post /v1/authorize',
      ...managed,
    ].sort(),
  );
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every error of the table is listed by a route, except those without one', async () => {
  const document = await documentOf(shared());
  const named = new Set(
    operationsOf(document).flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ content }) =>
        Object.keys(content['application/problem+json']?.examples ?? {}),
      ),
    ),
  );
  expect(Object.keys(problems).filter((code) => !named.has(code))).toEqual(['method_not_allowed']);
});

test('every example matches its schema, and every reference resolves', async () => {
  const document = await documentOf(shared());
  const faults = operationsOf(document).flatMap(({ operation, path }) =>
    Object.entries(operation.responses).flatMap(([status, { content, headers }]) => [
      ...Object.values(content).flatMap(({ schema, examples }) =>
        Object.values(examples).flatMap(({ value }) => mismatches(schema, value, document)),
      ),
      ...Object.entries(headers)
        .filter(([name]) => !Object.hasOwn(Object(document.components.headers), name))
        .map(([name]) => `${path} ${status} ${name}`),
    ]),
  );
  expect(faults).toEqual([]);
});

test('an undocumented reply is detected', async () => {
  const document = await documentOf(shared());
  const operation = document.paths['/healthz']?.get as OperationObject;
  const sent = (statusCode: number, headers: Record<string, string>, payload: string) =>
    undocumentedIn(document, operation, { reply: { statusCode, getHeaders: () => headers }, payload });
  const json = { 'content-type': 'application/json' };
  expect(sent(200, json, '{"status":"ok"}')).toEqual([]);
  expect(sent(202, json, '{"status":"ok"}')).toEqual(['the status']);
  expect(sent(200, { ...json, 'x-new': '1' }, '{"status":"ok"}')).toEqual(['x-new']);
  expect(sent(200, json, '{"status":"well"}')).toEqual(['/status is well']);
  expect(sent(200, json, '{}')).toEqual(['/status is missing']);
  expect(sent(200, { 'content-type': 'text/html' }, '')).toEqual(['the type text/html']);
});

describe('requests made from it', () => {
  interface Made {
    readonly url: string;
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
  }

  const printable = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  });

  /** A value that fits the parameter's schema, or a violation. */
  const headerValue = (example: unknown) =>
    fc.oneof(
      fc.constant(String(example)),
      printable.map((text) => text.trim()),
    );

  const credentials = (service: Service, path: string) =>
    path.startsWith('/scim/')
      ? fc.constantFrom({ authorization: `Bearer ${scimToken}` }, { authorization: 'Bearer wrong' })
      : credentialsOfOthers(service);

  const credentialsOfOthers = (service: Service) =>
    fc.constantFrom<Record<string, string>>(
      ...[{ 'x-agent-api-key': service.apiKey }, { authorization: `Bearer ${sandboxToken}` }],
      ...[{ 'x-agent-api-key': service.apiKey, authorization: `Bearer ${sandboxToken}` }],
      ...[{}, { 'x-agent-api-key': `writ_${'0'.repeat(46)}`, authorization: 'Bearer wrong' }],
    );

  /** A body that fits the schema, one with something wrong in it, or no JSON at all. */
  const bodyOf = (examples: readonly unknown[]) =>
    fc.oneof(
      fc.constantFrom(...examples).map((example) => JSON.stringify(example)),
      fc
        .constantFrom('demo.allow', 'demo.deny', 'demo.escalate', 'demo.reauth', 'no.such')
        .chain((action_key) =>
          fc
            .dictionary(fc.string(), fc.jsonValue())
            .map((payload) => JSON.stringify({ action_key, payload })),
        ),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .record({ action_key: fc.jsonValue(), payload: fc.jsonValue() })
        .map((value) => JSON.stringify(value)),
      fc.string(),
    );

  const requestOf = (service: Service, { path, method, operation }: Found): fc.Arbitrary<Made> => {
    const parameters = operation.parameters as readonly JsonSchema[];
    const headers = Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === 'header' && parameter.name !== 'Prefer')
        .map((parameter) => [String(parameter.name), headerValue(parameter.example)]),
    );
    const content = Object(operation.requestBody).content?.['application/json'];
    const examples = Object.values(Object(content?.examples)).map((example) => Object(example).value);
    return fc.record({
      url: fc
        .oneof(fc.constant('019a0000-0000-7000-8000-000000000000'), fc.webSegment(), fc.string())
        .map((id) => path.replace('{id}', encodeURIComponent(id.toWellFormed()))),
      method: fc.constant(method.toUpperCase()),
      headers: fc
        .tuple(
          fc.record(headers, { requiredKeys: [] }),
          credentials(service, path),
          fc.constantFrom('application/json', 'text/plain'),
        )
        .map(([own, credential, type]) => ({ ...own, ...credential, 'content-type': type })),
      body: content === undefined ? fc.constant(null) : bodyOf(examples),
    });
  };

  /**
   * Whether only people may call the operation: the random credentials then get no further than
   * authentication.
   */
  const isForPeople = ({ operation }: Found) =>
    (operation.security as readonly object[]).length > 0 &&
    (operation.security as readonly object[]).every((one) => 'session' in one || 'personalToken' in one);

  test('and with violations get only documented replies', { timeout: 300_000 }, async () => {
    const service = shared();
    const document = await documentOf(service);
    const seen = new Set<number>();
    for (const found of operationsOf(document)) {
      const reads = found.operation.requestBody === undefined ? tries(15) : tries(60);
      const runs = isForPeople(found) || found.path.startsWith('/scim/') ? tries(6) : reads;
      await fc.assert(
        fc.asyncProperty(requestOf(service, found), async ({ url, method, headers, body }) => {
          const reply = await fetch(`${service.url}${url}`, { method, headers, body });
          const payload = await reply.text();
          seen.add(reply.status);
          const faults = undocumentedIn(document, found.operation, {
            reply: { statusCode: reply.status, getHeaders: () => Object.fromEntries(reply.headers) },
            payload,
          });
          // An id made of dots is a path step, so the address leads to another route.
          const isOther = new URL(url, service.url).pathname !== url;
          expect(isOther ? [] : faults).toEqual([]);
        }),
        { numRuns: runs },
      );
    }
    // The random requests reach good and bad replies alike.
    expect([...seen].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([200, 400, 401, 404]));
  });
});
