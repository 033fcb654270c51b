// Somebody who can write the file of a store, and does not have its key, edits what meters count: no edit
// leaves more of a budget than there was.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { begin, type World } from './metered.ts';

const policies = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy budget on pay.send { allow all  deny beyond when spent > 100 USD }`;
const pay = (amount: number) => ({ amount, currency: 'USD' });
const snapshotEntries = 4;

/** A store in which 90 of 100 USD are spent in nine requests: two snapshots of four, and one beside them. */
async function spentStore() {
  const path = join(temporaryFolder(), 'writ.db');
  const agent = agentRow();
  const world: World = { nowMs: startMs, active: activeOf(policies) };
  const service = await begin(path, world, agent, { snapshotEntries });
  for (let at = 0; at < 9; at += 1) {
    world.nowMs += 1_000;
    expect((await service.ask(pay(10))).decision).toBe('ALLOW');
  }
  world.nowMs += 60_000;
  await service.metering.tidy(world.active);
  await service.end();
  return { path, agent, world };
}

const first = 'until_ms = (SELECT min(until_ms) FROM meter_snapshots)';
const last = 'granted_ms = (SELECT max(granted_ms) FROM meter_entries)';
const earliest = 'granted_ms = (SELECT min(granted_ms) FROM meter_entries)';

const edits: Readonly<Record<string, string>> = {
  'an amount in a snapshot': `UPDATE meter_snapshots SET entries_json = replace(entries_json, '"10"', '"1"') WHERE ${first}`,
  'a snapshot without entries': `UPDATE meter_snapshots SET entry_count = 0, tags_sum = '0',
    entries_json = '{"requests":[],"keys":[],"granted":[],"certain":[],"values":[]}'`,
  'a snapshot of other entries': `UPDATE meter_snapshots SET entries_json =
    (SELECT entries_json FROM meter_snapshots ORDER BY until_ms DESC LIMIT 1)`,
  'the stretch of a snapshot': 'UPDATE meter_snapshots SET until_ms = until_ms + 86400000 WHERE until_ms > 0',
  'a snapshot that is gone': `DELETE FROM meter_snapshots WHERE ${first}`,
  'a snapshot that is gone with its entries': `DELETE FROM meter_entries WHERE granted_ms <
    (SELECT min(until_ms) FROM meter_snapshots); DELETE FROM meter_snapshots WHERE ${first}`,
  'all snapshots and entries gone': 'DELETE FROM meter_snapshots; DELETE FROM meter_entries',
  'an entry beside snapshots': `UPDATE meter_entries SET value = '1' WHERE ${last}`,
  'an entry beside snapshots that is gone': `DELETE FROM meter_entries WHERE ${last}`,
  'an entry of another agent': `UPDATE meter_entries SET meter_key = 'x' WHERE ${last}`,
  'an entry that a snapshot holds, moved beside it': `UPDATE meter_entries SET granted_ms = granted_ms + 900000 WHERE ${earliest}`,
  'an entry that gives back': `INSERT INTO meter_entries SELECT definition, 'forged', meter_key, granted_ms, 1, '-80'
    FROM meter_entries WHERE ${last}`,
  'a pending entry that gives back': `INSERT INTO meter_entries SELECT definition, 'forged', meter_key, NULL, 1, '-80'
    FROM meter_entries WHERE ${last}`,
  'a snapshot that gives back': `INSERT INTO meter_snapshots SELECT definition, until_ms, until_ms + 1, 1,
    replace(entries_json, '"10"', '"-80"'), '0' FROM meter_snapshots WHERE ${first}`,
  'a meter that has no past': 'UPDATE meter_entries SET granted_ms = granted_ms - 864000000',
};

describe('an edit of the file leaves no more to spend', () => {
  test.each(Object.entries(edits))('%s', async (_, edit) => {
    const { path, agent, world } = await spentStore();
    const database = new Database(path);
    database.exec(edit);
    database.close();
    const store = await openStore({ path });
    // A start of the service looks first, and ends there.
    expect(await store.state.differences({ isQuick: true })).not.toEqual([]);
    await expect(store.meters.openPast()).rejects.toMatchObject({ code: 'tampered' });
    const failures: unknown[] = [];
    const metering = createMetering({
      // As if the edit came after the service had begun.
      meters: { ...store.meters, note: async (definitions) => definitions.map(() => 0) },
      clock: () => world.nowMs,
      onFailure: (error) => failures.push(error),
    });
    await metering.note(world.active);
    await metering.settled();
    const { meters } = world.active;
    expect(failures).toMatchObject(meters.map(() => ({ code: 'tampered' })));
    expect(metering.missing(world.active)).toMatchObject(meters.map(() => ({ why: 'unreadable' })));
    await metering.close();
    await store.close();
    await expect(begin(path, world, agent)).rejects.toMatchObject({ code: 'tampered' });
  });

  test('nor does an earlier seal with what it sealed', async () => {
    const { path, agent, world } = await spentStore();
    const database = new Database(path);
    const seal = database.prepare<[], { sums_json: string; mac: string }>('SELECT * FROM state_seal').get()!;
    database.close();
    const service = await begin(path, world, agent, { snapshotEntries });
    expect((await service.ask(pay(5))).decision).toBe('ALLOW');
    await service.end();
    const forging = new Database(path);
    forging.exec(`DELETE FROM meter_entries WHERE ${last}`);
    forging.prepare('UPDATE state_seal SET sums_json = ?, mac = ?').run(seal.sums_json, seal.mac);
    forging.close();
    await expect(begin(path, world, agent)).rejects.toMatchObject({ code: 'tampered' });
  });
});

test('a start reads what snapshots hold and what is beside them, and an accepted edit as it is', async () => {
  const { path, agent, world } = await spentStore();
  const service = await begin(path, world, agent, { snapshotEntries });
  expect(service.metering.missing(world.active)).toEqual([]);
  expect((await service.ask(pay(11))).decision).toBe('DENY');
  await service.end();
  const database = new Database(path);
  expect(database.prepare('SELECT count(*) FROM meter_snapshots').pluck().get()).toBe(2);
  database.exec(`DELETE FROM meter_entries WHERE ${earliest}`);
  database.close();
  const edited = await openStore({ path });
  const differences = await edited.state.differences({ isQuick: false });
  await edited.state.accept({ atMs: world.nowMs, differences });
  await edited.close();
  const accepted = await begin(path, world, agent, { snapshotEntries });
  expect(accepted.failures).toEqual([]);
  expect((await accepted.ask(pay(20))).decision).toBe('ALLOW');
  expect((await accepted.ask(pay(1))).decision).toBe('DENY');
});
