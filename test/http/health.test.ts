// /healthz and /readyz: the replies when all is well, when a reload has failed, and when nothing can be
// recorded.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openPolicies } from '../../src/service/policies/policy-host.ts';
import { authorize, policyText, startService, temporaryDirectory } from './service.ts';

test('alive and ready', async () => {
  const service = await startService();
  expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' });
  const reply = await fetch(`${service.url}/readyz`);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({
    status: 'ready',
    store: { status: 'writable' },
    policies: { status: 'current', actions: 4, rules: 5, failure: null },
  });
});

test('a broken reload is told with its diagnostics and without paths, while the last good set decides', async () => {
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

test('a compiler that fails is told with its cause and without paths, while the last good set decides', async () => {
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
        message: 'the policy compiler was ended: it was not done after 5 seconds',
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
