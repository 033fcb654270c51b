// Sixty reloads, each of which changes rules and meters while requests wait: what the service keeps in
// memory does not grow with them.

import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { putText } from '../service/http/kept-policies.ts';
import { startService } from '../service/http/service.ts';
import { ask } from '../service/http/written-policies.ts';

const waiting = 200;
const settledAfter = 20;
const reloads = 60;
/** Megabytes; compiled code takes one of them. A window with 200 entries takes more than 0.02. */
const growthMax = 1.8;

const policies = (round: number) => `
approvers finance "Finance"
action pay.create { amount: number }
meter spent = sum(payload.amount) of pay.create when payload.amount <= ${1_000 + round} per agent over 24h
policy p on pay.create {
  allow small when payload.amount <= ${10 + round}
  allow large after approval by finance when payload.amount > ${10 + round} and spent < 1_000_000
}
`;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function heapMegabytes(): Promise<number> {
  for (let pass = 0; pass < 3; pass += 1) {
    await sleep(50);
    collect();
  }
  return process.memoryUsage().heapUsed / 1e6;
}

test('memory does not grow with the number of reloads', async () => {
  const service = await startService({ openRequestsMax: 10 * waiting });
  const reload = async (round: number) => {
    putText(dirname(dirname(service.policyFile)), policies(round));
    await service.policies.reload();
    await service.takeMeters();
    expect(service.policies.state().failure).toBeNull();
  };
  await reload(0);
  for (let at = 0; at < waiting; at += 1)
    expect((await ask(service, 'pay.create', { payload: { amount: 500 } })).status).toBe('pending');
  const digests = new Set<string>();
  let settled = 0;
  for (let round = 1; round <= reloads; round += 1) {
    await reload(round);
    expect((await ask(service, 'pay.create', { payload: { amount: 1 } })).decision).toBe('ALLOW');
    digests.add(service.policies.current().digest);
    if (round === settledAfter) settled = await heapMegabytes();
  }
  const end = await heapMegabytes();
  console.info(
    `${settled.toFixed(1)} MB after ${settledAfter} reloads, ${end.toFixed(1)} MB after ${reloads}`,
  );
  expect(digests.size).toBe(reloads);
  expect(end - settled).toBeLessThan(growthMax);
});
