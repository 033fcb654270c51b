// A reload that adds a meter: until the service has read what the meter has counted, refusals that rest on it
// say so, and no others do.

import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { putText } from './kept-policies.ts';
import { startService } from './service.ts';
import { ask, look, type View } from './written-policies.ts';

const policies = (window: string) => `
action pay.create { amount: number }
action pay.save { amount: number }
meter spent = sum(payload.amount) of pay.create per agent over ${window}
policy p on pay.create {
  allow small when payload.amount <= 10
  deny too_much when spent + payload.amount > 100 because "The budget is used up"
  deny huge when payload.amount > 1000 because "It is huge"
}
policy q on pay.save { allow little when spent + payload.amount <= 100 }
`;

const final = 'This is a decision, not a fault: the same request will be refused again.';
const later = 'The service is still reading what the meter spent has counted: ask again in a minute.';

test('a refusal by a new meter says that its past is unread, here and in /readyz, until it is read', async () => {
  const service = await startService();
  const reload = async (window: string) => {
    putText(dirname(dirname(service.policyFile)), policies(window));
    await service.policies.reload();
    expect(service.policies.state().failure).toBeNull();
  };
  const readiness = async () => {
    const reply = await fetch(`${service.url}/readyz`);
    const { meters } = (await reply.json()) as { meters: { missing: readonly object[] } };
    return [reply.status, meters.missing];
  };
  const pay = (amount: number, action = 'pay.create'): Promise<View> =>
    ask(service, action, { payload: { amount } });
  await reload('24h');
  await service.takeMeters();
  expect((await pay(5)).decision).toBe('ALLOW');
  const meters = service.store.meters as { counted: typeof service.store.meters.counted };
  const { counted } = meters;
  const reading = Promise.withResolvers<void>();
  meters.counted = async (page) => {
    await reading.promise;
    return counted(page);
  };
  await reload('48h');
  const denied = await pay(5);
  expect([denied.decision, denied.message]).toEqual([
    'DENY',
    `Not permitted by policy p: The budget is used up. ${later}`,
  ]);
  expect((await look(service, denied.request_id)).body.message).toBe(denied.message);
  expect((await pay(5, 'pay.save')).message).toBe(`Not permitted: No policy allows this. ${later}`);
  // What decides here is known.
  expect((await pay(2_000)).message).toBe(`Not permitted by policy p: It is huge. ${final}`);
  expect(await readiness()).toEqual([200, [expect.objectContaining({ name: 'spent', reason: 'reading' })]]);
  reading.resolve();
  await service.takeMeters();
  expect(await readiness()).toEqual([200, []]);
  expect((await pay(5)).decision).toBe('ALLOW');
  for (let spent = 10; spent < 100; spent += 10) await pay(10);
  expect((await pay(10)).message).toBe(`Not permitted by policy p: The budget is used up. ${final}`);
});
