// A standing approval as a user runs it: its process is killed between the grant of a request and the entry that
// counts it, which are one write, so that neither is there afterwards.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { isOnPostgres } from '../../service/store/place.ts';
import { makeAgent } from '../distributed/world.ts';
import { ask, type Reply, startService, temporary } from './service.ts';

const policy = `
  approvers finance "Finance"
  action pay.send { vendor: string }
  policy pay on pay.send {
    allow all
    escalate vendors to finance within 1h standing per payload.vendor for 8h up to 3 times
  }`;

/** Each request before the kill counts one entry, so the second entry is that of a second use. */
const killsAtSecondEntry = {
  NODE_OPTIONS: `--import ${import.meta.dirname}/kill-at-entry.ts`,
  TEST_KILL_AT_ENTRY: '2',
};

test.skipIf(isOnPostgres)(
  'a process that is killed between a grant and its count never gives one use more',
  { timeout: 240_000 },
  async () => {
    const [data, policies] = [temporary('data'), temporary('policies')];
    writeFileSync(join(policies, 'a.policy'), policy);
    const start = async (env: Readonly<Record<string, string>> = {}) => {
      const service = await startService({ policies, data, env });
      onTestFinished(async () => void (await service.end('SIGKILL')));
      return service;
    };
    const first = await start();
    const store = await openStore({ path: join(data, 'writ.db') });
    onTestFinished(() => store.close());
    const agent = await makeAgent(store);
    const admin = await firstAdmin({ store });
    const approver = await personWith({ url: first.url, store }, admin, {
      email: 'ben@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const pay = (url: string): Promise<Reply | null> =>
      ask(url, agent.apiKey, { action_key: 'pay.send', payload: { vendor: 'Staples' } }).catch(() => null);
    const id = (await pay(first.url))?.body.request_id;
    const body = { comment: 'known', standing: {} };
    const approved = await approver.send(`/v1/requests/${id}/approve`, { method: 'POST', body });
    expect(approved.body.status).toBe('approved');
    await first.end('SIGTERM');

    const told: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      const service = await start(killsAtSecondEntry);
      told.push((await pay(service.url))?.body.decision, await pay(service.url));
      await expect.poll(() => service.process.signalCode).toBe('SIGKILL');
    }
    expect(told).toEqual(['ALLOW', null, 'ALLOW', null]);
    const { url, end } = await start();
    const left = [await pay(url), await pay(url)].map((reply) => reply?.body.decision);
    expect(left).toEqual(['ALLOW', 'ESCALATE']);
    await end('SIGTERM');
    const { chain, differences } = await verifyStore(store);
    expect([chain.kind, differences]).toEqual(['whole', []]);
  },
);
