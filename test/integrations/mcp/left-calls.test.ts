// A grant that arrives when nobody waits for it any more: the server is not called, and the service hears that the
// grant is not used.

import { expect, test } from 'vitest';
import { createGate } from '../../../integrations/mcp/calls/gate.ts';
import { type CallSurroundings, guardCall } from '../../../integrations/mcp/calls/guarded-call.ts';
import { answerTaskRequest } from '../../../integrations/mcp/calls/task-requests.ts';
import type { Decision, PendingDecision } from '../../../integrations/typescript/client.ts';
import { countingServer, type Got, proxySettings } from './rig.ts';

const granted: Decision = { kind: 'allowed', requestId: 'r-1', expiresAt: new Date(Date.now() + 60_000) };
const waiting: PendingDecision = {
  kind: 'waiting',
  requestId: 'r-1',
  for: 'approval',
  until: new Date(Date.now() + 60_000),
  url: 'http://writ.example/requests/r-1',
  message: 'needs people',
} as PendingDecision;

/** A call whose decisions the test gives one by one. */
function guarded(takesTasks = false) {
  const decisions: ((decision: Decision) => void)[] = [];
  const [reports, sent, answers]: [Got[], Got[], Got[]] = [[], [], []];
  const gate = createGate(proxySettings({ url: 'http://writ.example' }, countingServer()));
  const around: CallSurroundings = {
    gate,
    caller: {
      id: 'a',
      authority: {
        decide: () => new Promise((resolve) => decisions.push(resolve)),
        plan: () => Promise.reject(new Error('no plan')),
        report: async (requestId, isExecuted) => void reports.push([requestId, isExecuted]),
        withdraw: async () => undefined,
        getRequest: async () => null,
        possible: async () => [],
      },
    },
    answer: (response) => void answers.push(response),
    forward: (request) => void sent.push(request),
    ask: async (request) => {
      sent.push(request);
      return { jsonrpc: '2.0', id: request.id, result: {} };
    },
    askClient: () => new Promise(() => undefined),
    notify: () => undefined,
  };
  const stop = new AbortController();
  const request = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params: { name: 'pay' } };
  const abilities = {
    era: takesTasks ? ('stateless' as const) : ('sessions' as const),
    opensUrls: false,
    takesTasks,
  };
  const call = {
    request,
    action: 'files.pay',
    payload: {},
    abilities,
    signal: stop.signal,
    onBehalfOf: undefined,
  };
  const done = guardCall(call, around);
  const decide = async (decision: Decision) => {
    await expect.poll(() => decisions.length).toBeGreaterThan(0);
    decisions.shift()?.(decision);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { around, stop, done, decide, reports, sent, answers };
}

test.each([
  ['at once', []],
  ['after people were asked', [waiting]],
])('a client that has left before it was granted %s', async (_what, before) => {
  const { stop, done, decide, reports, sent, answers } = guarded();
  for (const decision of before) await decide(decision);
  stop.abort();
  await decide(granted);
  await done;
  expect([sent, reports, answers]).toEqual([[], [['r-1', false]], []]);
});

test('a client that waits', async () => {
  const { done, decide, reports, sent } = guarded();
  await decide(granted);
  await done;
  expect([sent.length, reports]).toEqual([1, []]);
});

test.each([
  ['cancelled', true, 0],
  ['waited for', false, 1],
])('a task that is %s when its grant arrives', async (_what, isCancelled, count) => {
  const { around, done, decide, reports, sent, answers } = guarded(true);
  await decide(waiting);
  await done;
  expect(answers[0].result).toMatchObject({ resultType: 'task', taskId: 'writ-r-1' });
  if (isCancelled) {
    const params = { taskId: 'writ-r-1' };
    expect(answerTaskRequest({ jsonrpc: '2.0', id: 2, method: 'tasks/cancel', params }, around)).toBe(true);
  }
  await decide(granted);
  await expect.poll(() => [sent.length, reports.length]).toEqual([count, isCancelled ? 1 : 0]);
  expect(reports).toEqual(isCancelled ? [['r-1', false]] : []);
});
