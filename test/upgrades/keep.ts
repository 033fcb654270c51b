// `node test/upgrades/keep.ts`: lets the service of this version write a store, and keeps it for the tests of
// later versions. Run once for each release, before it is tagged.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { serve } from '../../src/service/http/main.ts';
import { keepStore } from './kept-store.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'writ-kept-'));
try {
  const data = join(folder, 'var');
  const flags = { port: 0, data, policies: join(root, 'policies'), 'log.level': 'warn' } as const;
  const service = await serve({ directory: folder, environment: {}, flags, print: () => undefined });
  const apiKey = service.firstKey ?? '';
  const requestIds: string[] = [];
  for (const amount of [120, 1_500, 50_000]) {
    const reply = await fetch(`${service.url}/v1/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': apiKey },
      body: JSON.stringify({
        action_key: 'payment.create',
        payload: { amount, currency: 'USD', vendor: 'Staples' },
      }),
    });
    requestIds.push(((await reply.json()) as { readonly request_id: string }).request_id);
  }
  await service.stop();
  const writ = join(root, 'src/tools/cli/writ.js');
  const checkpoint = execFileSync(process.execPath, [writ, 'audit', 'checkpoint', '--data', data], {
    encoding: 'utf8',
  });
  keepStore({ release: manifest.version, checkpoint, agent: { apiKey, requestIds } }, data);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
