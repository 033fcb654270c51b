// `writ audit` and `writ backup` as an operator runs them: output, exit codes and files of the real process.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandLineUser } from '../../src/cli/client/with-store.ts';
import { compile } from '../../src/pipeline.ts';
import { digest } from '../../src/service/policies/digest.ts';
import { createPolicyHistory } from '../../src/service/policies/policy-history.ts';
import type { SetSummary } from '../../src/service/policies/set-summary.ts';
import { packTexts } from '../../src/service/policies/texts.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import { createFolder } from '../service/policies/folder.ts';
import { requestRow, startMs } from '../service/store/rows.ts';
import { type Ran, writ } from './writ.ts';

interface DataDirectory {
  readonly data: string;
  /** Open in this process, as in a running service. */
  readonly store: Store;
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  readonly tamper: (statement: string) => void;
}

/** A data directory with three requests, one a day. */
async function createData(): Promise<DataDirectory> {
  const data = createFolder();
  const store = await openStore({ path: join(data, 'writ.db') });
  onTestFinished(() => store.close());
  for (const day of [0, 1, 2]) {
    const createdAtMs = startMs + day * 86_400_000;
    await store.requests.append(requestRow({ createdAtMs, expiresAtMs: createdAtMs + 1 }), { openMax: 20 });
  }
  const tamper = (statement: string) => {
    const database = new Database(join(data, 'writ.db'));
    database.exec(statement);
    database.close();
  };
  return { data, store, tamper, run: (...args) => writ([...args, '--data', data]) };
}

describe('writ audit verify', () => {
  it('confirms an unchanged store, or names the first changed record', async () => {
    const { run, tamper } = await createData();
    expect(await run('audit', 'verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^✓ records 1 to 3 are unchanged\n {2}the last has hash [0-9a-f]{64}\n {2}everything else is as the service left it\n$/,
      ),
      stderr: '',
    });
    tamper("UPDATE requests SET outcome = 'DENY' WHERE sequence = 2");
    const [broken, json] = await Promise.all([run('audit', 'verify'), run('audit', 'verify', '--json')]);
    expect(broken).toMatchObject({ code: 1, stdout: '' });
    expect(broken.stderr).toMatch(/^✗ record 2 \([0-9a-f-]{36}\): its content was changed\n$/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      break: { sequence: 2, difference: 'content' },
    });
  });

  it('finds a truncated end by a checkpoint from elsewhere', async () => {
    const { data, run, tamper } = await createData();
    const checkpoint = join(data, 'checkpoint.json');
    const signed = await run('audit', 'checkpoint');
    expect(signed).toMatchObject({ code: 0, stderr: '' });
    writeFileSync(checkpoint, signed.stdout);
    expect((await run('audit', 'verify', '--checkpoint', checkpoint)).code).toBe(0);
    tamper('DELETE FROM requests WHERE sequence = 3; DELETE FROM checkpoints');
    const [alone, compared] = await Promise.all([
      run('audit', 'verify'),
      run('audit', 'verify', '--checkpoint', checkpoint),
    ]);
    expect(alone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('✗ record 3: the last records are gone: the service wrote up to 3'),
    });
    expect(compared).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('✗ record 3: the last records are gone'),
    });
  });

  it('names changes outside the records, which the operator can accept', async () => {
    const { run, tamper, store } = await createData();
    await store.settings.putIfAbsent('a', 'b');
    tamper("UPDATE settings SET value = 'x' WHERE name = 'a'");
    const [broken, json, listed] = await Promise.all([
      run('audit', 'verify'),
      run('audit', 'verify', '--json'),
      run('audit', 'accept'),
    ]);
    const line = '✗ setting `a`: it was changed, not by the service\n';
    expect(broken).toMatchObject({ code: 1, stdout: '', stderr: line });
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      last: 3,
      differences: [{ table: 'settings', row: '["a"]' }],
    });
    expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was accepted') });
  });

  it.each([
    ['a table of another program', 'CREATE TABLE other (id INTEGER)', 'tampered'],
    ['another program', 'PRAGMA application_id = 7', 'foreign-database'],
    ['a later version', 'PRAGMA user_version = 999', 'newer-database'],
  ])('says as JSON why it cannot open the store: %s', async (_, statement, code) => {
    const { run, tamper } = await createData();
    tamper(statement);
    const [plain, ...asJson] = await Promise.all([
      run('audit', 'verify'),
      run('audit', 'verify', '--json'),
      run('audit', 'prune', '--before', '2026-03-01', '--json'),
    ]);
    expect(plain).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .+\n$/) });
    for (const { code: exitCode, stdout, stderr } of asJson) {
      expect([exitCode, stderr]).toEqual([1, '']);
      const message = plain.stderr.slice('error: '.length).trimEnd();
      expect(JSON.parse(stdout)).toEqual({ ok: false, error: { code, message } });
    }
  });

  it('reports a missing store as JSON', async () => {
    const { code, stdout } = await writ([
      'audit',
      'verify',
      '--json',
      '--data',
      join(createFolder(), 'none'),
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'no-store' } });
  });

  it('accepts an intended change, in the name of the user', async () => {
    const { run, tamper, store } = await createData();
    tamper("INSERT INTO settings VALUES ('a', 'b')");
    expect((await run('audit', 'accept', '--yes')).code).toBe(0);
    expect(await run('audit', 'verify')).toMatchObject({ code: 0, stderr: '' });
    expect((await run('audit', 'accept')).stdout).toContain('nothing to accept');
    const [change] = await store.chain.changes({ beforeSequence: null, countMax: 1 });
    expect(change).toMatchObject({ what: 'state-accepted', who: commandLineUser() });
  });

  it('refuses an invalid checkpoint, and a directory without a store', async () => {
    const { data, run } = await createData();
    const file = join(data, 'none.json');
    writeFileSync(file, '{}');
    const [none, absent, elsewhere] = await Promise.all([
      run('audit', 'verify', '--checkpoint', file),
      run('audit', 'verify', '--checkpoint', `${file}.absent`),
      writ(['audit', 'verify', '--data', join(data, 'elsewhere')]),
    ]);
    expect(none).toMatchObject({ code: 2, stderr: `error: ${file} is not a checkpoint\n` });
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read') });
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no store at') });
    expect(readdirSync(data)).not.toContain('elsewhere');
  });
});

describe('writ audit checkpoint', () => {
  it('signs nothing if the store was changed', async () => {
    const { run, tamper } = await createData();
    tamper('DELETE FROM requests WHERE sequence = 1');
    expect(await run('audit', 'checkpoint')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '✗ record 1: the record is missing\n',
    });
  });
});

describe('writ audit export', () => {
  it('prints the records of a time', async () => {
    const { run } = await createData();
    const [all, some, csv, wrong] = await Promise.all([
      run('audit', 'export'),
      run('audit', 'export', '--since', '2026-03-03', '--until', '2026-03-04T10:00:00Z'),
      run('audit', 'export', '--format', 'csv'),
      run('audit', 'export', '--since', 'yesterday'),
    ]);
    expect(
      all.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).sequence),
    ).toEqual([1, 2, 3]);
    expect(JSON.parse(some.stdout)).toMatchObject({ sequence: 2, at: '2026-03-03T10:00:00.000Z' });
    expect(csv.stdout.trimEnd().split('\r\n')).toHaveLength(4);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('`yesterday` is not a date') });
  });
});

describe('writ audit export --policies', () => {
  it('writes the sets that decided and the checkpoints, and names sets whose texts are gone', async () => {
    const { run, store } = await createData();
    const text = 'action a.b { n: number }\n\npolicy p on a.b {\n  allow small when payload.n < 3\n}\n';
    const digest = await keepSet(store, text);
    for (const set of [digest, '0'.repeat(64)])
      await store.requests.append(requestRow({ recordJson: `{"policySet":{"digest":"${set}"}}` }), {
        openMax: 20,
      });
    expect((await run('audit', 'checkpoint')).code).toBe(0);
    const sets = join(createFolder(), 'sets');
    const ran = await run('audit', 'export', '--policies', sets);
    expect(ran).toMatchObject({
      code: 1,
      stderr: `error: the policy set ${'0'.repeat(64)} cannot be written: its texts are no longer kept\n`,
    });
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(5);
    expect(readdirSync(sets).sort()).toEqual([`${digest}.json`, 'checkpoints.jsonl'].sort());
    const file = JSON.parse(readFileSync(join(sets, `${digest}.json`), 'utf8')) as object;
    expect(file).toMatchObject({ digest, texts: [{ path: 'a.policy', kind: 'policy', text }] });
    const checkpoint = JSON.parse(readFileSync(join(sets, 'checkpoints.jsonl'), 'utf8')) as object;
    expect(checkpoint).toMatchObject({ sequence: 5, purpose: 'end' });
    const later = await run('audit', 'export', '--since', '2026-03-05', '--policies', sets);
    expect(later).toMatchObject({ code: 0, stderr: '' });
  });
});

const missing = (path: string) => ({ code: 'list-file-missing', message: `there is no ${path}` }) as const;

/** Keeps a set with its texts, as a service does when it becomes active; returns its digest. */
async function keepSet({ documents }: Store, text: string): Promise<string> {
  const sources = { files: [{ path: 'a.policy', text }], readListFile: missing };
  const set = digest(compile(sources).set!);
  const history = createPolicyHistory({
    documents,
    current: () => ({
      digest: set,
      commit: null,
      texts: packTexts({ sources }, []),
      about: () => ({ policies: [], actions: [] }) as unknown as SetSummary,
    }),
    clock: () => startMs,
    onNoted: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  await history.note();
  return set;
}

describe('writ audit prune', () => {
  it('deletes older records, records the user, and the rest is verified', async () => {
    const { run, store } = await createData();
    expect(await run('audit', 'prune', '--before', '2026-03-04')).toMatchObject({
      code: 0,
      stdout: '2 records deleted\n',
    });
    expect((await run('audit', 'verify')).stdout).toContain('records 3 to 4 are unchanged');
    const { records } = await store.chain.segment(0, 10);
    expect(records[1]?.entry).toMatchObject({ what: 'records-pruned', who: commandLineUser() });
  });

  it('stops before a changed record', async () => {
    const { run, tamper } = await createData();
    tamper("UPDATE requests SET outcome = 'DENY' WHERE sequence = 2");
    expect(await run('audit', 'prune', '--before', '2026-03-04')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('✗ record 2'),
    });
    expect((await run('audit', 'verify')).stderr).toContain('✗ record 2');
  });
});

describe('writ backup', () => {
  it('copies store and key while the store is in use, and overwrites nothing', async () => {
    const { data, run } = await createData();
    const file = join(data, 'backup.db');
    expect(await run('backup', file)).toMatchObject({
      code: 0,
      stdout: `✓ ${file} and its key are in ${data}, with records up to 3\n`,
    });
    const copies = readdirSync(data).filter((name) => name.startsWith('backup'));
    expect(copies).toEqual(['backup.db', 'backup.db.key']);
    for (const name of copies) expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file);
    expect(await run('backup', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already exists'),
    });
    expect(readFileSync(file)).toEqual(bytes);
  });

  it('reports a copied store that was changed', async () => {
    const { data, run, tamper } = await createData();
    tamper('DELETE FROM requests WHERE sequence = 2');
    expect(await run('backup', join(data, 'backup.db'))).toMatchObject({
      code: 1,
      stderr: 'error: copied unchanged, but record 2: the record is missing\n',
    });
  });
});
