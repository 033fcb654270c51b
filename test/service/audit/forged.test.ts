// Somebody who can write the store, and has no master key, changes what a grant rests on, while the service
// runs and before it starts: nothing is granted, shown as granted, taken or proved by it.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCheckpointSigner } from '../../../src/service/audit/checkpoint.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { findChanged } from '../../../src/service/audit/verify-start.ts';
import { isWhole, verifyStore } from '../../../src/service/audit/verify-store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { third } from '../../support/tries.ts';
import { authorize, type Service, startService } from '../http/service.ts';
import { give } from '../http/written-policies.ts';
import { keptPostgres } from '../store/postgres-server.ts';
import { requestRow, temporaryFolder } from '../store/rows.ts';
import { fillStore } from './filled.ts';
import { edits, type Facts, fillService, peopleOf, type TargetName, type Team, ways } from './forged.ts';

interface Intruder {
  readonly run: (statements: readonly string[]) => void;
  /** Puts all tables back to what they were when this function was made. */
  readonly putBack: () => void;
}

function intruderOf(service: Service): Intruder {
  const path = 'path' in service.place ? service.place.path : '';
  const database = new Database(path);
  onTestFinished(() => void database.close());
  database.pragma('foreign_keys = OFF');
  const tables = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck()
    .all();
  for (const table of tables) database.exec(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM main.${table}`);
  return {
    run: database.transaction((statements: readonly string[]) => {
      for (const statement of statements) database.exec(statement);
    }),
    putBack: database.transaction(() => {
      for (const table of tables) {
        database.exec(`DELETE FROM main.${table}`);
        database.exec(`INSERT INTO main.${table} SELECT * FROM kept_${table}`);
      }
    }),
  };
}

async function factsOf({ service }: Team): Promise<Facts> {
  const { lastSequence } = await service.store.chain.segment(0, 0);
  return { lastSequence, soonMs: Date.now() + 3_600_000, people: await peopleOf(service.store) };
}

const grantsBefore: Readonly<Record<string, readonly TargetName[]>> = {
  poll: ['approved', 'granted'],
  list: ['approved', 'granted'],
  // One call takes an approval, and only then it has a receipt.
  attach: ['approved'],
  repeat: ['granted'],
  receipt: ['approved', 'granted'],
  vote: ['waiting', 'halfApproved'],
  outcome: ['granted'],
};

const freeBody = JSON.stringify({ action_key: 'pay.free', payload: { amount: 5 } });

/**
 * What a running service on PostgreSQL does not see, since nothing there counts the events of a request. A start and
 * `audit verify` see each of them.
 */
const unseenInUse: readonly string[] = [
  'approved: the hash is another: poll',
  'approved: the hash is another: attach',
  'approved: the hash is another: receipt',
  'rejected: its end is gone: vote',
  'executed: its end is gone: poll',
  'executed: its end is gone: receipt',
  'executed: its end is gone, and not counted: poll',
  'executed: its end is gone, and not counted: receipt',
  'executed: its end is gone, and nothing is counted: poll',
  'executed: its end is gone, and nothing is counted: receipt',
  'withdrawn: its end is gone: vote',
];

async function filled(): Promise<Team> {
  const service = await startService({ isInFile: true });
  const team = await fillService(service);
  await service.store.serve();
  return team;
}

describe('in a file', () => {
  test('no edit of a request grants anything, and none is left unnoticed by a start', {
    timeout: 300_000,
  }, async () => {
    const team = await filled();
    const { service } = team;
    const intruder = intruderOf(service);
    const facts = await factsOf(team);
    const faults: string[] = [];
    for (const { name, target, statements, inFile } of third(edits)) {
      intruder.run([...statements(team.ids, facts), ...(inFile?.(team.ids) ?? [])]);
      const changed = await findChanged(service.store, 'the store');
      if (changed === null) faults.push(`${target}: ${name}: a start`);
      if (isWhole(await verifyStore(service.store))) faults.push(`${target}: ${name}: verify`);
      for (const [way, grants] of Object.entries(ways))
        if (await grants(team, target)) faults.push(`${target}: ${name}: ${way}`);
      intruder.putBack();
    }
    expect(faults).toEqual([]);
    expect(await findChanged(service.store, 'the store')).toBeNull();
    for (const [way, targets] of Object.entries(grantsBefore))
      for (const target of targets) expect(await ways[way]?.(team, target), `${way} of ${target}`).toBe(true);
  });

  test.each([
    ["UPDATE agents SET risk_tier = 'critical'", 'agent `'],
    ["UPDATE keys SET not_after_ms = NULL, digest = 'x'", 'key `'],
    [
      "UPDATE documents SET document_json = replace(document_json, 'finance', 'legal') WHERE kind = 'person'",
      'person `',
    ],
    ["DELETE FROM documents WHERE kind = 'person'", 'person `'],
    [
      "INSERT INTO documents SELECT kind, 'forged', version, NULL, parent, created_ms, ends_ms, document_json FROM documents WHERE kind = 'person' LIMIT 1",
      'person `forged`',
    ],
    ["INSERT INTO settings VALUES ('a', 'b')", 'setting `a`'],
    ["INSERT INTO nonce_batches VALUES (1, 1, '[]')", 'table `nonce_batches`'],
    ["INSERT INTO meter_entries VALUES ('d', 'r', 'k', 1, 1, '5')", 'of `meter_entries`'],
    ["INSERT INTO request_heads VALUES ('other', 1, 1)", 'table `request_heads`'],
    ['UPDATE heads_mark SET swept_ms = 9000000000000', 'table `heads_mark`'],
    ['DELETE FROM request_heads', 'table `request_heads`'],
  ])(
    'what was changed beside the records stops the next write of a running service: %s',
    async (statement, name) => {
      const { service, ids, ann } = await filled();
      const intruder = intruderOf(service);
      intruder.run([statement]);
      expect((await findChanged(service.store, 'the store'))?.message).toContain(name);
      expect((await authorize(service, { body: freeBody })).status).not.toBe(200);
      expect((await give(ann, ids.waiting, 'approve')).status).not.toBe(200);
      intruder.putBack();
      expect((await authorize(service, { body: freeBody })).status).toBe(200);
    },
  );

  test('an earlier state of a request, with the seal of its time, grants nothing', async () => {
    const { service, ids, ann } = await filled();
    const earlier = intruderOf(service);
    expect((await give(ann, ids.waiting, 'reject')).status).toBe(200);
    earlier.putBack();
    expect(await ways.poll?.({ service, ids, ann } as Team, 'waiting')).toBe(false);
    const reply = await give(ann, ids.waiting, 'approve');
    expect(reply.status).toBe(500);
    expect(service.log.join()).toContain(`request \`${ids.waiting}\`: it has 1 events, and has had 2`);
  });
});

test('an earlier copy of the whole file is genuine, and a checkpoint kept elsewhere shows it', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  await fillStore(store);
  await store.close();
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const later = await openStore({ path });
  await later.requests.append(requestRow(), { openMax: 9 });
  const chain = await verifyChain(later);
  if (chain.kind === 'broken') throw new Error(chain.break.message);
  const checkpoint = createCheckpointSigner(later.masterKey).sign(chain.end, 'end', Date.now());
  await later.close();
  copyFileSync(copy, path);
  const restored = await openStore({ path });
  onTestFinished(() => restored.close());
  expect(await findChanged(restored, 'the store')).toBeNull();
  expect(await verifyChain(restored, { checkpoints: [checkpoint] })).toMatchObject({
    kind: 'broken',
    break: { difference: 'truncated' },
  });
});

describe('in PostgreSQL', () => {
  async function filledDatabase(): Promise<Team & { readonly query: (text: string) => Promise<unknown> }> {
    const server = await keptPostgres();
    const database = await server.createDatabase();
    const store = await openStore(database);
    const service = await startService({ store });
    const team = await fillService(service);
    onTestFinished(() => database.drop());
    return { ...team, query: (text) => server.query(text, database.name) };
  }

  const kept = `SELECT id FROM kept.requests`;
  const keep = `CREATE SCHEMA kept; CREATE TABLE kept.requests AS SELECT * FROM requests;
    CREATE TABLE kept.request_events AS SELECT * FROM request_events`;
  const putBack = `DELETE FROM request_events WHERE request_id IN (${kept}) OR sequence IN (SELECT sequence FROM kept.request_events);
    DELETE FROM requests WHERE id IN (${kept});
    INSERT INTO requests SELECT * FROM kept.requests; INSERT INTO request_events SELECT * FROM kept.request_events`;

  test('no edit of a request grants anything, and none is left unnoticed by a start', {
    timeout: 300_000,
  }, async () => {
    const team = await filledDatabase();
    const { service, query } = team;
    await query(keep);
    const facts = await factsOf(team);
    const faults: string[] = [];
    // All of them in their order, since what one vote leaves behind decides what later edits come to.
    for (const { name, target, statements } of edits) {
      await query(`BEGIN; ${statements(team.ids, facts).join(';')}; COMMIT`);
      if ((await findChanged(service.store, 'the store')) === null)
        faults.push(`${target}: ${name}: a start`);
      // A call that is repeated under another key makes a request of its own, which cannot be undone here.
      for (const way of ['poll', 'vote', 'attach', 'receipt'])
        if (await ways[way]?.(team, target)) faults.push(`${target}: ${name}: ${way}`);
      await query(`BEGIN; ${putBack}; COMMIT`);
    }
    // The votes that were taken unseen have left records, so the store is not whole again and nothing more is granted.
    expect(faults).toEqual(unseenInUse);
  });

  test.each([
    "UPDATE agents SET risk_tier = 'critical'",
    'UPDATE keys SET not_after_ms = NULL',
    "UPDATE documents SET version = version + 1 WHERE kind = 'person'",
    "DELETE FROM documents WHERE kind = 'person'",
    "INSERT INTO settings VALUES ('a', 'b')",
    "INSERT INTO nonces VALUES ('n', 'o', 1, 1)",
  ])('what is beside the records has no seal, so this is not seen: %s', async (statement) => {
    const { service, query } = await filledDatabase();
    await query(statement);
    expect(await findChanged(service.store, 'the store')).toBeNull();
    expect(isWhole(await verifyStore(service.store))).toBe(true);
  });
});
