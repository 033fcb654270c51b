// Stores of earlier schemas and of every released version, opened by this version: nothing is lost, and the
// old state is copied first.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { requestColumns } from '../../../src/service/store/shared/rows.ts';
import { writ } from '../../cli/writ.ts';
import { keptPostgres } from '../../service/store/postgres-server.ts';
import { requestRow, temporaryFolder } from '../../service/store/rows.ts';
import { setClockAhead } from './clock.ts';
import {
  ask,
  type KnownFacts,
  people,
  policies,
  type Reply,
  type RequestName,
  type ServiceProcess,
  send,
  signIn,
  signOnceReady,
  startOn,
} from './fill-store.ts';
import { type Engine, keptStores, type LaidStore, layStore } from './kept-store.ts';

/** The store is opened a minute after it was kept: within the time of its waits, its window and its nonces. */
const laterMs = 60_000;

async function lay(name: string, engine: Engine): Promise<LaidStore> {
  const data = join(temporaryFolder(), 'var');
  const aheadMs = ({ stoppedAtMs }: KnownFacts) => stoppedAtMs + laterMs - Date.now();
  onTestFinished(() => setClockAhead(0));
  const laid = await layStore({ name, engine, data, server: keptPostgres, aheadMs });
  onTestFinished(laid.drop);
  setClockAhead(aheadMs(laid.known));
  return laid;
}

async function startLaid(laid: LaidStore): Promise<ServiceProcess> {
  const service = await startOn(laid.flags);
  onTestFinished(() => service.stop());
  return service;
}

describe.each(keptStores)('the store of %s in a %s', (name, engine) => {
  test('is upgraded by `store migrate`, and then whole, as its checkpoint says', async () => {
    const { options, env, checkpoint } = await lay(name, engine);
    const file = join(temporaryFolder(), 'checkpoint.json');
    writeFileSync(file, checkpoint);
    const run = (...args: readonly string[]) => writ([...args, ...options], { env });
    expect(await run('store', 'migrate')).toMatchObject({ code: 0 });
    const verified = await run('audit', 'verify', '--checkpoint', file);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/checkpoints? match/) });
    expect(await run('doctor', '--policies', policies)).toMatchObject({
      stdout: expect.not.stringMatching(/forged|changed from outside|earlier version/),
    });
  });

  test('is served: agents, people and numbers go on where they were', async () => {
    const laid = await lay(name, engine);
    const service = await startLaid(laid);
    await expectStatistics(service, laid.known);
    await expectRequests(service, laid.known);
    await expectSignatures(service, laid.known);
    await expectKeys(service, laid.known);
    await expectPeople(service, laid.known);
    await expectBudget(service, laid.known);
    await service.stop();
    const { code, stdout } = await writ(['audit', 'verify', ...laid.options], { env: laid.env });
    expect([code, stdout]).toEqual([0, expect.stringContaining('everything else is as the service left it')]);
  });

  test('has what an upgrade could lose', async () => {
    const count = counterOf(engine, await lay(name, engine));
    const tables = ['requests', 'request_events', 'refusals', 'changes', 'keys', 'nonces', 'documents'];
    for (const table of [...tables, 'meters', 'meter_entries', 'statistics', 'rule_hits', 'settings'])
      expect([table, await count(table)]).toEqual([table, expect.toSatisfy((rows) => rows > 0)]);
  });
});

/** Returns a function that counts the rows of a table. */
function counterOf(engine: Engine, { flags }: LaidStore): (table: string) => Promise<number> {
  if (engine === 'file') {
    const database = new Database(join(flags.data, 'writ.db'), { readonly: true });
    onTestFinished(() => void database.close());
    return async (table) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  }
  const name = new URL(flags.store ?? '').pathname.slice(1);
  return async (table) => {
    const server = await keptPostgres();
    const [found] = await server.query<{ n: number }>(`SELECT count(*)::int4 AS n FROM ${table}`, name);
    return found?.n ?? 0;
  };
}

async function expectStatistics(service: ServiceProcess, { statistics, tokens }: KnownFacts): Promise<void> {
  for (const { path, answer } of statistics) {
    const { body } = await send(service, path, { headers: bearer(tokens.working) });
    expect(body).toMatchObject(answer as object);
  }
}

/** Each request reads as it did, for people and for the agent. */
async function expectRequests(service: ServiceProcess, { agent, tokens }: KnownFacts): Promise<void> {
  const decisions: Record<string, unknown> = {};
  for (const [name, id] of Object.entries(agent.requestIds)) {
    const seen = await send(service, `/v1/requests/${id}`, { headers: bearer(tokens.working) });
    expect(seen.body).toMatchObject(agent.requests[name as RequestName] as object);
    const own = await send(service, `/v1/requests/${id}`, { headers: { 'x-agent-api-key': agent.apiKey } });
    decisions[name] = own.body.decision;
  }
  expect(decisions).toEqual({
    granted: 'ALLOW',
    approved: 'ALLOW',
    rejected: 'DENY',
    withdrawn: 'ESCALATE',
    denied: 'DENY',
    voted: 'ESCALATE',
    waiting: 'ESCALATE',
  });
}

/** A signature that was used is refused; others of the same secret are good. */
async function expectSignatures(service: ServiceProcess, { signer }: KnownFacts): Promise<void> {
  const { apiKey, body } = signer;
  const sent = (signature?: string): Promise<Reply> =>
    send(service, '/v1/authorize', {
      headers: {
        'x-agent-api-key': apiKey,
        ...(signature === undefined ? {} : { 'x-service-signature': signature }),
      },
      body,
    });
  await signOnceReady(service, signer, body);
  expect(await sent(signer.signature)).toMatchObject({
    status: 401,
    body: { detail: expect.stringContaining('the nonce has been used') },
  });
  expect(await sent()).toMatchObject({ status: 401 });
}

async function expectKeys(service: ServiceProcess, { otherKeys }: KnownFacts): Promise<void> {
  const statuses: Record<string, number> = {};
  for (const [name, key] of Object.entries(otherKeys)) statuses[name] = (await ask(service, key, 1)).status;
  expect(statuses).toEqual({ ended: 401, replaced: 200, disabled: 403 });
}

async function expectPeople(service: ServiceProcess, known: KnownFacts): Promise<void> {
  const { password, totpSecret, recoveryCodes, tokens, invitation } = known;
  const whoIs = async (headers: KnownFacts['session']) => await send(service, '/v1/session', { headers });
  expect(await whoIs(known.session)).toMatchObject({ status: 200, body: { person: { email: people.ann } } });
  const withoutCode = { email: people.ann, password };
  expect(await send(service, '/v1/session', { body: withoutCode })).toMatchObject({
    body: { type: 'urn:writ:error:code_needed' },
  });
  const codes = [totpAt(totpSecret, Date.now()), recoveryCodes[0] ?? ''];
  for (const code of codes) await signIn(service, { ...withoutCode, code });
  const [, used = ''] = codes;
  expect(await send(service, '/v1/session', { body: { ...withoutCode, code: used } })).toMatchObject({
    status: 401,
  });
  for (const email of [people.ben, people.cleo, people.ada, people.eve])
    await signIn(service, { email, password });
  const wrong = { email: people.ben, password: `${password}!` };
  expect(await send(service, '/v1/session', { body: wrong })).toMatchObject({ status: 401 });
  const joined = await send(service, '/v1/invitations/accept', { body: { token: invitation, password } });
  expect(joined).toMatchObject({ status: 201, body: { email: 'new@example.com' } });
  const agents = await send(service, '/v1/agents', { headers: bearer(tokens.working) });
  expect(agents.body.items.map((one: { readonly name: string }) => one.name).toSorted()).toEqual([
    ...['disabled', 'first-agent', 'rotated', 'signer'],
  ]);
  expect(await send(service, '/v1/agents', { headers: bearer(tokens.removed) })).toMatchObject({
    status: 401,
  });
}

/** Of 1000 there are 610 spent; what waits is approved, and little is left. */
async function expectBudget(service: ServiceProcess, { agent, password }: KnownFacts): Promise<void> {
  const { voted, waiting } = agent.requestIds;
  const session = async (email: string) => await signIn(service, { email, password });
  const [ben, cleo] = [await session(people.ben), await session(people.cleo)];
  const approve = (id: string, headers: KnownFacts['session']) =>
    send(service, `/v1/requests/${id}/approve`, { headers, body: { comment: 'kept' } });
  // Who has approved once does not count twice.
  await approve(voted, ben);
  const decision = async (id: string) =>
    (await send(service, `/v1/requests/${id}`, { headers: { 'x-agent-api-key': agent.apiKey } })).body
      .decision;
  expect(await decision(voted)).toBe('ESCALATE');
  expect(await approve(voted, cleo)).toMatchObject({ status: 200 });
  for (const person of [ben, cleo]) expect(await approve(waiting, person)).toMatchObject({ status: 200 });
  expect([await decision(voted), await decision(waiting)]).toEqual(['ALLOW', 'ALLOW']);
  const asked: string[] = [];
  for (const amount of [30, 15, 5, 1]) asked.push((await ask(service, agent.apiKey, amount)).body.decision);
  expect(asked).toEqual(['DENY', 'ALLOW', 'ALLOW', 'DENY']);
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

/** A store of the first schema, with one request. */
function earlierStore(folder: string): string {
  const path = join(folder, 'writ.db');
  const migrations = join(import.meta.dirname, '../../../src/service/store/sqlite/migrations');
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
