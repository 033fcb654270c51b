// Refusals that state which change of the payload would pass: only for agents with `refusal_hints`, at every
// endpoint. They reveal nothing about anything else.

import { beforeAll, expect, test, vi } from 'vitest';
import { connect, type DeniedDecision } from '../../../integrations/typescript/client.ts';
import { describeAgent } from '../../../src/service/agents/registry.ts';
import { type Client, firstAdmin, signedIn } from './person-client.ts';
import { authorize, type Service, shareService, startService } from './service.ts';
import { usePolicies, type View } from './written-policies.ts';

const policies = `
action pay.send { amount: integer, to: string, pin?: secret string }
action claude_code.Bash { command: string }
policy pay on pay.send {
  allow small when payload.amount <= 1000
  deny large when payload.amount > 1000 because "too much"
  deny mars when payload.to == "Märs" because "too far"
  deny pin when payload has pin because "too plain"
}
policy shell on claude_code.Bash {
  allow listing when payload.command == "ls"
  deny others when payload.command != "ls" because "only ls"
}
`;

const shared = shareService();
let service: Service;
let ann: Client;

beforeAll(async () => {
  service = shared();
  await firstAdmin(service);
  ann = await signedIn(service, 'ann@example.com');
  await usePolicies(service, policies);
  const before = await ann.send(`/v1/agents/${service.agent.id}`);
  expect(before.body.refusal_hints).toBe(false);
  expect(await tellingOf(await ask({ amount: 1200, to: 'Rome' }))).toBeNull();
  const told = { method: 'PATCH', body: { refusal_hints: true } } as const;
  expect((await ann.send(`/v1/agents/${service.agent.id}`, told)).body.refusal_hints).toBe(true);
  // The thread that searches for the change has to read the policies first.
  await vi.waitFor(
    async () => expect(await tellingOf(await ask({ amount: 1201, to: 'Rome' }))).not.toBeNull(),
    {
      timeout: 20_000,
    },
  );
});

function ask(payload: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return authorize(service, { body: JSON.stringify({ action_key: 'pay.send', payload }), headers });
}

/**
 * The header `writ-change`, which is present exactly when the message states the change; null when absent.
 */
async function tellingOf(reply: Response): Promise<string | null> {
  const { decision, message } = (await reply.json()) as View;
  expect(decision).toBe('DENY');
  const told = reply.headers.get('writ-change');
  expect(message.includes('It would pass if')).toBe(told !== null);
  if (told !== null) expect(message).toMatch(/^Not permitted by policy pay: .*\. It would pass if .+\.$/);
  return told;
}

test('contains a change that would pass, in ASCII', async () => {
  expect(await tellingOf(await ask({ amount: 1200, to: 'Rome' }))).toBe('payload.amount <= 1000');
  expect(await tellingOf(await ask({ amount: 5, to: 'Märs' }))).toBe('payload.to != "M%C3%A4rs"');
  expect(await tellingOf(await ask({ amount: 1200, to: 'Märs' }))).toMatch(/payload\.amount <= 1000/);
});

test('contains no secret and no untyped value; a grant has no such header', async () => {
  const reply = await ask({ amount: 5, to: 'Rome', pin: '1234' });
  expect(`${await tellingOf(reply.clone())} ${await reply.text()}`).not.toContain('1234');
  expect(await tellingOf(await ask({ amount: 'x', to: 'Rome' }))).toBeNull();
  expect((await ask({ amount: 5, to: 'Rome' })).headers.get('writ-change')).toBeNull();
});

test('the client and the hook pass it on', async () => {
  const { url, apiKey: key } = service;
  const denied = (await connect({ url, key }).authorize('pay.send', {
    amount: 5,
    to: 'Märs',
  })) as DeniedDecision;
  expect(denied.change).toBe('payload.to != "Märs"');
  expect(denied.message).toContain('It would pass if payload.to != "Märs".');
  const event = {
    hook_event_name: 'PreToolUse',
    session_id: 's',
    tool_name: 'Bash',
    tool_input: { command: 'rm' },
  };
  const reply = await fetch(`${url}/v1/hooks/claude-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
    body: JSON.stringify(event),
  });
  expect(((await reply.json()) as { hookSpecificOutput: object }).hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringMatching(
      /only ls\. .* It would pass if payload\.command == "ls"\.$/,
    ),
  });
});

test('is absent if no change can be found', async () => {
  const script = new URL('../../playground/not-there.ts', import.meta.url);
  const broken = await startService({ playground: { script } });
  const body = JSON.stringify({ action_key: 'demo.deny', payload: {} });
  const change = { agentId: broken.agent.id, nowMs: Date.now(), tellsChange: true };
  expect((await describeAgent(broken.store, change)).kind).toBe('described');
  const reply = await authorize(broken, { body });
  expect([reply.status, reply.headers.get('writ-change')]).toEqual([200, null]);
  expect(((await reply.json()) as View).message).toMatch(/^Not permitted by policy demo: /);
});
