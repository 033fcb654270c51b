// Two versions of Writ at one store: until the earlier one is stopped and its store upgraded on purpose, it
// goes on, and what it has acknowledged is whole for both.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type StoreLocation, storeLocationOf } from '../../../src/service/store/open.ts';
import type { Ran } from '../../cli/writ.ts';
import { keptPostgres } from '../../service/store/postgres-server.ts';
import { agentRow, keyRow, temporaryFolder } from '../../service/store/rows.ts';
import { third } from '../../support/tries.ts';
import { startServing } from '../acceptance/service.ts';
import { nextVersion, thisVersion, type Version } from './next-version.ts';

/** Few policies: what is tried here is the store. */
const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
writeFileSync(
  join(policies, 'a.policy'),
  'action payment.create { amount: number 0.. }\npolicy small on payment.create { allow all }\n',
);

interface TestStore {
  readonly data: string;
  readonly place: StoreLocation;
  /** The options and the environment of commands that name the store. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What a version that opens the store would change of it first. */
  schema(): Promise<unknown>;
}

async function inFile(): Promise<TestStore> {
  const data = join(temporaryFolder(), 'var');
  const place = storeLocationOf({ data, database: null });
  const schema = async () => {
    const database = new Database(join(data, 'writ.db'), { readonly: true });
    const version = database.pragma('user_version', { simple: true });
    const tables = database.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
    database.close();
    return { version, tables };
  };
  return { data, place, options: ['--data', data], env: {}, schema };
}

async function inDatabase(): Promise<TestStore> {
  const data = join(temporaryFolder(), 'var');
  const server = await keptPostgres();
  const { name, url, drop } = await server.createEmptyDatabase();
  onTestFinished(drop);
  const schema = async () => ({
    version: await server.query('SELECT schema_version FROM control', name),
    columns: await server.query(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
      name,
    ),
    functions: await server.query(
      "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE 'writ%' ORDER BY 1",
      name,
    ),
  });
  return {
    data,
    place: storeLocationOf({ data, database: url }),
    options: ['--data', data],
    env: { WRIT_STORE: url },
    schema,
  };
}

const stores = [
  ['a file', inFile],
  ['a database', inDatabase],
] as const;

type Serving = Awaited<ReturnType<typeof startServing>>;

async function serve({ entry: program }: Version, { options, env }: TestStore): Promise<Serving> {
  const args = [...options, '--store-durability', 'single', '--policies', policies];
  const service = await startServing(args, { env, program });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  await expect.poll(() => service.output()).toContain('To register another agent');
  return service;
}

/** Runs a command of a version on the store. */
function run({ writ }: Version, { options, env }: TestStore, ...args: readonly string[]): Promise<Ran> {
  return writ([...args, ...options], { env });
}

function firstKey({ output }: Serving): string {
  return /writ_[\w-]+/.exec(output())?.[0] ?? '';
}

async function ask({ url }: Serving, apiKey: string): Promise<{ decision?: string; request_id: string }> {
  const reply = await fetch(`${url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': apiKey },
    body: JSON.stringify({
      action_key: 'payment.create',
      payload: { amount: 120 },
    }),
  });
  return (await reply.json()) as { decision?: string; request_id: string };
}

/** On a busy machine a database may take longer than a request waits. */
async function expectGrant(service: Serving, apiKey: string): Promise<void> {
  await expect.poll(() => ask(service, apiKey), { timeout: 30_000 }).toMatchObject({ decision: 'ALLOW' });
}

/** The names of all commands that take `--data`, as the help of a version lists them. */
async function commandsOnStores({ writ }: Version, path: readonly string[] = []): Promise<readonly string[]> {
  const { stdout } = await writ([...path, '--help']);
  const own = /^ +--data </m.test(stdout) ? [path.join(' ')] : [];
  const lists = stdout
    .split(/^(?=\S.*:$)/m)
    .filter((part) => !/^(?:Usage|Options|Arguments|Examples?)\b/.test(part));
  const listed = lists.filter((part) => /^\S.*:\n/.test(part)).join('');
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name);
  const found = [...own];
  for (const name of names.filter((one) => one !== 'help'))
    found.push(...(await commandsOnStores({ writ } as Version, [...path, name])));
  return found;
}

/** A checkpoint of some transparency log. */
const checkpointNote = join(mkdtempSync(join(tmpdir(), 'writ-notes-')), 'log.note');
writeFileSync(
  checkpointNote,
  `writ.example.com\n1\n${Buffer.alloc(32).toString('base64')}\n\n\u2014 writ.example.com ${Buffer.alloc(68).toString('base64')}\n`,
);

/** The arguments of each command that takes `--data`, but for those that start, upgrade or copy a store. */
const commands: Readonly<Record<string, readonly string[]>> = {
  explain: ['01a1b8f3-36ac-78ab-851f-7a1f0fa82ab1'],
  suggest: ['01a1b8f3-36ac-78ab-851f-7a1f0fa82ab1', '--policies', policies],
  replay: ['--policies', policies],
  'agent add': ['buyer', '--tier', 'low', '--owner', 'ops@example.com'],
  'agent list': [],
  'agent show': ['first-agent'],
  'agent disable': ['first-agent'],
  'agent enable': ['first-agent'],
  'agent revoke': ['first-agent', '--yes'],
  'agent rotate': ['first-agent', '--grace', 'now'],
  'agent signing': ['first-agent', 'required'],
  'agent rate': ['first-agent', '--per-minute', '5'],
  'agent refusal-hints': ['first-agent', 'on'],
  'agent delegations list': ['first-agent'],
  'agent delegations revoke': ['first-agent'],
  'agent identity map': ['first-agent', '--issuer', 'https://issuer.example.com', '--require', 'sub=a'],
  'agent identity list': ['first-agent'],
  'agent identity remove': ['first-agent', 'none'],
  'agent identity try': ['first-agent', import.meta.filename],
  'kill-switch list': [],
  'kill-switch on': ['all', '--reason', 'a drill'],
  'kill-switch off': ['all', '--reason', 'a drill'],
  'people setup-link': [],
  'audit verify': [],
  'audit approvals': ['--since', '2020-01-01'],
  'audit export': [],
  'audit checkpoint': [],
  'audit prune': ['--before', '2020-01-01'],
  'audit accept': ['--yes'],
  'audit prove': ['--sequence', '1'],
  'audit consistency': [checkpointNote],
  'audit replay': ['--all', '--policies', policies],
};
const others = ['serve', 'doctor', 'backup', 'restore', 'store copy', 'store migrate'];

test('every command that opens a store is tried on that of an earlier version', async () => {
  expect([...(await commandsOnStores(thisVersion))].sort()).toEqual(
    [...Object.keys(commands), ...others].sort(),
  );
});

describe.each(stores)('two versions at %s', (_, makeStore) => {
  test('no command of the later version changes what the earlier one serves', async () => {
    const store = await makeStore();
    const next = nextVersion();
    let earlier = await serve(thisVersion, store);
    const apiKey = firstKey(earlier);
    await expectGrant(earlier, apiKey);
    const before = await store.schema();
    for (const [command, args] of third(Object.entries(commands))) {
      const ran = await run(next, store, ...command.split(' '), ...args);
      expect([command, ran.code, ran.stdout]).toEqual([command, 1, '']);
      expect([command, ran.stderr]).toEqual([command, expect.stringContaining('`writ store migrate`')]);
      expect(await store.schema()).toEqual(before);
    }
    const looked = await run(next, store, 'doctor', '--policies', policies);
    expect(looked.stdout).toContain('is from an earlier version');
    for (const [command, said] of [
      ['store migrate', 'stop'],
      ['serve', 'stop'],
    ] as const) {
      const args = command === 'serve' ? ['--policies', policies, '--port', '0'] : [];
      const ran = await run(next, store, ...command.split(' '), ...args);
      expect([command, ran.code, ran.stderr]).toEqual([command, 1, expect.stringContaining(said)]);
    }
    expect(await store.schema()).toEqual(before);
    await expectGrant(earlier, apiKey);
    const added = ['agent', 'add', 'late', '--tier', 'low', '--owner', 'ops@example.com'];
    expect(await run(thisVersion, store, ...added)).toMatchObject({ code: 0 });
    expect(await earlier.end('SIGTERM')).toBe(0);
    earlier = await serve(thisVersion, store);
    await expectGrant(earlier, apiKey);
    expect(await run(thisVersion, store, 'audit', 'verify')).toMatchObject({ code: 0 });
  });

  test('the later version takes over a store whose service has stopped, and the earlier one leaves it alone', async () => {
    const store = await makeStore();
    const next = nextVersion();
    const earlier = await serve(thisVersion, store);
    const apiKey = firstKey(earlier);
    const { request_id: requestId } = await ask(earlier, apiKey);
    await earlier.end('SIGTERM');
    const migrated = await run(next, store, 'store', 'migrate');
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('900') });
    const after = await store.schema();
    for (const [command, args] of third(Object.entries(commands))) {
      const ran = await run(thisVersion, store, ...command.split(' '), ...args);
      expect([command, ran.code, ran.stderr]).toEqual([
        command,
        1,
        expect.stringContaining('later version of Writ'),
      ]);
    }
    await expect(serve(thisVersion, store)).rejects.toThrow(/later version of Writ \(schema 900/);
    expect(await store.schema()).toEqual(after);
    const later = await serve(next, store);
    const found = await fetch(`${later.url}/v1/requests/${requestId}`, {
      headers: { 'x-agent-api-key': apiKey },
    });
    expect(await found.json()).toMatchObject({ decision: 'ALLOW' });
    await expectGrant(later, apiKey);
    expect(await run(next, store, 'audit', 'verify')).toMatchObject({ code: 0 });
  });

  test('what has the store open while it is upgraded stores nothing more', async () => {
    const store = await makeStore();
    const next = nextVersion();
    const earlier = await openStore(store.place);
    onTestFinished(() => earlier.close());
    const agent = agentRow();
    await earlier.agents.add(agent, keyRow(agent.id));
    expect(await run(next, store, 'store', 'migrate')).toMatchObject({ code: 0 });
    const other = agentRow();
    const adding = earlier.agents.add(other, keyRow(other.id));
    await expect(adding).rejects.toMatchObject({ code: 'newer-database' });
    await expect(earlier.serve()).rejects.toMatchObject({ code: 'newer-database' });
    expect(await run(next, store, 'audit', 'verify')).toMatchObject({ code: 0 });
    const listed = await run(next, store, 'agent', 'list', '--json');
    expect(listed.stdout).toContain(agent.name);
    expect(listed.stdout).not.toContain(other.name);
  });

  test('a start and `store migrate` leave a store of this version as it is', async () => {
    const store = await makeStore();
    await (await serve(thisVersion, store)).end('SIGTERM');
    const before = await store.schema();
    const ran = await run(thisVersion, store, 'store', 'migrate');
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
    expect(await store.schema()).toEqual(before);
  });
});

test('a backup of an earlier store is made by the later version, and is one for the earlier', async () => {
  const store = await inFile();
  const next = nextVersion();
  const earlier = await serve(thisVersion, store);
  const { request_id: requestId } = await ask(earlier, firstKey(earlier));
  const before = await store.schema();
  const copy = await inFile();
  const file = join(copy.data, 'writ.db');
  const ran = await run(next, store, 'backup', join(store.data, '../copy.db'));
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('earlier version') });
  expect(await store.schema()).toEqual(before);
  mkdirSync(copy.data, { mode: 0o700 });
  for (const end of ['', '.key']) renameSync(join(store.data, `../copy.db${end}`), `${file}${end}`);
  expect(await copy.schema()).toEqual(before);
  // It can be tried on: the later version upgrades the copy, and the store that is served stays.
  const kept = readFileSync(file);
  expect(await run(thisVersion, copy, 'audit', 'verify')).toMatchObject({ code: 0 });
  expect(await run(next, copy, 'store', 'migrate')).toMatchObject({ code: 0 });
  const exported = await run(next, copy, 'audit', 'export');
  expect(exported.stdout).toContain(requestId);
  expect(readFileSync(`${file}.schema-${String((before as { version: number }).version)}`).equals(kept)).toBe(
    true,
  );
  expect(await store.schema()).toEqual(before);
  expect(await earlier.end('SIGTERM')).toBe(0);
});

test('the later version restores a backup of the earlier, and the earlier refuses one of the later', async () => {
  const [store, other] = [await inFile(), await inFile()];
  const next = nextVersion();
  const added = ['agent', 'add', 'late', '--tier', 'low', '--owner', 'ops@example.com'];
  expect(await run(thisVersion, store, ...added)).toMatchObject({ code: 0 });
  const early = join(store.data, '../early.db');
  expect(await run(thisVersion, store, 'backup', early)).toMatchObject({ code: 0 });
  const upgraded = await run(next, other, 'restore', early);
  expect(upgraded).toMatchObject({ code: 0, stdout: expect.stringContaining('it was upgraded') });
  expect((await run(next, other, 'agent', 'list')).stdout).toContain('late');
  expect(readdirSync(other.data).filter((name) => name.includes('restoring'))).toEqual([]);

  const later = join(store.data, '../later.db');
  expect(await run(next, other, 'backup', later)).toMatchObject({ code: 0 });
  const before = await store.schema();
  expect(await run(thisVersion, store, 'restore', later)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /later\.db` was written by a later version of Writ .*\nnothing was changed/,
    ),
  });
  expect(await store.schema()).toEqual(before);
  expect((await run(thisVersion, store, 'agent', 'list')).stdout).toContain('late');
});
