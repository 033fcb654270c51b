// What happens between processes that share a database when one of them is in the middle of a write, has lost its
// slot, or was refused: each decision rests on what is stored when it is stored.

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isWhole, verifyStore } from '../../../src/service/audit/verify-store.ts';
import type { MovedMeterEntry } from '../../../src/service/store/contract/metering.ts';
import type { RequestRow } from '../../../src/service/store/contract/records.ts';
import type { RequestChange, RequestChangeResult, Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { spentPlace } from './guarded-writes.ts';
import { keptPostgres, type PostgresServer, type TestDatabase } from './postgres-server.ts';
import { agentRow, keyRow, pendingRow, requestRow, startMs } from './rows.ts';
import { grantedEntries } from './stored-meters.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

interface Scene {
  readonly database: TestDatabase;
  /** Opens a store that serves, like a separate process. */
  readonly open: () => Promise<Store>;
  readonly sql: <R extends object>(text: string) => Promise<readonly R[]>;
}

async function setScene(): Promise<Scene> {
  const database = await server.createDatabase();
  const open = async () => {
    const store = await openStore(database);
    onTestFinished(() => store.close());
    await store.serve();
    return store;
  };
  return { database, open, sql: (text) => server.query(text, database.name) };
}

const entries = [{ ...spentPlace, isCertain: true, value: '1' }];

/** The code of the error, or the answer. */
const told = (answer: Promise<unknown>): Promise<string> =>
  answer.then(String, (error) => String(error.code ?? error));

/** Stores a request that enters the meter; returns how often it was decided, taken back, and the answer. */
async function spend(store: Store, row: RequestRow) {
  const count = { decided: 0, takenBack: 0 };
  const word = await told(
    store.meters.spend([spentPlace], () => {
      count.decided += 1;
      const revertMeters = () => {
        count.takenBack += 1;
      };
      return { row, limits: { openMax: 20 }, entries, revertMeters };
    }),
  );
  return { word, ...count };
}

function approval(requestId: string, others: Partial<RequestChange> = {}): RequestChange {
  const state = { status: 'approved', decidedAtMs: startMs + 5, expiresAtMs: startMs + 1_000_000 } as const;
  const events = [{ atMs: startMs + 5, who: 'ann', what: 'decided', state, detail: null }] as const;
  return { requestId, events, from: ['pending'], seen: 0, ...others };
}

const metersAsOf = ({ meters }: Store) => ({ series: [spentPlace], position: meters.position() });

interface OtherTransaction {
  readonly statements: string;
  /** How many transactions of the work wait for locks then. */
  readonly waitersMin?: number;
}

/**
 * What `work` resolves to, when it begins while another transaction with these statements is open. That one is
 * committed once so many transactions of the work wait for locks, or the work has ended without waiting.
 */
async function whileOpen<T>(
  { database: { name }, sql }: Scene,
  { statements, waitersMin = 1 }: OtherTransaction,
  work: () => Promise<T>,
): Promise<T> {
  await sql(
    'CREATE SCHEMA IF NOT EXISTS test; CREATE TABLE IF NOT EXISTS test.over (); DELETE FROM test.over',
  );
  const other = sql(`BEGIN; ${statements};
    DO $$ BEGIN
      FOR n IN 1..1000 LOOP EXIT WHEN EXISTS (SELECT FROM test.over); PERFORM pg_sleep(0.01); END LOOP;
    END $$; COMMIT`);
  const count = async (condition: string) =>
    (await server.query(`SELECT FROM pg_stat_activity WHERE datname = '${name}' AND ${condition}`)).length;
  await expect.poll(() => count("wait_event = 'PgSleep'"), { interval: 5 }).toBe(1);
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  working.catch(() => undefined);
  await expect
    .poll(async () => isOver || (await count("wait_event_type = 'Lock'")) >= waitersMin, { interval: 5 })
    .toBe(true);
  await sql('INSERT INTO test.over DEFAULT VALUES');
  await other;
  return await working;
}

/** A statement that enters the meter like a batch of another process. */
const enteredByOther = `SELECT writ_beside();
  INSERT INTO meter_entries (definition, request_id, meter_key, granted_ms, is_certain, value, written, slot)
  VALUES ('${spentPlace.definition}', gen_random_uuid(), '${spentPlace.key}', ${startMs + 2}, true, '1',
    pg_current_xact_id(), 7)`;

test('an approval waits for what another process is entering into its meters, and then does not rest on less', async () => {
  const scene = await setScene();
  const store = await scene.open();
  const waiting = pendingRow();
  expect((await spend(store, waiting)).word).toBe('stored');
  await store.meters.catchUp();
  const approve = (): Promise<RequestChangeResult> =>
    store.requests.change(approval(waiting.id, { meters: metersAsOf(store) }));
  expect(await whileOpen(scene, { statements: enteredByOther }, approve)).toBe('precondition-failed');
  await store.meters.catchUp();
  expect(await approve()).toBe('changed');
});

test('an approval does not rest on a grant that is given back in the same commit', async () => {
  const { open } = await setScene();
  const store = await open();
  const [granted, first, second] = [requestRow(), pendingRow(), pendingRow()];
  for (const row of [granted, first, second]) expect((await spend(store, row)).word).toBe('stored');
  await store.meters.catchUp();
  const meters = metersAsOf(store);
  const state = { status: 'consumed', decidedAtMs: startMs, expiresAtMs: startMs + 9 } as const;
  const released = { atMs: startMs + 4, who: 'ann', what: 'released', state, detail: null } as const;
  const results = await Promise.all([
    store.requests.change(approval(first.id, { meters })),
    store.requests.change({ requestId: granted.id, events: [released], from: ['auto_approved'], seen: 0 }),
  ]);
  expect(results).toEqual(['precondition-failed', 'changed']);
  expect(await grantedEntries(store, spentPlace.definition)).toEqual([]);
  // What waited when the meters were read was allowed for, so approvals need not be stored one by one.
  await store.meters.catchUp();
  const again = metersAsOf(store);
  const approvals = [first, second].map(({ id }) => store.requests.change(approval(id, { meters: again })));
  expect(await Promise.all(approvals)).toEqual(['changed', 'changed']);
  expect(await grantedEntries(store, spentPlace.definition)).toHaveLength(2);
});

test('an approval by other policies than the active ones is not made', async () => {
  const scene = await setScene();
  const store = await scene.open();
  const agent = agentRow();
  await store.agents.add(agent, keyRow(agent.id));
  const waiting = pendingRow({ agentId: agent.id });
  await store.requests.append(waiting, { openMax: 20 });
  await scene.sql("UPDATE control SET policy_digest = 'active'");
  const precondition = {
    agentId: agent.id,
    agentVersion: 1,
    keyNotAfterMs: null,
    switchGeneration: 0,
    documents: [],
  };
  const approve = (policies: string) =>
    store.requests.change(approval(waiting.id, { precondition: { ...precondition, policies } }));
  expect(await approve('other')).toBe('precondition-failed');
  expect(await approve('active')).toBe('changed');
});

test.each([
  ['approved', startMs + 5, false],
  ['withdrawn', null, true],
] as const)(
  'each process hears that a request it has entered was %s by another',
  async (status, decidedAtMs, isGone) => {
    const { open } = await setScene();
    const [one, two] = [await open(), await open()];
    const waiting = pendingRow();
    expect((await spend(one, waiting)).word).toBe('stored');
    const heard: MovedMeterEntry[][] = [[], []];
    for (const [at, store] of [one, two].entries()) {
      await store.meters.catchUp();
      store.meters.onMoved((moved) => void heard[at]?.push(...moved));
    }
    const change = approval(waiting.id);
    const [event] = change.events;
    const events = [{ ...event!, state: { ...event!.state, status, decidedAtMs } }];
    expect(await two.requests.change({ ...change, events })).toBe('changed');
    for (const store of [one, two]) await store.meters.catchUp();
    const moved = expect.objectContaining({
      requestId: waiting.id,
      isGone,
      ...(isGone ? {} : { grantedAtMs: decidedAtMs }),
    });
    expect(heard).toEqual([[moved], [moved]]);
  },
);

test('a snapshot of a meter waits for what is being entered, and has it', async () => {
  const scene = await setScene();
  const store = await scene.open();
  for (let at = 0; at < 5; at += 1) await spend(store, requestRow({ decidedAtMs: startMs + at }));
  await whileOpen(scene, { statements: enteredByOther }, () =>
    store.meters.keepSnapshot(spentPlace.definition, { fromMs: 0, untilMs: startMs + 10, countMax: 4 }),
  );
  expect(await scene.sql('SELECT FROM meter_snapshots')).toHaveLength(1);
  expect(await grantedEntries(store, spentPlace.definition)).toHaveLength(6);
});

test('a knot waits for a batch that has its numbers already, and names its last record', async () => {
  const scene = await setScene();
  const [one, two] = [await scene.open(), await scene.open()];
  await one.requests.append(requestRow(), { openMax: 20 });
  await two.requests.append(requestRow(), { openMax: 20 });
  const isStoring = `datname = '${scene.database.name}' AND wait_event = 'relation'`;
  const storeAndTie = async () => {
    const storing = one.requests.append(requestRow(), { openMax: 20 });
    const look = () => server.query(`SELECT FROM pg_stat_activity WHERE ${isStoring}`);
    await expect.poll(look, { interval: 5 }).toHaveLength(1);
    await Promise.all([storing, two.chain.tie()]);
  };
  await whileOpen(scene, { statements: 'LOCK TABLE requests IN SHARE MODE', waitersMin: 2 }, storeAndTie);
  expect(isWhole(await verifyStore(two))).toBe(true);
  const lasts = await scene.sql<{ last: string }>(
    'SELECT max(sequence) AS last FROM requests WHERE sequence < (SELECT max(sequence) FROM knots) GROUP BY lane',
  );
  const [knot] = await scene.sql<{ ends: string }>(
    'SELECT ends_json AS ends FROM knots ORDER BY sequence DESC LIMIT 1',
  );
  expect(lasts).toHaveLength(2);
  for (const { last } of lasts) expect(knot?.ends).toContain(`,${last},`);
});

test('a request that loses a race for its idempotency key is taken back before it is decided again', async () => {
  const scene = await setScene();
  const store = await scene.open();
  const idempotency = { key: 'k', bodyDigest: 'd', keptUntilMs: startMs + 600_000 };
  const stored = `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, expires_ms,
      idempotency_key, idempotency_digest, idempotency_until_ms, record_json, hash, idempotency_turn)
    VALUES (1000000, gen_random_uuid(), 'agent-1', 'pay.send', 'ALLOW', 'auto_approved', ${startMs},
      ${startMs + 600_000}, 'k', 'd', ${startMs + 600_000}, '{}', '', 0)`;
  const row = requestRow({ idempotency });
  const spent = await whileOpen(scene, { statements: stored }, () => spend(store, row));
  expect(spent).toEqual({ word: 'duplicate-key', decided: 2, takenBack: 2 });
});

test('a request that the server gives up to end a deadlock is taken back, and decided again', async () => {
  const { database, open, sql } = await setScene();
  const store = await open();
  // Waits for the row of the process as soon as the process waits for the meter, and leaves it to that one to find out.
  const other = sql(`BEGIN; SET LOCAL deadlock_timeout = '30s';
    SELECT writ_lock_meters('{${spentPlace.definition}}', ARRAY['${spentPlace.key}']);
    DO $$ BEGIN
      FOR n IN 1..3000 LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid);
        PERFORM pg_sleep(0.01);
      END LOOP;
    END $$; UPDATE replicas SET seen_at = seen_at WHERE slot = 0; COMMIT`);
  const isAsleep = `datname = '${database.name}' AND wait_event = 'PgSleep'`;
  const look = () => server.query(`SELECT FROM pg_stat_activity WHERE ${isAsleep}`);
  await expect.poll(look, { interval: 5 }).toHaveLength(1);
  const spent = await spend(store, requestRow());
  await other;
  expect(spent.word).toBe('stored');
  // The process may be faster than the other transaction, and then there is one more deadlock.
  expect(spent.decided).toBeGreaterThan(1);
  expect(spent.decided - spent.takenBack).toBe(1);
});

test('what was entered for a request that the database refuses is taken back, and once for each decision', async () => {
  const { open } = await setScene();
  const store = await open();
  const broken = requestRow({ createdAtMs: 2 ** 70 });
  expect(await spend(store, broken)).toEqual({ word: 'internal', decided: 1, takenBack: 1 });
  const [good, bad] = await Promise.all([
    spend(store, requestRow()),
    spend(store, { ...broken, id: requestRow().id }),
  ]);
  expect([good?.word, bad?.word]).toEqual(['stored', 'internal']);
  expect(good!.decided - good!.takenBack).toBe(1);
  expect(bad!.decided - bad!.takenBack).toBe(0);
});

test('a process that loses its slot exits at its next write', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  const ended: string[] = [];
  store.onEnd(({ code }) => ended.push(code));
  await sql('UPDATE replicas SET epoch = epoch + 1 WHERE slot = 0');
  expect(await told(store.requests.append(requestRow(), { openMax: 20 }))).toBe('fenced');
  expect(ended).toEqual(['fenced']);
});

test('after a restore no process of before stores anything, whatever epochs the database gave out since the backup', async () => {
  const { database, open, sql } = await setScene();
  const store = await open();
  const epochNow = async () =>
    Number((await sql<{ epoch: string }>('SELECT epoch FROM replicas WHERE slot = 0'))[0]?.epoch);
  const atBackup = await epochNow();
  const restored = await openStore(database);
  onTestFinished(() => restored.close());
  await restored.replicas?.fenceAll();
  expect(await told(store.requests.append(requestRow(), { openMax: 20 }))).toBe('fenced');
  await open();
  expect((await epochNow()) - atBackup).toBeGreaterThan(1_000_000);
});

test('a process that stores nothing hears that it lost its slot, too', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  const ended: string[] = [];
  store.onEnd(({ code }) => ended.push(code));
  await sql('UPDATE replicas SET epoch = epoch + 1 WHERE slot = 0');
  await expect.poll(() => ended, { interval: 20, timeout: 10_000 }).toEqual(['fenced']);
});

test('policies that were wanted before others became active do not become active', async () => {
  const { open } = await setScene();
  const { replicas } = await open();
  const activate = (digest: string, epoch: number) =>
    replicas?.activate({ digest, filesJson: '[]' }, { epoch, atMs: startMs });
  const { epoch } = (await replicas?.now())!;
  expect(await activate('a', epoch)).toBe(true);
  await replicas?.tell({ wants: 'b', isReady: true });
  expect(await activate('b', epoch)).toBe(false);
  expect(await replicas?.now()).toMatchObject({ active: 'a', epoch: epoch + 1 });
  expect(await activate('b', epoch + 1)).toBe(true);
});

test('policies become active only once all that serve want them', async () => {
  const { open } = await setScene();
  const [one, two] = [(await open()).replicas!, (await open()).replicas!];
  const activate = async (digest: string) =>
    one.activate({ digest, filesJson: '[]' }, { epoch: (await one.now()).epoch, atMs: startMs });
  expect(await activate('a')).toBe(true);
  await one.tell({ wants: 'b', isReady: true });
  expect(await activate('b')).toBe(false);
  await two.tell({ wants: 'a', isReady: true });
  expect(await activate('b')).toBe(false);
  await two.tell({ wants: 'b', isReady: true });
  expect(await activate('b')).toBe(true);
});

test('a nonce belongs to the process that took it first, also where nothing is stored with it', async () => {
  const { open } = await setScene();
  const [one, two] = [await open(), await open()];
  const use = { nonce: 'n', usedAtMs: startMs, keptUntilMs: startMs + 600_000 };
  one.nonces.note(use);
  expect(await one.settle('n')).toBe('settled');
  two.nonces.note(use);
  expect(await two.settle('n')).toBe('nonce-used');
  expect(await one.settle('n')).toBe('settled');
  one.nonces.note({ ...use, nonce: 'with a write' });
  const agent = agentRow();
  await one.agents.add(agent, keyRow(agent.id));
  expect(await one.settle('with a write')).toBe('settled');
  expect(await two.settle('with a write')).toBe('nonce-used');
});

test('a process that was replaced, and ends without knowing it, leaves the slot to its successor', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  await sql("UPDATE replicas SET epoch = epoch + 1, instance = 'successor' WHERE slot = 0");
  await store.close();
  expect(await sql('SELECT instance FROM replicas WHERE slot = 0')).toEqual([{ instance: 'successor' }]);
});

test('what others have entered before a connection broke is heard of after it', async () => {
  const { database, open } = await setScene();
  const [one, two] = [await open(), await open()];
  await one.meters.catchUp();
  const heard: string[] = [];
  one.meters.onMoved((moved) => heard.push(...moved.map(({ requestId }) => requestId)));
  const row = requestRow();
  expect((await spend(two, row)).word).toBe('stored');
  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`,
  );
  await expect.poll(() => told(one.meters.catchUp()), { interval: 20 }).toBe('undefined');
  expect(heard).toContain(row.id);
});

test('a request that was edited since it was read gets no event: no vote, and no end of its wait', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  const waiting = pendingRow({ expiresAtMs: startMs + 10 });
  await store.requests.append(waiting, { openMax: 20 });
  expect((await store.requests.history(waiting.id))?.events).toEqual([]);
  await sql("UPDATE requests SET record_json = replace(record_json, 'Staples', 'Uline')");
  expect(await told(store.requests.change(approval(waiting.id)))).toBe('tampered');
  expect(await told(store.requests.expireDue(startMs + 10, 10))).toBe('tampered');
  expect(await sql('SELECT FROM request_events')).toEqual([]);
});

test('a request without one of its earlier events is not shown', async () => {
  const { database, sql } = await setScene();
  const store = await openStore(database);
  const waiting = pendingRow();
  await store.requests.append(waiting, { openMax: 20 });
  const state = { status: 'pending', decidedAtMs: null, expiresAtMs: waiting.expiresAtMs } as const;
  for (const what of ['approved', 'taken-back', 'commented'] as const) {
    const events = [{ atMs: startMs, who: 'ann', what, state, detail: {} }] as const;
    await store.requests.change({ requestId: waiting.id, events, from: ['pending'], seen: null });
  }
  await store.close();
  await sql("DELETE FROM request_events WHERE what = 'taken-back'");
  // Another process, which has not seen how many events there were.
  const other = await openStore(database);
  onTestFinished(() => other.close());
  expect(await told(other.requests.history(waiting.id))).toBe('tampered');
});

test('a process that has lost its slot shows no request, since it may not know what became of it', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  const row = requestRow();
  await store.requests.append(row, { openMax: 20 });
  expect((await store.requests.history(row.id))?.row.id).toBe(row.id);
  await sql('UPDATE replicas SET epoch = epoch + 1 WHERE slot = 0');
  expect(await told(store.requests.history(row.id))).toBe('fenced');
});

test('a process that serves nothing, and whose version is no longer that of the database, writes nothing', async () => {
  const { database, sql } = await setScene();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const agent = agentRow();
  await sql('UPDATE control SET schema_version = schema_version + 1');
  expect(await told(store.agents.add(agent, keyRow(agent.id)))).toBe('newer-database');
  expect(await sql('SELECT FROM agents')).toEqual([]);
});

test('the quick check of a start finds a record that was added behind the end of its lane', async () => {
  const { open, sql } = await setScene();
  const store = await open();
  await store.requests.append(requestRow(), { openMax: 20 });
  expect(await store.state.differences({ isQuick: true })).toEqual([]);
  await sql(`INSERT INTO changes (sequence, at_ms, who, what, subject, hash)
    VALUES (1000, ${startMs}, 'ann', 'agent-added', '', repeat('0', 64))`);
  const found = await store.state.differences({ isQuick: true });
  expect(found).toMatchObject([{ table: 'records', row: '1000' }]);
});
