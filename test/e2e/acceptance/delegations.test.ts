// A service on a file is killed while sub-agents use up a delegation. INVARIANT: after the restarts exactly as many
// requests are recorded as the delegation has uses: none more, and none lost.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { locationOfStore } from '../../service/store/place.ts';
import { post } from '../distributed/call.ts';
import { addAgent, type Service, startService, temporary } from './service.ts';

const policy = `
  action pay.send { amount: number }
  policy pay on pay.send { allow all }`;
const body = '{"action_key":"pay.send","payload":{"amount":1}}';
const uses = 300;

test('no use is lost or counted twice, whenever the service is killed', { timeout: 120_000 }, async () => {
  const [policies, data] = [temporary('policies'), temporary('data')];
  writeFileSync(join(policies, 'a.policy'), policy);
  const apiKey = await addAgent(data, 'parent');
  let service: Service = await startService({ policies, data });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  const send = (path: string, key: string, text: string) =>
    post({
      url: `${service.url}${path}`,
      headers: { 'x-agent-api-key': key },
      body: text,
      timeoutMs: 10_000,
    });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const draft = { name: 'sub', actions: ['*'], until, uses };
  const made = await send('/v1/delegations', apiKey, JSON.stringify(draft));
  const { api_key: key } = made!.body as { readonly api_key: string };

  const told = { granted: 0, ended: 0 };
  const asking = Array.from({ length: 8 }, async () => {
    while (told.ended === 0) {
      const reply = await send('/v1/authorize', key, body);
      if (reply?.status === 200) told.granted += 1;
      else if (reply?.status === 403) told.ended += 1;
      else await sleep(20);
      await sleep(5);
    }
  });
  for (const reached of [60, 150]) {
    await expect.poll(() => told.granted, { timeout: 30_000 }).toBeGreaterThan(reached);
    await service.end('SIGKILL');
    service = await startService({ policies, data });
  }
  await Promise.all(asking);
  await service.end('SIGTERM');
  const store = await openStore(await locationOfStore(data));
  const { records } = await store.chain.segment(0, 10_000);
  await store.close();
  expect(records.filter(({ entry }) => entry.kind === 'request')).toHaveLength(uses);
  expect(told.granted).toBeLessThanOrEqual(uses);
});
