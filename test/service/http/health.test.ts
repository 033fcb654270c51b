// /healthz and /readyz: the replies when all is well, when a reload has failed, and when nothing can be
// recorded.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openPolicies } from '../../../src/service/policies/policy-host.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { authorize, policyText, startService, temporaryDirectory } from './service.ts';

test('alive and ready', async () => {
  const service = await startService();
  expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' });
  const reply = await fetch(`${service.url}/readyz`);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({
    status: 'ready',
    store: { status: 'writable' },
    meters: { missing: [] },
    policies: { status: 'current', actions: 4, rules: 5, failure: null },
  });
});

test('names a meter whose past is still being read, and is not ready until then', async () => {
  const metered = `${policyText}
    meter asked = count() of demo.allow per agent over 1h
    policy budget on demo.allow { deny many when asked > 1_000 }`;
  const { store } = await metersHeldBack();
  const metering = createMetering({ meters: store.held.meters, clock: Date.now });
  // A start does not wait for long until the pasts are read; this one does not wait at all.
  metering.settled = () => Promise.resolve();
  const service = await startService({ store: store.held, metering, startsWith: metered });
  const look = async () => {
    const reply = await fetch(`${service.url}/readyz`);
    return { code: reply.status, ...((await reply.json()) as Record<string, unknown>) };
  };
  const since = expect.stringMatching(/^2\d{3}-/);
  expect(await look()).toMatchObject({
    code: 503,
    status: 'not-ready',
    reason: expect.stringContaining('`asked`'),
    meters: { missing: [{ name: 'asked', since, reason: 'reading', until: null }] },
  });
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'DENY' });
  store.fail();
  await expect.poll(look).toMatchObject({
    code: 200,
    status: 'ready',
    meters: { missing: [{ name: 'asked', since, reason: 'unreadable', until: null }] },
  });
  store.letGo();
  await expect.poll(look).toMatchObject({ code: 200, reason: null, meters: { missing: [] } });
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
});

/** A store whose entries of meters are read only when the test says so, or whose reading fails. */
async function metersHeldBack() {
  const store = await openStore({ path: join(temporaryDirectory(), 'writ.db') });
  let isFailing = true;
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  const first = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  first.catch(() => undefined);
  const openPast = async () => {
    await first.catch((error: unknown) => {
      if (isFailing) throw error;
    });
    return store.meters.openPast();
  };
  const held = { ...store, meters: { ...store.meters, openPast } };
  return {
    store: {
      held,
      fail: () => settle!.reject(new StoreError('io', 'the disk reported an error')),
      letGo: () => {
        isFailing = false;
      },
    },
  };
}

test('a failed reload is shown with its diagnostics and without paths, while the last good set decides', async () => {
  const service = await startService();
  const { digest } = service.policies.state();
  writeFileSync(service.policyFile, policyText.replace('to finance', 'to fnance'));
  await service.policies.reload();
  const reply = await fetch(`${service.url}/readyz`);
  expect(reply.status).toBe(200);
  const text = await reply.text();
  expect(JSON.parse(text)).toMatchObject({
    status: 'ready',
    policies: {
      status: 'stale',
      digest,
      failure: {
        at: expect.any(String),
        diagnostics: [
          { severity: 'error', file: 'demo.policy', start: { line: 7, column: expect.any(Number) } },
        ],
      },
    },
  });
  expect(text).not.toContain(service.policyFile);
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });

  writeFileSync(service.policyFile, policyText.replace('"demo.deny" because', '"demo.allow" because'));
  await service.policies.reload();
  const fixed = (await (await fetch(`${service.url}/readyz`)).json()) as {
    policies: Record<string, unknown>;
  };
  expect(fixed.policies).toMatchObject({ status: 'current', failure: null });
  expect(fixed.policies.digest).not.toBe(digest);
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'DENY' });
});

test('a failed compiler is shown with its cause and without paths, while the last good set decides', async () => {
  const compilerScript = new URL('../policies/failing-compiler.ts', import.meta.url);
  const directory = temporaryDirectory();
  const file = join(directory, 'demo.policy');
  writeFileSync(file, policyText);
  const policies = await openPolicies({ directory, compilerScript, timeoutMs: 5_000 });
  onTestFinished(() => policies.close());
  const service = await startService({ policies });
  writeFileSync(file, `# fault: hang\n${policyText}`);
  await policies.reload();
  const reply = await fetch(`${service.url}/readyz`);
  const text = await reply.text();
  expect(JSON.parse(text)).toMatchObject({
    status: 'ready',
    policies: {
      status: 'stale',
      failure: {
        cause: 'compiler',
        diagnostics: [],
        message: 'the policy compiler was ended: it did not finish within 5 seconds',
      },
    },
  });
  expect(text).not.toContain(directory);
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
});

test('a store that is closed: 503', async () => {
  const service = await startService();
  await service.store.close();
  const reply = await fetch(`${service.url}/readyz`);
  expect(reply.status).toBe(503);
  expect(await reply.json()).toMatchObject({
    status: 'not-ready',
    store: { status: 'not-writable' },
  });
});
