// The value of a secret, or of a payload that no declaration describes, is nowhere: a marker is sent through
// each way by which a call is refused or recorded, and looked for in whatever the service keeps, sends or shows.

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openTracing } from '../../../src/service/http/telemetry/tracing.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { makeWebhook, webhookEvents, webhookFormats } from '../../../src/service/webhooks/webhook.ts';
import { startHttpReceiver } from '../siem/receivers.ts';
import { siemSettings } from '../siem/stream.ts';
import { startReceiver } from '../webhooks/service.ts';
import { listening } from './listening.ts';
import { firstAdmin, personWith } from './person-client.ts';
import { authorize, problemOf, type Service, startService } from './service.ts';

const marker = 'hunter2MARKER';

const policies = `
approvers finance "Finance"
action login.do, login.ask "Sign {user} in" {
  user: string ..40, password: secret string 8..60, paid?: { amount: money(currency), currency: "USD" | "EUR" }
  keys?: [secret string ..60], inner?: { token: secret string ..60 }
}
policy logins on login.* {
  allow most when payload.user != "nobody" because "{payload.user} signs in"
  escalate asked to finance when action.key == "login.ask" because "{payload.user} asks"
}
`;

const good = { user: 'ann', password: `${marker}-good` };
const call = (action_key: string, payload: unknown, others: object = {}): string =>
  JSON.stringify({ action_key, payload, ...others });

interface Way {
  readonly name: string;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ways: readonly Way[] = [
  { name: 'a secret of a granted call', status: 200, body: call('login.do', good) },
  { name: 'a secret of a call that people see', status: 200, body: call('login.ask', good) },
  {
    name: 'secrets in lists and records',
    status: 200,
    body: call('login.do', { ...good, keys: [marker], inner: { token: marker } }),
  },
  { name: 'a misspelt action', status: 200, body: call('login.doo', { ...good, note: marker }) },
  { name: 'an action of no group', status: 200, body: call('what.ever', { k: [{ deep: marker }] }) },
  {
    name: 'a secret that is too long',
    status: 200,
    body: call('login.do', { ...good, password: marker.repeat(9) }),
  },
  { name: 'a secret of another type', status: 200, body: call('login.do', { ...good, password: [marker] }) },
  { name: 'a misspelt field', status: 200, body: call('login.do', { user: 'ann', pasword: marker }) },
  { name: 'an unknown field', status: 200, body: call('login.do', { ...good, other: { deep: [marker] } }) },
  {
    name: 'a record in place of a text',
    status: 200,
    body: call('login.do', { ...good, user: { pin: marker } }),
  },
  {
    name: 'an amount beside a secret',
    status: 200,
    body: call('login.do', { ...good, paid: { amount: 0.001, currency: 'USD' } }),
  },
  { name: 'a payload that is a text', status: 400, body: call('login.do', marker) },
  { name: 'an unknown field of the call', status: 400, body: call('login.do', good, { x: marker }) },
  { name: 'an unfit context', status: 400, body: call('login.do', good, { context: marker }) },
  {
    name: 'invalid JSON',
    status: 400,
    body: `{"action_key": "login.do", "payload": {"password": "${marker}" ${marker}}}`,
  },
  {
    name: 'JSON cut short',
    status: 400,
    body: `{"action_key": "login.do", "payload": {"password": "${marker}`,
  },
  {
    name: 'a name that stands twice',
    status: 400,
    body: `{"action_key": "login.do", "payload": {"password": "${marker}", "password": "${marker}"}}`,
  },
  {
    name: 'a number that would be changed',
    status: 400,
    body: `{"action_key": "login.do", "payload": {"password": "${marker}", "n": 1e999}}`,
  },
  {
    name: 'a lone surrogate',
    status: 400,
    body: `{"action_key": "login.do", "payload": {"password": "${marker}\\ud800"}}`,
  },
  {
    name: 'an oversize body',
    status: 400,
    body: call('login.do', { ...good, password: marker.repeat(40_000) }),
  },
  { name: 'a body of another kind', status: 400, body: marker, headers: { 'content-type': 'text/plain' } },
  { name: 'an encoded body', status: 400, body: marker, headers: { 'content-encoding': 'gzip' } },
  {
    name: 'a wrong key',
    status: 401,
    body: call('login.do', good),
    headers: { 'x-agent-api-key': `wak_${marker}` },
  },
  {
    name: 'a key that is used',
    status: 200,
    body: call('login.do', good),
    headers: { 'idempotency-key': 'k-1' },
  },
  {
    name: 'an idempotency mismatch',
    status: 400,
    body: call('login.do', { ...good, password: `${marker}-two` }),
    headers: { 'idempotency-key': 'k-1' },
  },
];

interface Places {
  readonly service: Service;
  /** What it has logged. */
  readonly lines: readonly string[];
  /** What left the service by webhooks, mail to chats, traces, and the stream to a SIEM. */
  readonly sent: () => Promise<string>;
  readonly get: (path: string) => Promise<string>;
}

async function places(): Promise<Places> {
  const spans: string[] = [];
  const collector = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    spans.push(body);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const tracing = openTracing({
    address: `${await listening(collector)}/v1/traces`,
    log: { warn: () => {} },
    exportTimeoutMs: 5_000,
  });
  const siem = await startHttpReceiver();
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const service = await startService({
    startsWith: policies,
    isInFile: true,
    tracing,
    areWebhooksPrivate: true,
    siem: siemSettings({
      url: siem.url,
      payloadFields: [
        'user',
        'password',
        'password.secret',
        'keys',
        'inner.token',
        'note',
        'secret',
        'pasword',
      ],
    }),
    log: { level: 'trace', stream },
  });
  const admin = await firstAdmin(service);
  const everybody = await personWith(service, admin, {
    email: 'all@example.com',
    roles: ['operator', 'approver', 'auditor'],
    groups: ['finance'],
  });
  const directory = createDirectory(service.store.documents, Date.now);
  const { masterKey } = service.store;
  const receiver = await startReceiver();
  const deps = { directory, masterKey, arePrivateAddressesAllowed: true };
  const actor = { person: admin, roles: admin.roles };
  for (const format of webhookFormats) {
    const draft = { url: receiver.url, events: webhookEvents, format };
    const made = await makeWebhook(deps, actor, draft as never);
    expect(made.kind).toBe('made');
  }
  const sent = async (): Promise<string> => {
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(webhookFormats.length), {
      timeout: 60_000,
    });
    await tracing.close();
    const streamed = () => siem.batches.map(({ body }) => body).join('\n');
    await vi.waitFor(() => expect(streamed()).toContain('idempotency_mismatch'), { timeout: 60_000 });
    expect(streamed()).toContain('"data":{"user":"ann"}');
    return [streamed(), ...receiver.received.map(({ body }) => body), ...spans].join('\n');
  };
  const get = async (path: string): Promise<string> => {
    const reply = await fetch(`${service.url}${path}`, { headers: everybody.headers });
    return `${path} ${reply.status} ${await reply.text()}`;
  };
  return { service, lines, sent, get };
}

const views = [
  ...['/v1/requests', '/v1/requests?limit=100', '/v1/approvals', '/v1/overview', '/v1/actions'],
  ...['/v1/requests/export', '/v1/audit/export', '/v1/audit/verify', '/v1/alerts', '/v1/policies/hits'],
  ...[
    '/v1/policies/first-request',
    '/v1/policies/summary/diff',
    '/v1/policies/vocabulary',
    '/metrics',
    '/readyz',
  ],
];

test('a withheld value appears nowhere that stores, sends or shows requests', {
  timeout: 120_000,
}, async () => {
  const { service, lines, sent, get } = await places();
  const ids: string[] = [];
  const errors: string[] = [];
  for (const { name, status, body, headers = {} } of ways) {
    const reply = await authorize(service, { body, headers });
    const text = await reply.clone().text();
    expect([name, reply.status, text.includes(marker) ? text : '']).toEqual([name, status, '']);
    if (reply.status === 200) ids.push(((await reply.json()) as { request_id: string }).request_id);
    else errors.push((await problemOf(reply)).code);
  }
  expect(new Set(errors).size).toBeGreaterThan(4);
  expect(ids.length).toBeGreaterThan(8);
  const shown = [
    ...(await Promise.all(views.map(get))),
    ...(await Promise.all(
      ids.flatMap((id) => ['', '/amounts', '/assignment'].map((end) => get(`/v1/requests/${id}${end}`))),
    )),
    await get(`/v1/agents/${service.agent.id}`),
    await get(`/v1/agents/${service.agent.id}/activity`),
    await get(`/v1/agents/${service.agent.id}/payload-profile?action=login.do`),
  ];
  // The views are there, and show the requests.
  expect(shown.filter((text) => / 200 /.test(text.slice(0, 120))).length).toBeGreaterThan(ids.length * 2);
  expect(shown.join('\n')).toContain('hmac-sha256:');
  expect(shown.filter((text) => text.includes(marker))).toEqual([]);
  const left = await sent();
  // The secret of the call that people see is in the record that they are told of.
  expect(left).toContain(ids[1]);
  expect(left).toContain('request.pending');
  expect(left).not.toContain(marker);
  expect(lines).not.toEqual([]);
  expect(lines.filter((line) => line.includes(marker))).toEqual([]);
  const folder = dirname((service.place as { readonly path: string }).path);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const stored = files.map((one) => [one.name, readFileSync(join(one.parentPath, one.name))] as const);
  expect(stored.some(([, bytes]) => bytes.includes('hmac-sha256:'))).toBe(true);
  expect(stored.filter(([, bytes]) => bytes.includes(marker)).map(([name]) => name)).toEqual([]);
});
