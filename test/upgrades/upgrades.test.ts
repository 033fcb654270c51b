// Stores of every released version, opened by this version: nothing is lost, and the old state is copied
// first.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readCheckpoint } from '../../src/service/audit/checkpoint.ts';
import { verifyChain } from '../../src/service/audit/verify.ts';
import { serve } from '../../src/service/http/main.ts';
import { openStore } from '../../src/service/store/open.ts';
import { requestColumns } from '../../src/service/store/shared/rows.ts';
import { writ } from '../cli/writ.ts';
import { requestRow, temporaryFolder } from '../store/rows.ts';
import { layStore, releases } from './kept-store.ts';

const policies = join(import.meta.dirname, '../../policies');

describe.each(releases)('a store of release %s', (release) => {
  test('is whole, as its checkpoint says', async () => {
    const data = join(temporaryFolder(), 'var');
    const { checkpoint } = layStore(release, data);
    const file = join(data, '../checkpoint.json');
    writeFileSync(file, checkpoint);
    const store = await openStore({ path: join(data, 'writ.db'), isUpgradeAllowed: true });
    const verified = await verifyChain(store, { checkpoints: [readCheckpoint(checkpoint)!] });
    await store.close();
    expect(verified).toMatchObject({ kind: 'whole', firstSequence: 1 });
    const { code, stdout } = await writ(['audit', 'verify', '--data', data, '--checkpoint', file]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('checkpoints hold')]);
  });

  test('is served: the agent has its key and its requests, and asks for others', async () => {
    const data = join(temporaryFolder(), 'var');
    const { agent } = layStore(release, data);
    const flags = { port: 0, data, policies, 'log.level': 'silent' } as const;
    const service = await serve({ directory: data, environment: {}, flags, print: () => undefined });
    onTestFinished(() => service.stop());
    const call = async (path: string, body?: object) => {
      const reply = await fetch(`${service.url}${path}`, {
        headers: { 'content-type': 'application/json', 'x-agent-api-key': agent.apiKey },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      return ((await reply.json()) as { readonly decision: string }).decision;
    };
    const decisions = await Promise.all(agent.requestIds.map((id) => call(`/v1/requests/${id}`)));
    expect(decisions).toEqual(['ALLOW', 'ESCALATE', 'DENY']);
    const payload = { amount: 120, currency: 'USD', vendor: 'Staples' };
    expect(await call('/v1/authorize', { action_key: 'payment.create', payload })).toBe('ALLOW');
  });
});

/** A store of the first schema, with one request. */
function earlierStore(folder: string): string {
  const path = join(folder, 'writ.db');
  const migrations = join(import.meta.dirname, '../../src/service/store/sqlite/migrations');
  const [first = ''] = readdirSync(migrations).toSorted();
  const database = new Database(path);
  database.exec(readFileSync(join(migrations, first), 'utf8'));
  database.pragma('user_version = 1');
  const columns = requestColumns(requestRow());
  const names = Object.keys(columns);
  database
    .prepare(`INSERT INTO requests (${names}) VALUES (${names.map((name) => `@${name}`)})`)
    .run(columns);
  database.close();
  writeFileSync(`${path}.key`, 'ab'.repeat(32), { mode: 0o600 });
  return path;
}

function contentOf(path: string): object {
  const database = new Database(path, { readonly: true });
  const content = {
    version: database.pragma('user_version', { simple: true }),
    schema: database.prepare('SELECT name, sql FROM sqlite_schema').all(),
    requests: database.prepare('SELECT * FROM requests').all(),
  };
  database.close();
  return content;
}

describe('a store of an earlier schema', () => {
  test('is copied before it is brought up to date, again where the first time failed', async () => {
    const path = earlierStore(temporaryFolder());
    const before = contentOf(path);
    writeFileSync(`${path}.schema-1`, 'of a start that was cut off');
    await (await openStore({ path, isUpgradeAllowed: true })).close();
    const copy = `${path}.schema-1`;
    expect(contentOf(copy)).toEqual(before);
    expect(before).toMatchObject({ version: 1, requests: [{ action_key: 'payment.create' }] });
    expect(readFileSync(`${copy}.key`, 'utf8')).toBe('ab'.repeat(32));
    for (const file of [copy, `${copy}.key`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    // After the upgrade no further copy is made.
    rmSync(copy);
    const store = await openStore({ path });
    await store.requests.append(requestRow(), { openMax: 1 });
    await store.close();
    expect(readdirSync(join(path, '..')).sort()).toEqual([
      ...['writ.db', 'writ.db.key', 'writ.db.schema-1.key', 'writ.db.serving'],
    ]);
  });

  test('is left as it is where no copy can be made', async () => {
    const path = earlierStore(temporaryFolder());
    const before = readFileSync(path);
    mkdirSync(join(`${path}.schema-1`, 'in the way'), { recursive: true });
    await expect(openStore({ path, isUpgradeAllowed: true })).rejects.toThrow(/schema-1/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
