// Reading the policies as texts, trying them, and explaining requests, over HTTP: who may, and what the
// replies are. Nothing is recorded, nothing outside of the set is served, and a failed thread harms no
// decision.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../../../src/service/people/person.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { allowBody, authorize, policyText, type Service, shareService, startService } from './service.ts';

const shared = shareService();
let admin: Person;
let auditor: Client;

beforeAll(async () => {
  const service = shared();
  admin = await firstAdmin(service);
  auditor = await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
});

async function auditorOf(service: Service): Promise<Client> {
  return await personWith(service, await firstAdmin(service), {
    email: 'eve@example.com',
    roles: ['auditor'],
  });
}

function attempt(body: unknown, client: Client = auditor) {
  return client.send('/v1/policies/try', { method: 'POST', body });
}

const allowed = { action_key: 'demo.allow', payload: {} };

/** The id of a new request for an action. */
async function requestOf(service: Service, action: string, payload: object = {}): Promise<string> {
  const reply = await authorize(service, { body: JSON.stringify({ action_key: action, payload }) });
  return ((await reply.json()) as { readonly request_id: string }).request_id;
}

describe('the files of the active policies', () => {
  test('are listed with their text, and the places of policies and rules', async () => {
    const { digest } = shared().policies.state();
    const files = await auditor.send('/v1/policies/files');
    const bytes = Buffer.byteLength(policyText);
    expect(files.body).toEqual({ digest, items: [{ path: 'demo.policy', kind: 'policy', bytes }] });
    const file = await auditor.send('/v1/policies/file?path=demo.policy');
    expect(file.body).toEqual({
      path: 'demo.policy',
      text: policyText,
      is_complete: true,
      digest,
      policies: [
        {
          name: 'demo',
          line: 4,
          doc: null,
          rules: ['most', 'one', 'one_more', 'another', 'base_risk'].map((name, at) => ({
            id: `demo/${name}`,
            line: 5 + at,
            end_line: 5 + at,
          })),
        },
      ],
    });
  });

  test.each(['nothing.policy', '../writ.db', '/etc/passwd', '../policies/demo.policy', 'demo.policy/', ''])(
    'are all that there is: %s',
    async (path) => {
      const reply = await auditor.send(`/v1/policies/file?path=${encodeURIComponent(path)}`);
      expect([reply.status, reply.body.type]).toEqual([404, 'urn:writ:error:not_found']);
    },
  );

  test('must be named', async () => {
    expect((await auditor.send('/v1/policies/file')).body.type).toBe('urn:writ:error:invalid_query');
    for (const address of ['files', 'file?path=demo.policy']) {
      const reply = await auditor.send(`/v1/policies/${address}${address === 'files' ? '?' : '&'}set=failed`);
      expect([reply.status, reply.body.detail]).toEqual([404, 'no such failed policy set']);
    }
  });

  test('include list files, and stay unchanged after a failed reload, whose texts are returned as well', async () => {
    const service = await startService();
    const client = await auditorOf(service);
    const folder = dirname(service.policyFile);
    const withList = `${policyText}list known from "known.txt"\nlet is_known = "a" in known\n`;
    writeFileSync(join(folder, 'known.txt'), 'a\nb\n');
    writeFileSync(service.policyFile, withList);
    await service.policies.reload();
    const text = async (query: string) => (await client.send(`/v1/policies/file?path=${query}`)).body.text;
    expect(await text('known.txt')).toBe('a\nb\n');
    writeFileSync(join(folder, 'known.txt'), 'c\n');
    writeFileSync(service.policyFile, withList.replace('to finance', 'to fnance'));
    await service.policies.reload();
    const { body } = await client.send('/v1/policies');
    expect(body.state).toMatchObject({
      status: 'stale',
      failure: {
        cause: 'policies',
        diagnostics: [
          {
            code: 'unknown-name',
            severity: 'error',
            file: 'demo.policy',
            help: 'did you mean `finance`',
            start: { line: 7, column: 24 },
            end: { line: 7, column: 30 },
            message: expect.any(String),
          },
        ],
      },
    });
    expect(await text('demo.policy')).toBe(withList);
    expect(await text('known.txt')).toBe('a\nb\n');
    expect(await text('demo.policy&set=failed')).toContain('to fnance');
    expect(await text('known.txt&set=failed')).toBe('c\n');
    const failed = await client.send('/v1/policies/files?set=failed');
    expect(failed.body).toMatchObject({
      digest: null,
      items: [{ path: 'demo.policy' }, { path: 'known.txt' }],
    });
    rmSync(folder, { recursive: true });
    await service.policies.reload();
    const gone = await client.send('/v1/policies');
    expect(gone.body.state.failure.diagnostics[0].code).toBe('directory-unreadable');
    expect(JSON.stringify(gone.body)).not.toContain(folder);
    expect(await text('demo.policy')).toBe(withList);
    const nothing = await client.send('/v1/policies/file?path=demo.policy&set=failed');
    expect(nothing.status).toBe(404);
  });
});

describe('a try', () => {
  test('decides a request by the active policies, and by edited files; nothing is recorded', async () => {
    const before = await auditor.send('/v1/requests?limit=200');
    const active = await attempt({ request: allowed });
    expect(active.status).toBe(200);
    expect(active.body).toMatchObject({
      issues: [],
      digested: [],
      diagnostics: [{ code: 'allow-wildcard', severity: 'warning' }],
      decision: {
        decision: 'ALLOW',
        reason: 'the demo says demo.allow',
        matched_policy: 'demo',
        rule: 'demo/most',
        risk_score: 7,
        status: 'auto_approved',
        message: 'It would be granted for 10m.',
        requires: null,
        change: null,
      },
    });
    const laid = await attempt({
      files: [{ path: 'demo.policy', text: policyText.replace('allow most', 'shadow allow most') }],
      request: allowed,
    });
    expect(laid.body.decision).toMatchObject({
      decision: 'DENY',
      rule: null,
      matched_policy: 'default_deny',
    });
    expect((await auditor.send('/v1/requests?limit=200')).body).toEqual(before.body);
    expect(await (await authorize(shared())).json()).toMatchObject({ decision: 'ALLOW' });
    expect(existsSync(join(dirname(shared().policyFile), 'new.policy'))).toBe(false);
  });

  test('has the same trace as a real request', async () => {
    const id = await requestOf(shared(), 'demo.escalate');
    const { body } = await auditor.send(`/v1/requests/${id}`);
    const { agent } = body;
    const given = await attempt({ request: { action_key: 'demo.escalate', payload: {}, agent } });
    expect(given.body.decision.trace).toEqual(body.trace);
    expect(given.body.decision.requires).toEqual(body.requires);
    const recorded = await attempt({ request_id: id });
    expect(recorded.body.decision).toMatchObject({
      decision: body.decision,
      reason: body.reason,
      trace: body.trace,
      risk_score: body.risk_score,
      requires: { approvals: [{ group: 'finance', needs: 1, given: 0 }], step_up: false },
    });
  });

  test('returns the places of errors', async () => {
    const broken = { path: 'demo.policy', text: policyText.replace('to finance', 'to fnance') };
    const { body } = await attempt({ files: [broken], request: allowed });
    expect(body).toMatchObject({
      decision: null,
      diagnostics: [
        {
          file: 'demo.policy',
          line: 7,
          column: 24,
          end_line: 7,
          end_column: 30,
          severity: 'error',
          fix: { edits: [{ line: 7, text: 'finance' }] },
        },
      ],
    });
    const unknown = await attempt({ request: { action_key: 'demo.alow', payload: {} } });
    expect(unknown.body).toMatchObject({
      decision: { decision: 'DENY', matched_policy: 'undeclared_action' },
      issues: [{ pointer: '/action_key', help: 'did you mean `demo.allow`' }],
    });
  });

  test.each([
    [{ files: [{ path: '../demo.policy', text: '' }] }, '/files/0/path'],
    [{ files: [{ path: '/etc/passwd', text: '' }] }, '/files/0/path'],
    [{ files: [1, 2].map(() => ({ path: 'a.policy', text: '' })) }, '/files/1/path'],
    [{ request: allowed, request_id: 'x' }, '/request_id'],
    [{ request: { ...allowed, agent: { risk_tier: 'mild' } } }, '/request/agent/risk_tier'],
    [{ request: { ...allowed, extra: 1 } }, '/request/extra'],
  ])('takes no body that is not one: %j', async (body, pointer) => {
    const reply = await attempt(body);
    expect([reply.status, reply.body.errors?.[0].pointer]).toEqual([400, pointer]);
  });

  test('accepts files up to a maximum size', async () => {
    const sized = (bytes: number) => ({ files: [{ path: 'a.policy', text: `#${' '.repeat(bytes)}\n` }] });
    expect((await attempt(sized(500 * 1024))).status).toBe(200);
    const { status, body } = await attempt(sized(512 * 1024));
    expect([status, body.type]).toEqual([400, 'urn:writ:error:body_too_large']);
  });

  test('of a recorded request is only for people who may see it', async () => {
    const service = shared();
    const people = await Promise.all([
      personWith(service, admin, { email: 'fin@example.com', roles: ['approver'], groups: ['finance'] }),
      personWith(service, admin, { email: 'ops@example.com', roles: ['owner'] }),
    ]);
    const escalated = await requestOf(service, 'demo.escalate');
    const other = await requestOf(service, 'demo.reauth');
    const [approver, owner] = people as [Client, Client];
    const statuses = async (client: Client, id: string) => [
      (await attempt({ request_id: id }, client)).body.type ?? 200,
      (await client.send(`/v1/requests/${id}/explain`)).body.type ?? 200,
      (await client.send(`/v1/requests/${id}/suggestions`)).body.type ?? 200,
      (await client.send(`/v1/requests/${id}`)).body.type ?? 200,
    ];
    const hidden = 'urn:writ:error:request_not_found';
    expect(await statuses(approver, escalated)).toEqual([200, 200, 200, 200]);
    expect(await statuses(approver, other)).toEqual([hidden, hidden, hidden, hidden]);
    expect(await statuses(owner, escalated)).toEqual([hidden, hidden, hidden, hidden]);
    expect(await statuses(auditor, other)).toEqual([200, 200, 200, 200]);
    expect(await statuses(auditor, 'no-such-id')).toEqual([hidden, hidden, hidden, hidden]);
  });
});

test('the vocabulary contains the language and the names of the set', async () => {
  const { body } = await auditor.send('/v1/policies/vocabulary');
  expect(body.names).toMatchObject({ policies: ['demo'], approvers: ['finance', 'owner'] });
  expect(body.actions.map(({ key }: { readonly key: string }) => key)).toContain('demo.allow');
  expect(body.keywords).toContain('escalate');
});

test('the first request is one that the set escalates, and each diagnostic has its page', async () => {
  const { body } = await auditor.send('/v1/policies/first-request');
  const tried = await attempt({ request: body.request });
  expect(tried.body).toMatchObject({ issues: [], decision: { decision: 'ESCALATE' } });

  const page = await auditor.send('/v1/diagnostics/unexpected-token');
  expect(page.body).toMatchObject({ code: 'unexpected-token' });
  expect(page.body.text).toMatch(/^# unexpected-token\n[\s\S]*## Prefer\n/);
  for (const code of [
    'no-such-code',
    'README',
    'constructor',
    '..%2F..%2Fpackage',
    '..%2Ferrors%2Fnot_found',
  ])
    expect((await auditor.send(`/v1/diagnostics/${code}`)).body.type).toBe('urn:writ:error:not_found');
});

describe('an explanation', () => {
  const keys = `action purse.pay { amount: integer, pin?: secret string }
policy pay on purse.pay {
  allow little
    when payload.amount <= 10
    because "Little"
}
`;

  test('names the rule and the smallest change, by the policies of the request and the active ones', async () => {
    const service = await startService();
    const client = await auditorOf(service);
    const file = join(dirname(service.policyFile), 'pay.policy');
    writeFileSync(file, keys);
    await service.policies.reload();
    const id = await requestOf(service, 'purse.pay', { amount: 11, pin: '1234' });
    const own = await client.send(`/v1/requests/${id}/explain`);
    expect(own.body).toEqual({
      decision: 'DENY',
      change: 'ALLOW if payload.amount <= 10',
      is_same_set: true,
      rule: null,
      conditions: conditions('false', 10),
    });
    expect(JSON.stringify(own.body)).not.toContain('1234');
    const tried = await client.send('/v1/policies/try', { method: 'POST', body: { request_id: id } });
    expect(tried.body).toMatchObject({
      digested: ['/payload/pin'],
      issues: [],
      decision: { decision: 'DENY' },
    });
    expect(JSON.stringify(tried.body)).not.toContain('1234');
    writeFileSync(file, keys.replace('<= 10', '<= 20'));
    await service.policies.reload();
    const now = await client.send(`/v1/requests/${id}/explain`);
    expect(now.body).toEqual({
      decision: 'ALLOW',
      change: 'DENY if payload.amount > 20',
      is_same_set: false,
      rule: {
        policy: 'pay',
        id: 'pay/little',
        file: 'pay.policy',
        line: 3,
        end_line: 5,
        text: 'allow little\n    when payload.amount <= 20\n    because "Little"',
      },
      conditions: conditions('true', 20),
    });
  });

  test('suggests changes that would allow it, with patches and without secrets', async () => {
    const service = await startService();
    const client = await auditorOf(service);
    const file = join(dirname(service.policyFile), 'pay.policy');
    writeFileSync(file, keys);
    await service.policies.reload();
    const id = await requestOf(service, 'purse.pay', { amount: 11, pin: '1234' });
    const { status, body } = await client.send(`/v1/requests/${id}/suggestions`);
    expect([status, body.decision.decision, body.goal, body.forbidden_by]).toEqual([
      200,
      'DENY',
      'ALLOW',
      [],
    ]);
    expect(JSON.stringify(body)).not.toContain('1234');
    const bound = body.suggestions.find(({ kind }: { readonly kind: string }) => kind === 'bound');
    expect(bound).toMatchObject({
      text: 'changes `10` to `11`',
      patch: expect.stringContaining('--- a/pay.policy\n+++ b/pay.policy\n'),
      decision: { decision: 'ALLOW', by: 'pay/little' },
      diff: { loosened: 1, stricter: 0, limits: [] },
      sentences: [{ subject: 'purse.pay' }],
    });
    expect(readFileSync(file, 'utf8')).toBe(keys);
    const granted = await requestOf(service, 'purse.pay', { amount: 1, pin: '1234' });
    const none = await client.send(`/v1/requests/${granted}/suggestions`);
    expect(none.body).toMatchObject({ decision: { decision: 'ALLOW' }, goal: null, suggestions: [] });
  });

  /**
   * The explained conditions of a rule that passes amounts up to `most`, for a request with the amount 11.
   */
  function conditions(truth: string, most: number): readonly object[] {
    const lines = [
      { depth: 0, text: `payload.amount <= ${most}`, value: truth, truth },
      { depth: 1, text: 'payload.amount', value: '11', truth: null },
    ];
    return [{ rule: 'pay/little', truth, lines }];
  }
});

describe('a thread that fails', () => {
  const script = new URL('../../analysis/playground/failing-playground.ts', import.meta.url);

  test.each(['hang', 'exit', 'memory', 'throw'])('%s: 503, and decisions continue', async (fault) => {
    const service = await startService({
      playground: { script, timeoutMs: fault === 'hang' ? 3_000 : 60_000, memoryMegabytes: 192 },
    });
    const client = await auditorOf(service);
    const files = [{ path: 'fault.policy', text: `# fault: ${fault}\nlist faults = ["${fault}"]\n` }];
    const failing = attempt({ files, request: allowed }, client);
    let isOver = false;
    void failing.then(() => {
      isOver = true;
    });
    const decisions: string[] = [];
    while (!isOver) {
      const reply = await authorize(service, { body: allowBody });
      decisions.push(((await reply.json()) as { readonly decision: string }).decision);
    }
    const { status, body } = await failing;
    expect([status, body.type]).toEqual([503, 'urn:writ:error:playground_failed']);
    expect(JSON.stringify(body)).not.toContain('.ts');
    expect(decisions.length).toBeGreaterThan(1);
    expect(new Set(decisions)).toEqual(new Set(['ALLOW']));
    expect((await attempt({ request: allowed }, client)).body.decision.decision).toBe('ALLOW');
    expect(service.log.some((line) => line.includes('the playground did not answer'))).toBe(true);
  });

  test('refuses an earlier waiting try of the same person: 429', async () => {
    const service = await startService({ playground: { script } });
    const client = await auditorOf(service);
    const slow = attempt(
      { files: [{ path: 'f.policy', text: '# fault: slow\nlist faults = ["slow"]\n' }] },
      client,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waiting = attempt({ request: allowed }, client);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const latest = attempt({ request: allowed }, client);
    const replies = await Promise.all([slow, waiting, latest]);
    expect(replies.map(({ status }) => status)).toEqual([200, 429, 200]);
    expect(replies[1]?.headers.get('retry-after')).toBe('1');
    expect(replies[1]?.body.type).toBe('urn:writ:error:playground_busy');
  });
});
