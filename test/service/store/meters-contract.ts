// What every store must do with the entries of meters.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lastingMeterPrefix } from '../../../src/language/value/lasting-meter.ts';
import type {
  MeterEntryRow,
  SettledEntryRow,
  StoredMeterEntry,
} from '../../../src/service/store/contract/metering.ts';
import type { RequestRow, RequestStatus } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { scannedRequestsMax } from '../../../src/service/store/queries/request-lists.ts';
import type { Place } from './contract.ts';
import { pendingRow, requestRow, startMs } from './rows.ts';
import { grantedEntries, pendingEntries } from './stored-meters.ts';

const limits = { openMax: 20 };
const lasting = `${lastingMeterPrefix}uses`;

function entry(value: string | null, definition = 'spent'): MeterEntryRow {
  return { definition, key: '"agent-1', isCertain: true, value };
}

export function describeMeters(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: meters`, () => {
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

    const add = async (row: RequestRow, ...entries: readonly MeterEntryRow[]): Promise<RequestRow> => {
      expect(await store.requests.append(row, limits, entries)).toBe('stored');
      return row;
    };
    /** Ids of the requests that count, in pages up to the last page. */
    const countedPages = async (countMax: number): Promise<readonly string[][]> => {
      const pages: string[][] = [];
      for (let after: number | null = 0; after !== null; ) {
        const { requests, next } = await store.meters.counted({
          definition: 'spent',
          sinceMs: startMs,
          after,
          countMax,
        });
        pages.push(requests.map(({ id }) => id));
        after = next;
      }
      return pages;
    };
    const change = (requestId: string, status: RequestStatus, decidedAtMs: number | null) => {
      const state = { status, decidedAtMs, expiresAtMs: startMs + 1_000_000 };
      const event = { atMs: startMs + 7, who: 'system', what: 'decided', state, detail: {} } as const;
      return store.requests.change({ requestId, events: [event], from: ['pending'], seen: null });
    };

    test('entries come with their record, of grants by time, and of what is pending', async () => {
      const later = await add(requestRow({ decidedAtMs: startMs + 5 }), entry('2'), entry(null, 'other'));
      const first = await add(requestRow({ decidedAtMs: startMs + 1 }), entry('1'));
      const waiting = await add(pendingRow(), { ...entry('3'), isCertain: false });
      const stored = (row: RequestRow, grantedAtMs: number | null, value: string, isCertain = true) => ({
        ...entry(value),
        requestId: row.id,
        grantedAtMs,
        isCertain,
      });
      const granted = [stored(first, startMs + 1, '1'), stored(later, startMs + 5, '2')];
      expect(await grantedEntries(store, 'spent')).toEqual(granted);
      expect(await grantedEntries(store, 'spent', startMs + 2)).toEqual(granted.slice(1));
      expect(await pendingEntries(store, 'spent')).toEqual([stored(waiting, null, '3', false)]);
      expect(await grantedEntries(store, 'other')).toMatchObject([{ value: null }]);
    });

    test.each(['withdrawn', 'rejected', 'expired'] as const)(
      'a wait that ends as %s counts no more',
      async (status) => {
        const waiting = await add(pendingRow(), entry('3'));
        const other = await add(pendingRow(), entry('4'));
        expect(await change(waiting.id, status, null)).toBe('changed');
        const waits = await pendingEntries(store, 'spent');
        expect(waits.map(({ requestId }) => requestId)).toEqual([other.id]);
        expect(await grantedEntries(store, 'spent')).toEqual([]);
      },
    );

    test('what calls have returned changes entries with the event that says so, or neither', async () => {
      const row = await add(
        requestRow({ decidedAtMs: startMs + 3 }),
        { ...entry(null), isCertain: false },
        entry('7', 'other'),
        entry(null, 'dropped'),
      );
      const state = { status: 'consumed', decidedAtMs: startMs + 3, expiresAtMs: startMs + 9 } as const;
      const detail = { executed: true, result: { rows: 5 } };
      const event = { atMs: startMs + 4, who: 'agent a', what: 'consumed', state, detail } as const;
      const entries = [
        { ...entry('5'), isGone: false },
        { ...entry('6', 'late'), isGone: false },
        { ...entry(null, 'dropped'), isGone: true },
      ];
      const settle = (seen: number) =>
        store.requests.change({
          requestId: row.id,
          events: [event],
          entries,
          seen,
          from: ['auto_approved'],
        });
      expect(await settle(1)).toBe('state-differs');
      expect(await grantedEntries(store, 'spent')).toMatchObject([{ value: null }]);
      expect(await settle(0)).toBe('changed');
      const stored = { requestId: row.id, grantedAtMs: startMs + 3, isCertain: true };
      expect(await grantedEntries(store, 'spent')).toEqual([{ ...entry('5'), ...stored }]);
      expect(await grantedEntries(store, 'late')).toEqual([{ ...entry('6', 'late'), ...stored }]);
      expect(await grantedEntries(store, 'other')).toMatchObject([{ value: '7' }]);
      expect(await grantedEntries(store, 'dropped')).toEqual([]);
      const {
        requests: [counted],
      } = await store.meters.counted({ definition: 'spent', sinceMs: 0, after: 0, countMax: 9 });
      expect(JSON.parse(counted?.outcomeJson ?? '')).toEqual(detail);
    });

    test('what is made of where meters stand is stored, or what is made is nothing', async () => {
      const row = requestRow();
      const keys = [{ definition: 'spent', key: '"agent-1' }];
      const spending = { row, limits, entries: [entry('4')], revertMeters: () => undefined };
      expect(await store.meters.spend(keys, () => null)).toBe('nothing');
      expect(await store.meters.spend(keys, () => spending)).toBe('stored');
      expect(await store.requests.find(row.id)).toEqual(row);
      expect(await store.meters.enteredBy(row.id)).toMatchObject([{ value: '4' }]);
      const work = () => {
        throw new Error('it cannot be decided');
      };
      await expect(store.meters.spend(keys, work)).rejects.toThrow('it cannot be decided');
    });

    test('a request that is not stored has none', async () => {
      const refused = pendingRow();
      await store.requests.append(refused, { openMax: 0 }, [entry('1')]);
      expect(await pendingEntries(store, 'spent')).toEqual([]);
    });

    test.each([
      ['approved', startMs + 6, 1],
      ['rejected', startMs + 6, 0],
      ['pending', null, 0],
    ] as const)('a wait that is %s has the entries for it', async (status, decidedAtMs, grants) => {
      const { id } = await add(pendingRow(), entry('1'));
      expect(await change(id, status, decidedAtMs)).toBe('changed');
      const granted = await grantedEntries(store, 'spent');
      expect(granted.map(({ grantedAtMs }) => grantedAtMs)).toEqual(grants === 1 ? [startMs + 6] : []);
      expect(await pendingEntries(store, 'spent')).toHaveLength(status === 'pending' ? 1 : 0);
    });

    test('a wait that expires leaves none, and says which it was', async () => {
      const { id } = await add(pendingRow({ expiresAtMs: startMs + 10 }), entry('1'));
      expect(await store.requests.expireDue(startMs + 10, 10)).toEqual([id]);
      expect(await pendingEntries(store, 'spent')).toEqual([]);
    });

    test('a meter that goes is forgotten, and comes back as one that may lack requests', async () => {
      expect(await store.meters.note(['spent'], startMs)).toEqual([0]);
      await add(requestRow(), entry('1'));
      expect(await store.meters.note(['spent', 'other'], startMs + 1)).toEqual([0, null]);
      expect(await store.meters.note(['other'], startMs + 2)).toEqual([null]);
      expect(await grantedEntries(store, 'spent')).toEqual([]);
      await store.meters.noteComplete('other', startMs - 5);
      expect(await store.meters.note(['spent', 'other'], startMs + 3)).toEqual([null, startMs - 5]);
    });

    test('requests that count are told with the time of their grant, also those that were made before', async () => {
      const old = await add(pendingRow({ createdAtMs: startMs - 50 }));
      const late = await add(pendingRow({ createdAtMs: startMs - 40 }));
      const granted = await add(requestRow({ createdAtMs: startMs + 1, decidedAtMs: startMs + 1 }));
      const rejected = await add(pendingRow({ createdAtMs: startMs + 2 }));
      await change(late.id, 'approved', startMs + 6);
      await change(rejected.id, 'rejected', startMs + 6);
      const page = { definition: 'spent', sinceMs: startMs, after: 0, countMax: 10 };
      const { requests, next } = await store.meters.counted(page);
      expect(next).toBeNull();
      expect(requests.map(({ id, grantedAtMs }) => [id, grantedAtMs])).toEqual([
        [old.id, null],
        [late.id, startMs + 6],
        [granted.id, startMs + 1],
      ]);
      expect(requests[2]).toMatchObject({ actionKey: granted.actionKey, recordJson: granted.recordJson });
      expect((await countedPages(1)).flat()).toEqual([old.id, late.id, granted.id]);
    });

    test('a grant that was given back counts only in meters whose entries last, where these are computed from records', async () => {
      const [used, back] = [await add(requestRow()), await add(requestRow())];
      const state = { status: 'consumed', decidedAtMs: startMs, expiresAtMs: startMs + 9 } as const;
      const event = (what: 'consumed' | 'released') =>
        ({ atMs: startMs + 1, who: 'a', what, state, detail: {} }) as const;
      const end = (requestId: string, events: readonly ReturnType<typeof event>[]) =>
        store.requests.change({ requestId, events, from: ['auto_approved'], seen: 0 });
      expect(await end(used.id, [event('consumed')])).toBe('changed');
      expect(await end(back.id, [event('consumed'), event('released')])).toBe('changed');
      const countedBy = async (definition: string) => {
        const { requests } = await store.meters.counted({ definition, sinceMs: 0, after: 0, countMax: 10 });
        return requests.map(({ id }) => id);
      };
      expect(await countedBy('spent')).toEqual([used.id]);
      // A use of a delegation or of a standing approval counts whatever becomes of its grant.
      expect(await countedBy(lasting)).toEqual([used.id, back.id]);
      const late = ['spent', lasting].flatMap((definition) =>
        [used, back].map(({ id: requestId }) => ({ ...entry('1', definition), requestId })),
      );
      await store.meters.add(late);
      expect(await grantedEntries(store, 'spent')).toMatchObject([{ requestId: used.id }]);
      const entered = (await grantedEntries(store, lasting)).map(({ requestId }) => requestId);
      expect(entered.toSorted()).toEqual([used.id, back.id].toSorted());
    });

    test('a request that counts is found behind thousands that do not, a few of them at a time', async () => {
      const before = { createdAtMs: startMs - 50, decidedAtMs: startMs - 50 };
      await Promise.all(
        Array.from({ length: 2 * scannedRequestsMax }, () =>
          store.requests.append(requestRow(before), limits),
        ),
      );
      const granted = await add(requestRow({ createdAtMs: startMs + 1, decidedAtMs: startMs + 1 }));
      expect(await countedPages(10)).toEqual([[], [], [granted.id]]);
    });

    test('entries are added for requests that are recorded and count, each once', async () => {
      const { id } = await add(requestRow({ decidedAtMs: startMs + 1 }));
      const waiting = await add(pendingRow());
      const rejected = await add(pendingRow());
      await change(rejected.id, 'rejected', startMs + 6);
      const entries = [id, waiting.id, rejected.id, id].map((requestId) => ({ ...entry('1'), requestId }));
      await store.meters.add(entries);
      expect(await grantedEntries(store, 'spent')).toMatchObject([{ requestId: id }]);
      expect(await pendingEntries(store, 'spent')).toMatchObject([{ requestId: waiting.id }]);
    });

    test('entries that were granted before a moment are forgotten, a few at a time', async () => {
      for (const at of [1, 2, 3]) await add(requestRow({ decidedAtMs: startMs + at }), entry(String(at)));
      expect(await store.meters.forget('spent', startMs + 3, 1)).toBe(1);
      expect(await store.meters.forget('spent', startMs + 3, 10)).toBe(1);
      expect(await grantedEntries(store, 'spent')).toMatchObject([{ value: '3' }]);
    });

    describe('snapshots', () => {
      const within = { fromMs: 0, untilMs: startMs + 100, countMax: 2 };
      const keepAll = async () => {
        let count = 0;
        for (let fromMs: number | null = 0; fromMs !== null; count += 1)
          fromMs = await store.meters.keepSnapshot('spent', { ...within, fromMs });
        return count - 1;
      };
      /** Ten grants, two of them at each moment, in snapshots of two but the last. */
      const fill = async () => {
        const rows: RequestRow[] = [];
        for (let at = 0; at < 10; at += 1)
          rows.push(await add(requestRow({ decidedAtMs: startMs + Math.floor(at / 2) }), entry(String(at))));
        const all = await grantedEntries(store, 'spent');
        expect(await keepAll()).toBe(4);
        expect(await grantedEntries(store, 'spent')).toEqual(all);
        return { rows, all };
      };

      test('of two that are made at once, none holds what the other holds', async () => {
        for (let at = 0; at < 8; at += 1)
          await add(requestRow({ decidedAtMs: startMs + at }), entry(String(at)));
        const all = await grantedEntries(store, 'spent');
        const keep = (countMax: number) => store.meters.keepSnapshot('spent', { ...within, countMax });
        await Promise.all([keep(2), keep(5), keep(3)]);
        expect(await grantedEntries(store, 'spent')).toEqual(all);
      });

      test('hold the entries as they are stored, also those of one moment', async () => {
        const { all } = await fill();
        expect(await keepAll()).toBe(0);
        for (let at = 0; at < 3; at += 1) await add(requestRow({ decidedAtMs: startMs + 50 }), entry(null));
        expect(await keepAll()).toBe(2);
        const since = await grantedEntries(store, 'spent', startMs + 1);
        expect(since.filter(({ grantedAtMs }) => grantedAtMs! > startMs).slice(0, 8)).toEqual(all.slice(2));
        expect(await grantedEntries(store, 'spent')).toHaveLength(13);
        expect(await store.state.differences({ isQuick: true })).toEqual([]);
        expect(await store.state.differences({ isQuick: false })).toEqual([]);
      });

      const changes: Readonly<Record<string, (rows: readonly RequestRow[]) => Promise<unknown>>> = {
        'a grant is given back': ([row]) => release(row!.id),
        'a result is reported': ([, row]) => report(row!.id, { ...entry('77'), isGone: false }),
        'a result takes a request out': ([, , row]) => report(row!.id, { ...entry(null), isGone: true }),
        'a grant of an earlier moment is stored late': () =>
          add(requestRow({ decidedAtMs: startMs + 1 }), entry('88')),
        'an entry is computed from a record': async () => {
          const { id } = await add(requestRow({ decidedAtMs: startMs + 2 }));
          await store.meters.add([{ ...entry('99'), requestId: id }]);
        },
        'what was granted first is forgotten': () => store.meters.forget('spent', startMs + 1, 3),
        'a wait is granted at an earlier moment': async () => {
          const { id } = await add(pendingRow(), entry('66'));
          await change(id, 'approved', startMs + 3);
        },
        'the meter goes and comes back': async () => {
          await store.meters.note(['other'], startMs);
          await store.meters.note(['spent'], startMs);
        },
      };
      const release = (requestId: string) => {
        const state = { status: 'consumed', decidedAtMs: startMs, expiresAtMs: startMs + 9 } as const;
        const event = { atMs: startMs + 9, who: 'a', what: 'released', state, detail: {} } as const;
        return store.requests.change({ requestId, events: [event], from: ['auto_approved'], seen: null });
      };
      const report = async (requestId: string, row: SettledEntryRow) => {
        const { decidedAtMs } = (await store.requests.find(requestId))!;
        const state = { status: 'consumed', decidedAtMs, expiresAtMs: startMs + 9 } as const;
        const event = { atMs: startMs + 9, who: 'a', what: 'consumed', state, detail: {} } as const;
        return store.requests.change({
          requestId,
          events: [event],
          from: ['auto_approved'],
          seen: null,
          entries: [row],
        });
      };

      test.each(Object.entries(changes))('are as if there were none when %s', async (_, make) => {
        const { rows } = await fill();
        await make(rows);
        const found = await grantedEntries(store, 'spent');
        const own = await Promise.all(
          (
            await store.meters.counted({ definition: 'spent', sinceMs: 0, after: 0, countMax: 99 })
          ).requests.map(async ({ id }) =>
            (await store.meters.enteredBy(id)).filter(({ definition }) => definition === 'spent'),
          ),
        );
        const byId = (a: StoredMeterEntry, b: StoredMeterEntry) => (a.requestId < b.requestId ? -1 : 1);
        expect(found.toSorted(byId)).toEqual(own.flat().toSorted(byId));
        // What has changed is in a snapshot again.
        await keepAll();
        expect(await grantedEntries(store, 'spent')).toEqual(found);
        expect(await store.state.differences({ isQuick: true })).toEqual([]);
      });
    });
  });
}
