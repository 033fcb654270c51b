// Nothing that was answered is lost when the process is killed without warning in the middle of a load.

import { expect, it } from 'vitest';
import { runLoad } from './load.ts';
import { addAgent, startService, temporary } from './service.ts';

it('keeps every request whose reply was received when it is killed under load', async () => {
  const data = temporary('kill');
  const first = await startService({ policies: 'policies', data });
  const key = await addAgent(data, 'loader');
  const killAfter = 500 + Math.floor(Math.random() * 1000);
  const answered = await runLoad({
    url: first.url,
    key,
    total: 2000,
    clients: 16,
    // All amounts together are below the daily budgets, so nobody is asked: an agent may have only a few
    // pending requests.
    request: (index) => ({
      action_key: 'payment.create',
      payload: {
        amount: 0.01,
        currency: 'USD',
        vendor: 'Staples',
        description: `order ${index}`,
      },
    }),
    onReply: (count) => {
      if (count === killAfter) first.process.kill('SIGKILL');
    },
  });
  expect(answered.length).toBeGreaterThanOrEqual(killAfter);
  expect(answered.length).toBeLessThan(2000);
  expect(answered.filter(({ reply }) => reply.status !== 200)).toEqual([]);

  const second = await startService({ policies: 'policies', data });
  const lost: unknown[] = [];
  for (const { index, reply } of answered) {
    const response = await fetch(`${second.url}/v1/requests/${reply.body.request_id}`, {
      headers: { 'x-agent-api-key': key },
    });
    const stored = (await response.json()) as Record<string, unknown>;
    const isWhole =
      stored.decision === reply.body.decision &&
      stored.reason === reply.body.reason &&
      (stored.payload as { description?: string }).description === `order ${index}`;
    if (!isWhole) lost.push({ reply, stored });
  }
  expect(lost).toEqual([]);
  expect(await second.end('SIGTERM')).toBe(0);
});
