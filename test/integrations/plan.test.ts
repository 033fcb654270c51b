// `client.plan` against the real service: a preview grants nothing, and the steps of a submitted plan go on with their
// approved requests.

import { expect, test } from 'vitest';
import { connect, DeniedError } from '../../integrations/typescript/client.ts';
import { setSigning } from '../../src/service/agents/registry.ts';
import { firstAdmin, personWith } from '../service/http/person-client.ts';
import { startService } from '../service/http/service.ts';

const steps = Array.from({ length: 3 }, (_, n) => ({ action: 'demo.escalate', payload: { n } }));

test('a preview shows the decisions, and nothing waits', async () => {
  const { url, apiKey: key, store, agent } = await startService();
  const writ = connect({ url, key, wait: 0 });
  const others = ['demo.allow', 'demo.deny', 'demo.reauth'].map((action) => ({ action, payload: {} }));
  const plan = await writ.plan({ goal: 'a look', steps: [...steps, ...others] });
  expect(plan).toMatchObject({ pending: 0, until: null, sums: [], url: `${url}/plans/${plan.id}` });
  expect(plan.steps.map(({ decision }) => decision)).toEqual([
    ...Array(3).fill('ESCALATE'),
    'ALLOW',
    'DENY',
    'REAUTH_REQUIRED',
  ]);
  expect(plan.steps[3]).toEqual({
    action: 'demo.allow',
    title: '',
    decision: 'ALLOW',
    reason: 'the demo says demo.allow',
    policy: 'demo',
    risk: 7,
    requestId: null,
    status: null,
  });
  expect(await store.requests.countOpen(agent.id, Date.now())).toBe(0);
  expect(await writ.getPlan(plan.id)).toEqual(plan);
  expect(await writ.getPlan('none')).toBeNull();
});

test('submitted steps run once they are approved, signed or not', async () => {
  const service = await startService();
  const { url, apiKey: key } = service;
  const changed = await setSigning(service.store, {
    agentId: service.agent.id,
    signing: 'required',
    nowMs: Date.now(),
  });
  if (changed.kind !== 'changed') throw new Error(changed.kind);
  const ben = await personWith(service, await firstAdmin(service), {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const writ = connect({ url, key, wait: 0, signingSecret: changed.signingSecret ?? '' });
  const options = { idempotencyKey: 'once' };
  const plan = await writ.plan({ goal: 'all three', steps, submit: true }, options);
  expect(plan.pending).toBe(3);
  expect(plan.until).toBeInstanceOf(Date);
  expect((await writ.plan({ goal: 'all three', steps, submit: true }, options)).id).toBe(plan.id);
  await ben.send(`/v1/plans/${plan.id}/votes`, { method: 'POST', body: { vote: 'approve', comment: '' } });
  expect((await writ.getPlan(plan.id))?.steps.map(({ status }) => status)).toEqual(Array(3).fill('approved'));
  for (const [at, { action, payload }] of steps.entries())
    expect(await writ.run(action, payload, ({ requestId }) => requestId)).toBe(plan.steps[at]?.requestId);
  expect(await writ.authorize('demo.escalate', { n: 3 })).toMatchObject({ kind: 'waiting' });
});

test('a plan that is refused throws, with the place', async () => {
  const { url, apiKey: key } = await startService();
  const writ = connect({ url, key });
  const error = await writ
    .plan({ steps: [...steps, { action: 'no.such', payload: {} }] })
    .catch((one) => one);
  expect(error).toBeInstanceOf(DeniedError);
  expect(error.decision).toMatchObject({
    policy: 'invalid_body',
    reason: expect.stringContaining('/steps/3'),
  });
});
