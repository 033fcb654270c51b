// Each guard of the statements that store, taken out in turn: its check must then see a forbidden write or
// answer. So every guard has a check, and no check passes for another reason than its guard.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import {
  type GrantPrecondition,
  switchKind,
} from '../../../src/service/store/contract/grant-precondition.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { spend, spentPlace, told, toldOfChange } from './guarded-writes.ts';
import { type PostgresServer, startPostgres, type TestDatabase } from './postgres-server.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow, startMs } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

interface Scene {
  readonly database: TestDatabase;
  /** Runs statements behind the back of all processes. */
  readonly sql: (text: string) => Promise<unknown>;
  /** Opens a store that serves, like a separate process. */
  readonly open: () => Promise<Store>;
  /** The grant precondition of the agent's requests while nothing has changed. */
  readonly precondition: GrantPrecondition;
  /** The longest time that the other transaction stays open while no answer comes. */
  readonly heldForMs: number;
}

interface Guard {
  readonly of: 'writ_fence' | 'writ_begin' | 'writ_records' | 'writ_append';
  /** Parts of the function's text, and the replacements that take the guard out. */
  readonly out: readonly (readonly [part: string, instead: string])[];
  /** The store's answer for a request that must not be stored, or whose outcome is uncertain. */
  readonly check: (scene: Scene) => Promise<string>;
  readonly told: string;
  /** The answer without the guard; `stored` when absent. */
  readonly toldWithout?: string;
  /** Without the guard, the write still waits for another transaction. */
  readonly stillWaits?: true;
}

/** The answer after another process has made a change. */
function changed(change: string, others: Partial<GrantPrecondition> = {}): Guard['check'] {
  return async ({ open, sql, precondition }) => {
    const store = await open();
    await sql(change);
    return await told(store, requestRow(), { ...precondition, ...others });
  };
}

const switched = `INSERT INTO document_kinds VALUES ('${switchKind}', 1)
  ON CONFLICT (kind) DO UPDATE SET generation = document_kinds.generation + 1`;
const idempotency = { key: 'k', bodyDigest: 'd', keptUntilMs: startMs + 600_000 };

const readSwitches = `SELECT coalesce((SELECT generation FROM document_kinds WHERE kind = p_switch_kind), 0), policy_digest
    INTO switches, active FROM control WHERE id = 1;`;

const guards: Readonly<Record<string, Guard>> = {
  'the epoch': {
    of: 'writ_fence',
    out: [['epoch = p_epoch AND ', '']],
    check: changed('UPDATE replicas SET epoch = epoch + 1'),
    told: 'fenced',
  },
  'the number of the batch': {
    of: 'writ_fence',
    out: [[' AND batch = p_batch - 1', '']],
    check: changed('UPDATE replicas SET batch = batch + 1'),
    told: 'fenced',
  },
  'what the server promises': {
    of: 'writ_fence',
    out: [['IF fault IS NOT NULL', 'IF false']],
    async check({ open, sql }) {
      const say = (fault: string) =>
        sql(`CREATE OR REPLACE FUNCTION writ_fault() RETURNS text LANGUAGE sql AS $$ SELECT ${fault} $$`);
      await say('NULL::text');
      const store = await open();
      await say("'is broken'");
      return await told(store, requestRow());
    },
    told: 'unwritable',
  },
  'the fence of every other write': {
    of: 'writ_begin',
    out: [['PERFORM writ_fence(p_slot, p_epoch, p_batch);', '']],
    async check({ open, sql }) {
      const store = await open();
      await sql('UPDATE replicas SET epoch = epoch + 1');
      return await toldOfChange(store);
    },
    told: 'fenced',
  },
  'that every other write is alone': {
    of: 'writ_records',
    out: [['PERFORM writ_alone();', 'NULL;']],
    check: (scene) => toldBeside(scene, 'SELECT writ_beside()', toldOfChange),
    told: 'after the other',
    toldWithout: 'beside the other',
  },
  'that every other write is in turn': {
    of: 'writ_begin',
    out: [['PERFORM writ_in_turn();', '']],
    check: (scene) =>
      toldBeside(scene, 'SELECT writ_in_turn()', ({ documents }) => documents.write([], null)),
    told: 'after the other',
    toldWithout: 'beside the other',
  },
  'that nobody is alone beside a refusal': {
    of: 'writ_records',
    out: [['PERFORM writ_beside();', 'NULL;']],
    check: (scene) =>
      toldBeside(scene, 'SELECT writ_alone()', ({ requests }) => requests.appendRefusal(refusalRecord())),
    told: 'after the other',
    toldWithout: 'beside the other',
  },
  'that refusals follow each other': {
    of: 'writ_records',
    out: [['FROM chain_end FOR UPDATE', 'FROM chain_end']],
    async check(scene) {
      const store = await scene.open();
      const other = `SELECT writ_records(false, '{changes}',
        ARRAY['{"at_ms":1,"who":"p","what":"tried","subject":""}'],
        ARRAY['{"after_json":null,"at_ms":1,"before_json":null,'], ARRAY['"kind":"change","sequence":'],
        ARRAY[',"subject":"","what":"tried","who":"p"}'])`;
      await whileUnderWay(scene, other, async () => {
        await store.requests.appendRefusal(refusalRecord());
        return '';
      });
      const { chain } = await verifyStore(store);
      return chain.kind;
    },
    told: 'whole',
    toldWithout: 'broken',
    stillWaits: true,
  },
  'the version of the agent': {
    of: 'writ_append',
    out: [
      ['OR (SELECT version FROM agents WHERE agents.id = b_agent[at]) IS DISTINCT FROM b_version[at]', ''],
    ],
    check: changed('UPDATE agents SET version = version + 1'),
    told: 'precondition-failed',
  },
  'the generation of the switches': {
    of: 'writ_append',
    out: [['OR b_switches[at] <> switches', '']],
    check: changed(switched),
    told: 'precondition-failed',
  },
  'the end of the key': {
    of: 'writ_append',
    out: [[' OR r_created[at] >= b_key_end[at]', '']],
    check: changed('SELECT 1', { keyNotAfterMs: startMs }),
    told: 'precondition-failed',
  },
  'the versions of documents': {
    of: 'writ_append',
    out: [['WHERE d.version <>', 'WHERE false AND d.version <>']],
    check: changed(
      `INSERT INTO documents (kind, id, version, created_ms, document_json) VALUES ('person', 'p', 2, 0, '{}')
        ON CONFLICT DO NOTHING`,
      {
        documents: [{ kind: 'person', id: 'p', version: 1 }],
      },
    ),
    told: 'precondition-failed',
  },
  'the active policies': {
    of: 'writ_append',
    out: [["WHEN active IS NOT NULL AND b_policies[at] <> active THEN 'policies-changed'", '']],
    check: changed(`UPDATE control SET policy_digest = 'other'`, { policies: 'seen' }),
    told: 'not-ready',
  },
  'whose a nonce is': {
    of: 'writ_append',
    out: [['nonces.owner <> p_owner', 'false']],
    check: changed(
      `INSERT INTO nonces VALUES ('n', 'other', ${startMs + 600_000}, ${startMs}) ON CONFLICT DO NOTHING`,
      {
        nonce: 'n',
      },
    ),
    told: 'nonce-used',
  },
  'the idempotency key': {
    of: 'writ_append',
    out: [['WHEN r_key[at] IS NOT NULL AND EXISTS', 'WHEN false AND EXISTS']],
    async check({ open }) {
      const [one, two] = [await open(), await open()];
      await one.requests.append(requestRow({ idempotency }), { openMax: 20 });
      return await told(two, requestRow({ idempotency }));
    },
    told: 'duplicate-key',
  },
  'how many requests are open': {
    of: 'writ_append',
    out: [["r_status[at] = 'pending' AND r_open_max[at]", 'false AND r_open_max[at]']],
    async check({ open }) {
      const [one, two] = [await open(), await open()];
      await one.requests.append(pendingRow(), { openMax: 1 });
      return await told(two, pendingRow(), undefined, 1);
    },
    told: 'too-many-open',
  },
  'where a meter stands': {
    of: 'writ_append',
    out: [['WHEN at = ANY (moved) THEN', 'WHEN false THEN']],
    check: ({ open }) => spentTwice(open),
    told: 'decided again',
    toldWithout: 'decided once',
  },
  'that what rests on a refused request falls with it': {
    of: 'writ_append',
    out: [["IF cardinality(e_request) > 0 AND NOT 'stored' = ALL (results) THEN", 'IF false THEN']],
    async check({ open }) {
      const [one, two] = [await open(), await open()];
      const key = { ...idempotency, key: crypto.randomUUID() };
      await one.requests.append(requestRow({ idempotency: key }), { openMax: 20 });
      const [, decided] = await Promise.all([spend(two, requestRow({ idempotency: key })), spend(two)]);
      return decided > 1 ? 'decided again' : 'decided once';
    },
    told: 'decided again',
    toldWithout: 'decided once',
  },
  'the order of lock and read': {
    of: 'writ_append',
    out: [
      [readSwitches, 'NULL;'],
      ['PERFORM writ_beside();', `${readSwitches} PERFORM writ_beside();`],
    ],
    check: switchedWhileWaiting,
    told: 'precondition-failed',
    stillWaits: true,
  },
  'who is alone': {
    of: 'writ_append',
    out: [['PERFORM writ_beside();', '']],
    check: switchedWhileWaiting,
    told: 'precondition-failed',
  },
  'the lock of a meter': {
    of: 'writ_append',
    out: [['PERFORM writ_lock_meters(m_definition, m_key);', 'NULL;']],
    async check(scene) {
      const store = await scene.open();
      const entered = `SELECT writ_lock_meters('{${spentPlace.definition}}', ARRAY['${spentPlace.key}']);
        INSERT INTO meter_entries (definition, request_id, meter_key, is_certain, written)
          VALUES ('${spentPlace.definition}', gen_random_uuid(), '${spentPlace.key}', true, pg_current_xact_id())`;
      return await whileUnderWay(scene, entered, async () =>
        (await spend(store)) > 1 ? 'decided again' : 'decided once',
      );
    },
    told: 'decided again',
    toldWithout: 'decided once',
  },
  'an idempotency key that is used at once': {
    of: 'writ_append',
    out: [['CASE WHEN r_key[at] IS NOT NULL THEN coalesce((', 'CASE WHEN false THEN coalesce((']],
    async check(scene) {
      const store = await scene.open();
      await scene.sql('DELETE FROM requests');
      return await whileUnderWay(scene, requestOfAnother('auto_approved'), () =>
        told(store, requestRow({ idempotency })),
      );
    },
    told: 'duplicate-key',
  },
  'requests that are opened at once': {
    of: 'writ_append',
    out: [["IF 'pending' = ANY (r_status)", 'IF false']],
    async check(scene) {
      const store = await scene.open();
      await scene.sql('DELETE FROM requests');
      const opened = `SELECT FROM agents WHERE id = 'agent-1' FOR NO KEY UPDATE; ${requestOfAnother('pending')}`;
      return await whileUnderWay(scene, opened, () => told(store, pendingRow(), undefined, 1));
    },
    told: 'too-many-open',
  },
  'the notice of a commit that did not wait': {
    of: 'writ_fence',
    out: [
      [
        'fault := writ_fault();',
        `PERFORM set_config('client_min_messages', 'error', false); fault := writ_fault();`,
      ],
    ],
    check: cancelledWait,
    told: 'uncertain',
    stillWaits: true,
  },
};

/** A statement that stores a request of another process beside those of this one. */
function requestOfAnother(status: string): string {
  return `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, expires_ms,
      idempotency_key, idempotency_digest, idempotency_until_ms, record_json, hash, idempotency_turn)
    VALUES (1000000, gen_random_uuid(), 'agent-1', 'pay.send', 'ALLOW', '${status}', ${startMs}, ${startMs + 600_000},
      'k', 'd', ${startMs + 600_000}, '{}', '', 0)`;
}

/** Whether an answer comes while a transaction with these statements is still open. */
async function toldBeside(
  scene: Scene,
  statements: string,
  tell: (store: Store) => Promise<unknown>,
): Promise<string> {
  const store = await scene.open();
  return await whileUnderWay(scene, statements, async () => {
    await tell(store);
    return (await underWay(scene)).length > 0 ? 'beside the other' : 'after the other';
  });
}

/** Whether a process decides again when another process has entered the meter meanwhile. */
async function spentTwice(open: Scene['open']): Promise<string> {
  const [one, two] = [await open(), await open()];
  // Sometimes a process reads the meter by itself in between and is right at once, so several rounds are
  // tried.
  for (let round = 0; round < 10; round += 1)
    for (const store of [one, two]) if ((await spend(store)) > 1) return 'decided again';
  return 'decided once';
}

/** The transactions that have run their statements and sleep. */
function asleep({ database }: Scene): Promise<readonly object[]> {
  return server.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = '${database.name}' AND wait_event = 'PgSleep'`,
  );
}

/** The transactions that have not ended. */
function underWay({ database }: Scene): Promise<readonly object[]> {
  return server.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = '${database.name}' AND state = 'active' AND query LIKE 'BEGIN;%'`,
  );
}

/**
 * The answer of `tell` while a transaction with these statements is open. The transaction ends once the
 * answer has come, or some time later.
 */
async function whileUnderWay(scene: Scene, statements: string, tell: () => Promise<string>): Promise<string> {
  const { sql, heldForMs } = scene;
  await sql(
    'CREATE SCHEMA IF NOT EXISTS test; CREATE TABLE IF NOT EXISTS test.told (); DELETE FROM test.told',
  );
  const ended = sql(`BEGIN; ${statements};
    DO $$ BEGIN
      FOR n IN 1..${heldForMs / 20} LOOP EXIT WHEN EXISTS (SELECT FROM test.told); PERFORM pg_sleep(0.02); END LOOP;
    END $$; COMMIT`);
  await expect.poll(() => asleep(scene), { interval: 5 }).not.toEqual([]);
  const answer = await tell();
  await sql('BEGIN; SET LOCAL synchronous_commit = local; INSERT INTO test.told DEFAULT VALUES; COMMIT');
  await ended;
  return answer;
}

/** A switch is turned on in a transaction whose end the batch waits for. */
async function switchedWhileWaiting(scene: Scene): Promise<string> {
  const store = await scene.open();
  await scene.sql('DELETE FROM document_kinds');
  return await whileUnderWay(scene, `SELECT writ_alone(); ${switched}`, () =>
    told(store, requestRow(), scene.precondition),
  );
}

/** An administrator cancels the wait of a commit for a standby, and the database suppresses warnings. */
async function cancelledWait(scene: Scene): Promise<string> {
  const { open, sql, database } = scene;
  await sql(`ALTER DATABASE ${database.name} SET client_min_messages = error`);
  // The store has stored nothing yet, so no knot is due; the commit of a knot would wait, too.
  const store = await open();
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND datname = '${database.name}' AND query LIKE '%writ_append%'`;
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  try {
    // The request is sent before commits wait, because the process also sends heartbeats when it is idle.
    const locked = 'LOCK TABLE requests IN SHARE MODE; SELECT pg_sleep(0.5); SELECT pg_reload_conf()';
    return await whileUnderWay(scene, locked, async () => {
      const telling = told(store, requestRow());
      await expect.poll(() => server.query(cancel), { interval: 10 }).not.toEqual([]);
      return await telling;
    });
  } finally {
    await server.query('ALTER SYSTEM RESET synchronous_standby_names');
    await server.query('SELECT pg_reload_conf()');
  }
}

async function setScene(): Promise<Scene> {
  const database = await server.createDatabase();
  const sql = (text: string) => server.query(text, database.name);
  const open = async () => {
    const store = await openStore(database);
    onTestFinished(() => store.close());
    await store.serve();
    return store;
  };
  const agent = agentRow({ id: 'agent-1' });
  const first = await openStore(database);
  await first.agents.add(agent, keyRow(agent.id));
  const found = await first.agents.find(agent.id);
  await first.close();
  const agentVersion = found?.version ?? 0;
  const seen = { keyNotAfterMs: null, switchGeneration: 0, documents: [] };
  return { database, sql, open, precondition: { agentId: agent.id, agentVersion, ...seen }, heldForMs: 400 };
}

async function takeOut({ sql }: Scene, { of, out }: Guard): Promise<void> {
  const [found] = (await sql(`SELECT pg_get_functiondef('${of}'::regproc) AS text`)) as { text: string }[];
  let text = found?.text ?? '';
  for (const [part, instead] of out) {
    expect(text.split(part)).toHaveLength(2);
    text = text.replace(part, () => instead);
  }
  await sql(text);
}

test.each(Object.keys(guards))('%s: nothing passes it, and without it something does', async (name) => {
  const guard = guards[name]!;
  const scene = await setScene();
  expect(await guard.check(scene)).toBe(guard.told);
  await takeOut(scene, guard);
  // Without the guard the write does not wait, so the other transaction may stay open longer.
  const heldForMs = guard.stillWaits ? scene.heldForMs : 10_000;
  expect(await guard.check({ ...scene, heldForMs })).toBe(guard.toldWithout ?? 'stored');
});

test('what rests on what still holds is stored', async () => {
  const { open, precondition } = await setScene();
  expect(await told(await open(), requestRow(), precondition)).toBe('stored');
});
