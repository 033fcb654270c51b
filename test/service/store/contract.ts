// What every store must do, run on each kind of store: the tests do not know how the rows are kept.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow, startMs } from './rows.ts';

/** A new, empty place for records, which can be opened any number of times at once. */
export interface Place {
  open(): Promise<Store>;
  remove(): Promise<void>;
}

const limits = { openMax: 20 };

export function describeStore(name: string, createPlace: () => Promise<Place>): void {
  describe(name, () => {
    let place: Place;
    let store: Store;
    beforeEach(async () => {
      place = await createPlace();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    /** What a second opening of the same place, as by another process, makes of the work. */
    async function withOther<T>(work: (other: Store) => Promise<T>): Promise<T> {
      const other = await place.open();
      try {
        return await work(other);
      } finally {
        await other.close();
      }
    }

    describe('agents', () => {
      test('an agent and its key come back as they went in', async () => {
        const agent = agentRow({ signing: 'required', sealedSigningSecret: 'v1.sealed', tags: [] });
        const key = keyRow(agent.id, { notAfterMs: startMs + 5, lastUsedAtMs: startMs });
        expect(await store.agents.add(agent, key)).toBe('added');
        expect(await store.agents.findByKeyId(key.id)).toEqual({ agent, key });
        expect(await store.agents.find(agent.id)).toEqual(agent);
        expect(await store.agents.find(agent.name)).toEqual(agent);
        expect(await store.agents.keys(agent.id)).toEqual([key]);
      });

      test('come by pages, the latest first, each once', async () => {
        const agents = [5, 1, 3, 3, 3, 2].map((atMs) => agentRow({ createdAtMs: startMs + atMs }));
        for (const agent of agents) await store.agents.add(agent, keyRow(agent.id));
        const pages: AgentRow[] = [];
        for (let after: AgentRow | null = null; ; after = pages.at(-1) ?? null) {
          const page = await store.agents.page({ after, countMax: 2 });
          pages.push(...page);
          if (page.length < 2) break;
        }
        const latestFirst = agents.toSorted(
          (a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1),
        );
        expect(pages).toEqual(latestFirst);
      });

      test('what is known of one changes, with who changed it on record', async () => {
        const agent = agentRow();
        const other = agentRow({ name: 'taken' });
        for (const one of [agent, other]) await store.agents.add(one, keyRow(one.id), { who: 'ann' });
        const { name, riskTier, controlOwner, tags } = agent;
        const known = {
          name,
          riskTier,
          controlOwner,
          tags,
          ratePerMinute: null,
          burst: null,
          tellsChange: false,
        };
        const present = { agentId: agent.id, atMs: startMs + 9, ...known };
        const change = {
          ...present,
          tags: ['new'],
          controlOwner: 'olga',
          burst: 7,
          tellsChange: true,
          who: 'ben',
        };
        expect(await store.agents.describe(present)).toBe('unchanged');
        expect(await store.agents.describe({ ...change, name: 'TAKEN' })).toBe('name-taken');
        expect(await store.agents.describe({ ...change, agentId: 'nobody' })).toBe('unknown-agent');
        expect(await store.agents.describe(change)).toBe('changed');
        expect(await store.agents.find(agent.id)).toEqual({
          ...agent,
          tags: ['new'],
          controlOwner: 'olga',
          burst: 7,
          tellsChange: true,
          changedAtMs: startMs + 9,
          version: 2,
        });
        const by = { agentId: agent.id, atMs: startMs + 10, who: 'carl' };
        await store.agents.setStatus({ ...by, status: 'disabled' });
        await store.agents.setSigning({ ...by, signing: 'required', newSealedSecret: 'v1.x' });
        const key = keyRow(agent.id, { createdAtMs: startMs + 11 });
        await store.agents.rotateKey({ key, othersNotAfterMs: 0, who: 'dora' });
        await store.agents.setStatus({ agentId: agent.id, atMs: startMs + 12, status: 'revoked' });
        expect(await store.agents.describe({ ...change, tags: [] })).toBe('already-revoked');
        const changes = await store.chain.changes({ beforeSequence: null, countMax: 6 });
        expect(changes.map(({ who, what }) => `${who} ${what}`)).toEqual([
          'system agent-revoked',
          'dora key-rotated',
          'carl signing-changed',
          'carl agent-disabled',
          'ben agent-changed',
          'ann agent-added',
        ]);
        const [, , , , described] = changes;
        expect(JSON.parse(described?.beforeJson ?? '')).toEqual(known);
        expect(await store.chain.changes({ beforeSequence: described?.sequence ?? 0, countMax: 1 })).toEqual([
          changes[5],
        ]);
      });

      test('what is not there is null', async () => {
        expect(await store.agents.find('nobody')).toBeNull();
        expect(await store.agents.findByKeyId('abcdefgh')).toBeNull();
        expect(await store.agents.keys('nobody')).toEqual([]);
      });

      test('a name is taken in whatever case, and then no key is stored either', async () => {
        const first = agentRow({ name: 'buyer' });
        await store.agents.add(first, keyRow(first.id));
        const second = agentRow({ name: 'BUYER' });
        const key = keyRow(second.id);
        expect(await store.agents.add(second, key)).toBe('name-taken');
        expect(await store.agents.list()).toEqual([first]);
        expect(await store.agents.findByKeyId(key.id)).toBeNull();
      });

      test('of two that take one name at once, one gets it', async () => {
        const agents = [agentRow({ name: 'buyer' }), agentRow({ name: 'buyer' })];
        const results = await Promise.all(agents.map((agent) => store.agents.add(agent, keyRow(agent.id))));
        expect(results.sort()).toEqual(['added', 'name-taken']);
      });

      test('the list is sorted by name', async () => {
        for (const name of ['b', 'a', 'C']) {
          const agent = agentRow({ name });
          await store.agents.add(agent, keyRow(agent.id));
        }
        expect((await store.agents.list()).map((agent) => agent.name)).toEqual(['C', 'a', 'b']);
      });

      test('a status changes and changes back, but revocation is final', async () => {
        const agent = agentRow();
        await store.agents.add(agent, keyRow(agent.id));
        const set = (status: 'active' | 'disabled' | 'revoked', atMs: number) =>
          store.agents.setStatus({ agentId: agent.id, status, atMs });
        expect(await set('active', startMs + 1)).toBe('unchanged');
        expect(await set('disabled', startMs + 2)).toBe('changed');
        expect(await store.agents.find(agent.id)).toMatchObject({
          status: 'disabled',
          changedAtMs: startMs + 2,
        });
        expect(await set('active', startMs + 3)).toBe('changed');
        expect(await set('revoked', startMs + 4)).toBe('changed');
        expect(await set('active', startMs + 5)).toBe('already-revoked');
        expect((await store.agents.find(agent.id))?.status).toBe('revoked');
        expect(await store.agents.setStatus({ agentId: 'nobody', status: 'active', atMs: 0 })).toBe(
          'unknown-agent',
        );
      });

      test('a change made elsewhere holds from the next look', async () => {
        const agent = agentRow();
        const key = keyRow(agent.id);
        await store.agents.add(agent, key);
        await withOther((other) =>
          other.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: startMs }),
        );
        expect((await store.agents.findByKeyId(key.id))?.agent.status).toBe('disabled');
      });

      test('a new key gives the old one an end, and there are never three', async () => {
        const agent = agentRow();
        await store.agents.add(agent, keyRow(agent.id));
        const rotate = (createdAtMs: number, graceMs: number) =>
          store.agents.rotateKey({
            key: keyRow(agent.id, { createdAtMs }),
            othersNotAfterMs: createdAtMs + graceMs,
          });
        expect(await rotate(startMs + 10, 1000)).toBe('added');
        expect(await rotate(startMs + 20, 1000)).toBe('too-many-keys');
        const ends = async () => (await store.agents.keys(agent.id)).map((key) => key.notAfterMs);
        expect(await ends()).toEqual([startMs + 1010, null]);
        expect(await rotate(startMs + 30, 0)).toBe('added');
        expect(await ends()).toEqual([startMs + 30, startMs + 30, null]);
        expect(await store.agents.rotateKey({ key: keyRow('nobody'), othersNotAfterMs: 0 })).toBe(
          'unknown-agent',
        );
      });

      test('a key that has ended stays ended when a later one comes', async () => {
        const agent = agentRow();
        await store.agents.add(agent, keyRow(agent.id));
        const rotate = (createdAtMs: number) =>
          store.agents.rotateKey({
            key: keyRow(agent.id, { createdAtMs }),
            othersNotAfterMs: createdAtMs + 1_000,
          });
        expect(await rotate(startMs + 10)).toBe('added');
        expect(await rotate(startMs + 2_000)).toBe('added');
        const ends = (await store.agents.keys(agent.id)).map((key) => key.notAfterMs);
        expect(ends).toEqual([startMs + 1_010, startMs + 3_000, null]);
      });

      test('signing is set with its secret', async () => {
        const agent = agentRow();
        await store.agents.add(agent, keyRow(agent.id));
        const change = { signing: 'required', newSealedSecret: 'v1.x', atMs: startMs + 9 } as const;
        const keep = { ...change, newSealedSecret: null };
        expect(await store.agents.setSigning({ agentId: agent.id, ...keep })).toBe('no-secret');
        expect(await store.agents.setSigning({ agentId: agent.id, ...change })).toBe('changed');
        expect(await store.agents.find(agent.id)).toMatchObject({
          signing: 'required',
          sealedSigningSecret: 'v1.x',
          changedAtMs: startMs + 9,
        });
        expect(await store.agents.setSigning({ agentId: 'nobody', ...change })).toBe('unknown-agent');
      });

      test('the last use is kept to the minute, at the latest when the store closes', async () => {
        const agent = agentRow();
        const key = keyRow(agent.id);
        await store.agents.add(agent, key);
        store.agents.noteUse(key, startMs + 61_500);
        store.agents.noteUse(key, startMs + 5);
        await store.close();
        store = await place.open();
        expect((await store.agents.keys(agent.id))[0]?.lastUsedAtMs).toBe(startMs + 60_000);
        // Of two processes, the one that noted the earlier use may write last.
        await withOther(async (other) => other.agents.noteUse(key, startMs + 5));
        expect((await store.agents.keys(agent.id))[0]?.lastUsedAtMs).toBe(startMs + 60_000);
      });
    });

    describe('requests', () => {
      test('a record comes back as it went in', async () => {
        const idempotency = { key: 'k', bodyDigest: 'd', keptUntilMs: startMs + 100 };
        const record = requestRow({ idempotency });
        expect(await store.requests.append(record, limits)).toBe('stored');
        expect(await store.requests.find(record.id)).toEqual(record);
        for (const none of ['nothing', '\0', record.id.toUpperCase(), `{${record.id}}`])
          expect(await store.requests.find(none)).toBeNull();
      });

      test('a record comes back as it went in, whatever characters are in it', async () => {
        const odd = ['"', '\\', '{a,"b"}', 'NULL', '', '\n\t\u0001', 'é 😀 \u2028', "'; --", '"sequence":0'];
        const records = odd.map((text) =>
          requestRow({
            actionKey: `a.${text}`,
            recordJson: JSON.stringify({ payload: { [text]: text } }),
            idempotency: { key: `k${text}`, bodyDigest: text, keptUntilMs: startMs + 100 },
          }),
        );
        await Promise.all(records.map((record) => store.requests.append(record, limits)));
        const found = await Promise.all(records.map(({ id }) => store.requests.find(id)));
        expect(found).toEqual(records);
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: odd.length } });
      });

      test('many at once are all stored', async () => {
        const records = Array.from({ length: 2500 }, () => requestRow());
        const results = await Promise.all(records.map((record) => store.requests.append(record, limits)));
        expect(new Set(results)).toEqual(new Set(['stored']));
        // A store refuses more reads at once than it can queue.
        for (let at = 0; at < records.length; at += 250) {
          const part = records.slice(at, at + 250);
          const found = await Promise.all(part.map(({ id }) => store.requests.find(id)));
          expect(found.map((record) => record?.id)).toEqual(part.map(({ id }) => id));
        }
      });

      test('another opening sees a record as soon as it is acknowledged', async () => {
        const record = requestRow();
        await store.requests.append(record, limits);
        expect(await withOther((other) => other.requests.find(record.id))).toEqual(record);
      });

      test('an id is stored once, and its second use harms no other write', async () => {
        const record = requestRow();
        const other = requestRow();
        const results = await Promise.allSettled(
          [record, record, other].map((each) => store.requests.append(each, limits)),
        );
        expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(await store.requests.find(other.id)).toEqual(other);
      });

      test('an idempotency key means one request of one agent until its time is over', async () => {
        const keyed = (createdAtMs: number, agentId = 'agent-1') =>
          requestRow({
            agentId,
            createdAtMs,
            idempotency: { key: 'k', bodyDigest: 'd', keptUntilMs: createdAtMs + 100 },
          });
        const [first, second, later] = [keyed(startMs), keyed(startMs + 99), keyed(startMs + 100)];
        const results = await Promise.all([first, second].map((each) => store.requests.append(each, limits)));
        expect(results).toEqual(['stored', 'duplicate-key']);
        expect(await store.requests.find(second.id)).toBeNull();
        const find = (nowMs: number, agentId = 'agent-1') =>
          store.requests.findByIdempotencyKey({ agentId, key: 'k', nowMs });
        expect(await find(startMs + 99)).toEqual(first);
        expect(await find(startMs + 100)).toBeNull();
        expect(await find(startMs, 'agent-2')).toBeNull();
        expect(await store.requests.append(keyed(startMs, 'agent-2'), limits)).toBe('stored');
        expect(await store.requests.append(later, limits)).toBe('stored');
        expect(await find(startMs + 100)).toEqual(later);
      });

      test('no more pending requests of an agent than the limit, also when they come at once', async () => {
        const results = await Promise.all(
          Array.from({ length: 5 }, () => store.requests.append(pendingRow(), { openMax: 3 })),
        );
        expect(results).toEqual(['stored', 'stored', 'stored', 'too-many-open', 'too-many-open']);
        expect(await store.requests.countOpen('agent-1', startMs)).toBe(3);
        expect(await store.requests.append(requestRow(), { openMax: 3 })).toBe('stored');
        expect(await store.requests.append(pendingRow({ agentId: 'agent-2' }), { openMax: 3 })).toBe(
          'stored',
        );
      });

      test('a pending request past its deadline is no longer open', async () => {
        await store.requests.append(pendingRow({ expiresAtMs: startMs + 10 }), { openMax: 1 });
        expect(await store.requests.countOpen('agent-1', startMs + 9)).toBe(1);
        expect(await store.requests.countOpen('agent-1', startMs + 10)).toBe(0);
        const next = pendingRow({ createdAtMs: startMs + 10 });
        expect(await store.requests.append(next, { openMax: 1 })).toBe('stored');
      });

      test('what becomes of a request is recorded, and the request stands so', async () => {
        const record = pendingRow();
        await store.requests.append(record, limits);
        const state = {
          status: 'approved',
          decidedAtMs: startMs + 5,
          expiresAtMs: startMs + 900_000,
        } as const;
        const event = {
          requestId: record.id,
          atMs: startMs + 5,
          who: 'ann',
          what: 'approved',
          state,
        } as const;
        const { requestId } = event;
        const events = [{ ...event, detail: { comment: 'fine' } }];
        expect(await store.requests.change({ requestId, events, from: ['pending'], seen: 0 })).toBe(
          'changed',
        );
        expect(await store.requests.find(record.id)).toEqual({ ...record, ...state });
        expect(await store.requests.countOpen('agent-1', startMs)).toBe(0);
        expect(await withOther((other) => other.requests.find(record.id))).toEqual({ ...record, ...state });
        expect(await store.requests.append(pendingRow(), { openMax: 1 })).toBe('stored');
        const { records } = await store.chain.segment(0, 10);
        expect(records[1]?.entry).toEqual({
          kind: 'event',
          sequence: 2,
          request_id: record.id,
          at_ms: startMs + 5,
          who: 'ann',
          what: 'approved',
          status: 'approved',
          decided_ms: startMs + 5,
          expires_ms: startMs + 900_000,
          detail_json: '{"comment":"fine"}',
        });
      });

      test('of two changes that exclude each other one is made', async () => {
        const record = pendingRow();
        await store.requests.append(record, limits);
        const change = (status: 'approved' | 'rejected') =>
          store.requests.change({
            requestId: record.id,
            from: ['pending'],
            seen: null,
            events: [
              {
                atMs: startMs,
                who: 'ann',
                what: status,
                detail: null,
                state: { status, decidedAtMs: startMs, expiresAtMs: startMs + 1 },
              },
            ],
          });
        expect(await Promise.all([change('rejected'), change('approved')])).toEqual([
          'changed',
          'state-differs',
        ]);
        expect((await store.requests.find(record.id))?.status).toBe('rejected');
        const unknown = { requestId: 'x', events: [], from: ['approved'], seen: null } as const;
        expect(await store.requests.change(unknown)).toBe('unknown-request');
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 2 } });
      });

      test('many changes at once are made, those of one request one after the other', async () => {
        const rows = Array.from({ length: 90 }, () => pendingRow());
        await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 1_000 })));
        const vote = (requestId: string, who: string, seen: number | null) => {
          const state = { status: 'pending', decidedAtMs: null, expiresAtMs: startMs + 600_000 } as const;
          const event = { atMs: startMs + 1, who, what: 'approved', detail: { person: who }, state } as const;
          return store.requests.change({ requestId, events: [event], from: ['pending'], seen });
        };
        const [first, ...others] = rows.map(({ id }) => id);
        const results = await Promise.all([
          ...['ann', 'bob', 'carl'].map((who) => vote(first!, who, 0)),
          ...others.map((id) => vote(id, 'ann', 0)),
          vote(others[0]!, 'bob', 1),
          vote(others[1]!, 'bob', null),
          vote(first!, 'dora', 2),
          vote('00000000-0000-7000-8000-000000000000', 'ann', 0),
        ]);
        expect(results.slice(0, 3).toSorted()).toEqual(['changed', 'state-differs', 'state-differs']);
        expect(new Set(results.slice(3, 92))).toEqual(new Set(['changed']));
        expect(results.slice(92)).toEqual(['changed', 'changed', 'state-differs', 'unknown-request']);
        expect(await store.requests.events(first!)).toHaveLength(1);
        expect((await store.requests.events(others[0]!)).map(({ who }) => who)).toEqual(['ann', 'bob']);
        const chain = await verifyChain(store);
        expect(chain.kind).toBe('whole');
      });

      test('a change that the store cannot hold harms no other that comes with it', async () => {
        const rows = Array.from({ length: 6 }, () => requestRow());
        await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 9 })));
        const results = await Promise.allSettled(
          rows.map(({ id, decidedAtMs, expiresAtMs }, at) => {
            const state = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
            // No store has a number that is none.
            const atMs = at === 2 ? Number.NaN : startMs + 1;
            const event = { atMs, who: 'agent a', what: 'consumed', detail: {}, state } as const;
            return store.requests.change({
              requestId: id,
              events: [event],
              from: ['auto_approved'],
              seen: 0,
            });
          }),
        );
        expect(results.map(({ status }) => status)).toEqual(
          rows.map((_, at) => (at === 2 ? 'rejected' : 'fulfilled')),
        );
        const stored = await Promise.all(rows.map(({ id }) => store.requests.events(id)));
        expect(stored.map(({ length }) => length)).toEqual([1, 1, 0, 1, 1, 1]);
      });

      test('waits end at their deadline, so many at once, and only waits', async () => {
        const waits = [10, 20, 20, 30].map((ms) => pendingRow({ expiresAtMs: startMs + ms }));
        const grant = requestRow({ expiresAtMs: startMs + 10 });
        for (const row of [...waits, grant]) await store.requests.append(row, limits);
        expect(await store.requests.expireDue(startMs + 9, 10)).toEqual([]);
        expect(await store.requests.expireDue(startMs + 20, 2)).toHaveLength(2);
        expect(await store.requests.expireDue(startMs + 20, 2)).toHaveLength(1);
        expect(await store.requests.expireDue(startMs + 20, 2)).toEqual([]);
        const statuses = await Promise.all(
          [...waits, grant].map(async ({ id }) => (await store.requests.find(id))?.status),
        );
        expect(statuses).toEqual(['expired', 'expired', 'expired', 'pending', 'auto_approved']);
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 8 } });
      });

      test('refusals come back, the latest first', async () => {
        const [first, second] = [refusalRecord(), refusalRecord({ bodyDigest: null })];
        await store.requests.appendRefusal(first);
        await store.requests.appendRefusal(second);
        await store.requests.appendRefusal(refusalRecord({ agentId: 'agent-2' }));
        expect(await store.requests.refusals('agent-1', 10)).toEqual([second, first]);
        expect(await store.requests.refusals('agent-1', 1)).toEqual([second]);
        await expect(store.requests.appendRefusal(first)).rejects.toThrow('is in use');
      });
    });

    describe('plants', () => {
      test.each([0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])('id %s is exact', async (id) => {
        const plant = { id, name: 'Fern', tag: null };
        expect(await store.plants.add(plant)).toBe('added');
        expect(await store.plants.find(id)).toEqual(plant);
        expect(await store.plants.find(id === 0n ? 1n : id - (id > 0n ? 1n : -1n))).toBeNull();
      });

      test('a used id stays as it is', async () => {
        const plant = { id: 7n, name: 'Fern', tag: 'shade' };
        await store.plants.add(plant);
        expect(await store.plants.add({ id: 7n, name: 'Moss', tag: null })).toBe('used');
        expect(await store.plants.find(7n)).toEqual(plant);
      });

      test('an id beyond 64 bits is a mistake of the caller', async () => {
        await expect(store.plants.add({ id: 2n ** 63n, name: 'Fern', tag: null })).rejects.toThrow(
          RangeError,
        );
      });
    });

    describe('settings', () => {
      test('the first value stays, and everyone gets it', async () => {
        expect(await store.settings.get('token')).toBeNull();
        expect(await store.settings.putIfAbsent('token', 'one')).toBe('one');
        expect(await withOther((other) => other.settings.putIfAbsent('token', 'two'))).toBe('one');
        expect(await store.settings.get('token')).toBe('one');
      });
    });

    describe('nonces', () => {
      const use = (nonce: string, usedAtMs: number) => ({
        nonce,
        usedAtMs,
        keptUntilMs: usedAtMs + 600_000,
      });

      test('a noted use is there after a later write and after a restart', async () => {
        store.nonces.note(use('agent-1 a', startMs));
        await store.requests.append(requestRow(), limits);
        expect(await store.nonces.list()).toEqual([use('agent-1 a', startMs)]);
        store.nonces.note(use('agent-1 b', startMs + 1));
        await store.close();
        store = await place.open();
        expect(await store.nonces.list()).toEqual([use('agent-1 a', startMs), use('agent-1 b', startMs + 1)]);
      });

      test('one whose time is over goes when another is noted', async () => {
        store.nonces.note(use('a', startMs));
        await store.requests.append(requestRow(), limits);
        store.nonces.note(use('b', startMs + 600_001));
        await store.requests.append(requestRow(), limits);
        expect(await store.nonces.list()).toEqual([use('b', startMs + 600_001)]);
      });
    });

    describe('the chain', () => {
      test('has the numbers of the records of a request', async () => {
        const [one, other] = [pendingRow({ expiresAtMs: startMs + 50 }), requestRow()];
        for (const row of [one, other]) await store.requests.append(row, limits);
        await store.requests.expireDue(startMs + 60, 10);
        const { records } = await store.chain.segment(0, 100);
        const numbersOf = (id: string) =>
          records.flatMap(({ entry }) => ([entry.id, entry.request_id].includes(id) ? [entry.sequence] : []));
        expect(numbersOf(one.id)).toHaveLength(2);
        for (const { id } of [one, other]) expect(await store.chain.sequencesOf(id)).toEqual(numbersOf(id));
        expect(await store.chain.sequencesOf('0195a3f0-0000-7000-8000-000000000000')).toEqual([]);
      });

      test('numbers all records together, by whatever opening they come', async () => {
        const agent = agentRow();
        await store.agents.add(agent, keyRow(agent.id));
        await withOther((other) => other.requests.append(requestRow(), limits));
        await store.requests.appendRefusal(refusalRecord());
        await withOther((other) => other.requests.append(requestRow(), limits));
        const { records, pruning, firstSequence, lastSequence } = await store.chain.segment(0, 100);
        expect(records.map(({ entry }) => [entry.sequence, entry.kind])).toEqual([
          [1, 'change'],
          [2, 'request'],
          [3, 'refusal'],
          [4, 'request'],
        ]);
        expect([pruning, firstSequence, lastSequence]).toEqual([null, 1, 4]);
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 4 } });
      });

      test('holds together when two openings append at the same time', async () => {
        await withOther(async (other) => {
          const both = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? store : other));
          await Promise.all(both.map((each) => each.requests.append(requestRow(), limits)));
        });
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 100 } });
      });

      test('goes on without a gap after a write that failed once its record was made', async () => {
        await store.requests.append(requestRow(), limits);
        const { records } = await store.chain.segment(0, 1);
        const unfit = { sequence: 1, hash: records[0]?.hash ?? '', atMs: startMs, signature: 'x' };
        const results = await Promise.allSettled([
          store.chain.prune({ ...unfit, purpose: 'no purpose' as 'pruned' }),
          store.requests.append(requestRow(), limits),
        ]);
        expect(results).toMatchObject([{ reason: { code: 'internal' } }, { value: 'stored' }]);
        expect(await verifyChain(store)).toMatchObject({
          kind: 'whole',
          firstSequence: 1,
          end: { sequence: 2 },
        });
      });

      test('tells when the latest record was made', async () => {
        expect(await store.chain.latestAtMs()).toBeNull();
        await store.requests.append(requestRow({ createdAtMs: startMs + 7 }), limits);
        expect(await store.chain.latestAtMs()).toBe(startMs + 7);
        await store.requests.appendRefusal(refusalRecord({ atMs: startMs + 9 }));
        expect(await store.chain.latestAtMs()).toBe(startMs + 9);
        await store.requests.append(requestRow({ createdAtMs: startMs + 11 }), limits);
        expect(await store.chain.latestAtMs()).toBe(startMs + 11);
      });

      test('a stretch is bounded by its numbers', async () => {
        for (let i = 0; i < 5; i++) await store.requests.append(requestRow(), limits);
        const { records, lastSequence } = await store.chain.segment(1, 2);
        expect(records.map(({ entry }) => entry.sequence)).toEqual([2, 3]);
        expect(lastSequence).toBe(5);
      });

      test('what is refused leaves no number', async () => {
        const record = requestRow();
        const [first, second] = [agentRow({ name: 'a' }), agentRow({ name: 'A' })];
        await store.agents.add(first, keyRow(first.id));
        await Promise.allSettled([
          store.requests.append(record, limits),
          store.requests.append(record, limits),
          store.requests.append(pendingRow(), { openMax: 0 }),
          store.agents.add(second, keyRow(second.id)),
          store.agents.setStatus({ agentId: 'nobody', status: 'active', atMs: startMs }),
          store.agents.setStatus({ agentId: first.id, status: 'active', atMs: startMs }),
        ]);
        await store.requests.append(requestRow(), limits);
        expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 3 } });
      });

      test('each change of management tells who, what, before and after, and no secret', async () => {
        const agent = agentRow({ name: 'buyer', tags: [] });
        const [key, newKey] = [
          keyRow(agent.id, { id: 'key1' }),
          keyRow(agent.id, { id: 'key2', createdAtMs: startMs + 3 }),
        ];
        const agentId = agent.id;
        await store.agents.add(agent, key);
        await store.agents.setStatus({ agentId, status: 'disabled', atMs: startMs + 1 });
        await store.agents.setSigning({
          agentId,
          signing: 'required',
          newSealedSecret: 'v1.sealed',
          atMs: startMs + 2,
        });
        await store.agents.rotateKey({ key: newKey, othersNotAfterMs: startMs + 9 });
        await store.agents.setStatus({ agentId, status: 'revoked', atMs: startMs + 4 });
        const { records } = await store.chain.segment(0, 100);
        const changes = records.map(
          ({ entry: { kind: _, sequence: __, before_json, after_json, ...rest } }) => ({
            ...rest,
            before: JSON.parse(String(before_json)),
            after: JSON.parse(String(after_json)),
          }),
        );
        const shown = {
          id: agent.id,
          name: 'buyer',
          riskTier: 'low',
          controlOwner: 'ops@example.com',
          tags: [],
          status: 'active',
          signing: 'off',
          keys: [{ id: 'key1', notAfterMs: null }],
          ratePerMinute: null,
          burst: null,
          tellsChange: false,
        };
        const common = { who: 'system', subject: agentId };
        expect(changes).toEqual([
          { ...common, what: 'agent-added', at_ms: startMs, before: null, after: shown },
          {
            ...common,
            what: 'agent-disabled',
            at_ms: startMs + 1,
            before: { status: 'active' },
            after: { status: 'disabled' },
          },
          {
            ...common,
            what: 'signing-changed',
            at_ms: startMs + 2,
            before: { signing: 'off', hasSecret: false },
            after: { signing: 'required', hasSecret: true, isSecretNew: true },
          },
          {
            ...common,
            what: 'key-rotated',
            at_ms: startMs + 3,
            before: { keys: [{ id: 'key1', notAfterMs: null }] },
            after: {
              keys: [
                { id: 'key1', notAfterMs: startMs + 9 },
                { id: 'key2', notAfterMs: null },
              ],
            },
          },
          {
            ...common,
            what: 'agent-revoked',
            at_ms: startMs + 4,
            before: { status: 'disabled' },
            after: { status: 'revoked' },
          },
        ]);
        expect(JSON.stringify(records)).not.toContain('sealed');
        expect(JSON.stringify(records)).not.toContain(key.digest);
      });

      test('nothing is pruned up to a record that is not there', async () => {
        await store.requests.append(requestRow(), limits);
        const checkpoint = {
          sequence: 1,
          hash: '0'.repeat(64),
          atMs: startMs,
          purpose: 'pruned',
          signature: 'x',
        } as const;
        expect(await store.chain.prune(checkpoint)).toBe('not-there');
        expect(await store.chain.checkpoints()).toEqual([]);
        expect((await store.chain.segment(0, 10)).records).toHaveLength(1);
      });
    });

    describe('opening and closing', () => {
      test('all openings have one master key of 32 bytes', async () => {
        expect(store.masterKey).toHaveLength(32);
        expect(await withOther(async (other) => other.masterKey)).toEqual(store.masterKey);
      });

      test('closing waits for the writes under way', async () => {
        const record = requestRow();
        const append = store.requests.append(record, limits);
        await store.close();
        expect(await append).toBe('stored');
        store = await place.open();
        expect(await store.requests.find(record.id)).toEqual(record);
      });

      test('a closed store refuses, and may be closed again', async () => {
        await store.close();
        await store.close();
        expect(store.isWritable()).toBe(false);
        await expect(store.requests.append(requestRow(), limits)).rejects.toMatchObject({
          code: 'closed',
        });
        await expect(store.requests.find('x')).rejects.toMatchObject({ code: 'closed' });
      });
    });
  });
}
