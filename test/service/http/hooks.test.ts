// POST /v1/hooks/claude-code: a tool call of Claude Code is decided like any other request. A call that is
// refused, stopped or fails gets a `deny`.

import { beforeAll, describe, expect, test, vi } from 'vitest';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { metricsOf, seriesValue } from './exposition.ts';
import { type Client, firstAdmin, personWith, signedIn } from './person-client.ts';
import { recordOf, type Service, shareService, wrongKey } from './service.ts';
import { codeOf, give, usePolicies } from './written-policies.ts';

const shared = shareService({ openRequestsMax: 3 });
let service: Service;
let ben: Client;
let admin: Client;

const policies = `
approvers finance "Finance"
action claude_code.Bash { command: string }
action files.read_file { path: string }
policy shell on claude_code.Bash {
  allow most
  deny removal when payload.command in ["rm"] because "nothing is removed"
  escalate pushes to finance when payload.command in ["push", "later", "more", "over"]
}
policy files on files.* { allow all }
`;

beforeAll(async () => {
  service = shared();
  const first = await firstAdmin(service);
  await personWith(service, first, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  ben = await signedIn(service, 'ben@example.com');
  admin = await signedIn(service, 'ann@example.com');
  await usePolicies(service, policies);
});

let calls = 0;

interface Sent {
  readonly query?: string;
  readonly event?: object;
  readonly key?: string;
  readonly agent?: string;
}

/** Sends a tool call to the hook. Each call has an id of its own unless `event` names one. */
async function hook(
  command: string,
  { query = '?wait=0', event = {}, key = service.apiKey, agent }: Sent = {},
) {
  calls += 1;
  const reply = await fetch(`${service.url}/v1/hooks/claude-code${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-agent-api-key': key,
      ...(agent === undefined ? {} : { 'x-writ-agent': agent }),
    },
    body: JSON.stringify({
      session_id: 's-1',
      transcript_path: '/tmp/t',
      cwd: '/work',
      permission_mode: 'bypassPermissions',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: `toolu_${calls}`,
      ...event,
    }),
  });
  const body = await reply.json();
  const { permissionDecision: word, permissionDecisionReason: reason } = body.hookSpecificOutput ?? {};
  return { status: reply.status, body, word, reason };
}

const requestIn = (reason: string): string => /requests\/([0-9a-f-]{36})/.exec(reason)?.[1] ?? '';

test('a grant leaves the call to the rules of the host or skips them; a refusal denies it', async () => {
  expect((await hook('ls')).body).toEqual({});
  expect((await hook('ls', { query: '?allow=skip' })).word).toBe('allow');
  const { word, reason } = await hook('rm');
  expect([word, reason]).toEqual([
    'deny',
    expect.stringContaining('policy shell: nothing is removed. This is a decision'),
  ]);
  const file = { tool_name: 'mcp__files__read_file', tool_input: { path: 'a' } };
  expect((await hook('', { event: file })).body).toEqual({});
  for (const tool_name of ['Unheard', 'mcp__claude_code__Bash', 'mcp__a.b__c'])
    expect((await hook('ls', { event: { tool_name } })).word).toBe('deny');
});

test('a deferred run continues after the approval, once', async () => {
  const event = { tool_use_id: 'toolu_later' };
  const query = '?escalate=defer&wait=0';
  const { word, reason } = await hook('later', { query, event });
  const id = requestIn(reason);
  expect(word).toBe('defer');
  expect((await hook('later', { query, event })).word).toBe('defer');
  expect(codeOf(await give(ben, id, 'approve'))).toEqual([200, 'approved']);
  const others = await Promise.all([hook('later', { query, event }), hook('later', { query })]);
  // The same call may be answered again; another call with the same arguments is a new request.
  expect(others.filter(({ body }) => Object.keys(body).length === 0)).toHaveLength(1);
  expect((await service.store.requests.find(id))?.status).toBe('consumed');
  await hook('later', { event: { ...event, hook_event_name: 'PostToolUse', tool_response: {} } });
});

test('holds the reply while people decide', async () => {
  const asked = hook('push', { query: '?wait=20' });
  const id = await vi.waitFor(async () => {
    const [latest] = (await ben.send('/v1/requests?limit=1')).body.items;
    const { body } = await ben.send(`/v1/requests/${latest.request_id}`);
    expect(body).toMatchObject({ status: 'pending', payload: { command: 'push' } });
    return latest.request_id as string;
  });
  expect(codeOf(await give(ben, id, 'approve'))).toEqual([200, 'approved']);
  expect((await asked).body).toEqual({});
});

test('the event after the tool is the outcome of its request', async () => {
  const event = { tool_use_id: 'toolu_ran' };
  await hook('ls', { event });
  const after = { ...event, hook_event_name: 'PostToolUse', tool_response: {} };
  expect((await hook('ls', { event: after })).body).toEqual({});
  const row = await service.store.requests.findByIdempotencyKey({
    agentId: service.agent.id,
    key: 's-1/toolu_ran',
    nowMs: Date.now(),
  });
  expect(row?.status).toBe('consumed');
  const unknown = { event: { hook_event_name: 'PostToolUse' } };
  expect((await hook('ls', unknown)).body).toEqual({});
});

test('a failure is a `deny`, and an event that is not for a hook is an error', async () => {
  for (let n = 0; n < 6; n += 1) await hook('more', { event: { tool_use_id: `toolu_more_${n}` } });
  const over = await Promise.all(
    Array.from({ length: 5 }, (_, n) => hook('over', { event: { tool_input: { command: 'over', n } } })),
  );
  for (const { status, word } of over) expect([status, word]).toEqual([200, 'deny']);
  const on = { scope: 'all', reason: 'a drill' };
  const { body: made } = await admin.send('/v1/kill-switches', { method: 'POST', body: on });
  const stopped = await hook('ls');
  expect([stopped.status, stopped.word, stopped.reason]).toEqual([
    200,
    'deny',
    expect.stringContaining('stopped'),
  ]);
  await admin.send(`/v1/kill-switches/${made.id}/deactivate`, { method: 'POST', body: { reason: 'over' } });
  expect((await hook('ls', { key: wrongKey(service.apiKey) })).status).toBe(401);
  expect((await hook('ls', { event: { hook_event_name: 'Stop' } })).status).toBe(400);
  expect((await hook('ls', { event: { session_id: '' } })).status).toBe(400);
  expect((await hook('ls', { query: '?wait=soon' })).word).toBe('deny');
  expect((await hook('ls', { event: { session_id: 'point:x/s' } })).word).toBe('deny');
});

test('the session of an enforcement point is that of its agent, whatever session the host names', async () => {
  const by = { documents: service.store.documents, who: 'test', nowMs: Date.now() };
  const made = await addPoint(by, { name: 'hooks', agents: [service.agent.id], mayRelease: false });
  if (made.kind !== 'made') throw new Error(made.kind);
  const sessions = new Set<unknown>();
  for (const session_id of ['s-1', 's-2']) {
    const event = { session_id, tool_use_id: `toolu_${session_id}` };
    expect((await hook('ls', { key: made.apiKey, agent: service.agent.name, event })).body).toEqual({});
    const row = await service.store.requests.findByIdempotencyKey({
      agentId: service.agent.id,
      key: `point:${made.point.id}/${session_id}/toolu_${session_id}`,
      nowMs: Date.now(),
    });
    const { request } = await recordOf(service, row?.id ?? '');
    sessions.add((request as { readonly session: string }).session);
  }
  expect([...sessions]).toEqual([`point:${made.point.id}/agent-${service.agent.id}`]);
});

describe('what a tool returned', () => {
  const flow = `
approvers security "Security"
action web.fetch { url: string } result { trusted: boolean, is_error?: boolean, note?: string }
action mail.send { to: string }
meter untrusted = count() of web.fetch when not result.trusted per session over 1h
policy web on web.* { allow all }
policy mail on mail.* {
  allow all
  escalate tainted to security within 1h when untrusted > 0
}`;
  beforeAll(() => usePolicies(service, flow));

  let sessions = 0;
  /** The events of one session: a fetch, what it returned, and a mail. */
  function session() {
    sessions += 1;
    const at = { session_id: `flow-${sessions}` };
    const fetchPage = (id: string | undefined, more: object = {}) =>
      hook('', {
        event: { ...at, tool_name: 'mcp__web__fetch', tool_input: { url: 'u' }, tool_use_id: id, ...more },
      });
    const mail = { ...at, tool_name: 'mcp__mail__send', tool_input: { to: 'kim' } };
    return {
      fetchPage,
      ran: (id: string | undefined, tool_response?: unknown) =>
        fetchPage(id, { hook_event_name: 'PostToolUse', tool_response }),
      mails: async () => {
        const { body, reason } = await hook('', { event: mail });
        if (Object.keys(body).length === 0) return 'ALLOW';
        return /needs 1 approval by security/.test(reason) ? 'ESCALATE' : 'DENY';
      },
    };
  }

  test.each([
    ['a trusted page', '{"trusted":true}', 'ALLOW'],
    ['a whole result', { content: [], structuredContent: { trusted: true } }, 'ALLOW'],
    ['an untrusted page', '{"trusted":false}', 'ESCALATE'],
    ['a text that looks like fields', [{ type: 'text', text: '{"trusted":true}' }], 'ESCALATE'],
    ['another type', '{"trusted":"yes"}', 'ESCALATE'],
    ['too much', JSON.stringify({ trusted: true, note: 'x'.repeat(70_000) }), 'ESCALATE'],
    ['nothing', undefined, 'ESCALATE'],
  ])('%s decides about the next call', async (_, response, word) => {
    const { fetchPage, ran, mails } = session();
    const id = `toolu_flow_${sessions}`;
    expect((await fetchPage(id)).body).toEqual({});
    expect(await mails()).toBe('ESCALATE');
    expect(await ran(id, response)).toMatchObject({ status: 200, body: {} });
    expect(await mails()).toBe(word);
    const key = `flow-${sessions}/${id}`;
    const row = await service.store.requests.findByIdempotencyKey({
      agentId: service.agent.id,
      key,
      nowMs: Date.now(),
    });
    expect(row?.status).toBe('consumed');
  });

  test('matches a call without an id by its content, and another event reports nothing', async () => {
    const { fetchPage, ran, mails } = session();
    await fetchPage(undefined);
    await fetchPage('toolu_two');
    expect((await ran('toolu_never_asked', '{"trusted":true}')).body).toEqual({});
    expect(await mails()).toBe('ESCALATE');
    await ran('toolu_two', '{"trusted":true}');
    expect(await mails()).toBe('ESCALATE');
    await ran(undefined, '{"trusted":true}');
    expect(await mails()).toBe('ALLOW');
  });

  test('reports a failed tool with its error', async () => {
    const { fetchPage, mails } = session();
    await fetchPage('toolu_failed');
    const failed = { hook_event_name: 'PostToolUseFailure', error: 'broken', is_interrupt: false };
    expect((await fetchPage('toolu_failed', failed)).body).toEqual({});
    expect(await mails()).toBe('ESCALATE');
  });

  test('counts unknown results by reason', async () => {
    const text = await metricsOf(service);
    for (const reason of ['missing', 'oversized', 'mistyped'])
      expect(seriesValue(text, `writ_unknown_results_total{reason="${reason}"}`)).toBeGreaterThan(0);
  });
});
