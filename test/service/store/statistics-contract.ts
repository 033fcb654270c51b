// What every store must do with statistics.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StatisticsCell, StatisticsChange } from '../../../src/service/store/contract/statistics.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';
import { pendingRow, refusalRecord, requestRow, startMs } from './rows.ts';

const nothing: StatisticsChange = { puts: [], removed: null, hits: [], shadowChanges: [], mark: null };
const cell = (atMs: number, spanMs: number, json = '{}'): StatisticsCell => ({ atMs, spanMs, json });
const limits = { openMax: 20 };

export function describeStatistics(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: statistics`, () => {
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

    const page = { fromMs: 0, untilMs: 1_000, spanMs: null, after: null, countMax: 100 };

    test('cells come by time and by pages, and one takes the place of another', async () => {
      const { statistics } = store;
      const cells = [cell(20, 10), cell(10, 10), cell(10, 60, '{"a":1}'), cell(30, 10)];
      await statistics.change({ ...nothing, puts: cells });
      await statistics.change({ ...nothing, puts: [cell(10, 10, '{"b":1}')] });
      const all = [cell(10, 10, '{"b":1}'), cell(10, 60, '{"a":1}'), cell(20, 10), cell(30, 10)];
      expect(await statistics.cells(page)).toEqual(all);
      const first = await statistics.cells({ ...page, countMax: 1 });
      const rest = await statistics.cells({ ...page, after: first[0] ?? null });
      expect([...first, ...rest]).toEqual(all);
      expect(await statistics.cells({ ...page, spanMs: 60 })).toEqual([cell(10, 60, '{"a":1}')]);
      expect(await statistics.cells({ ...page, fromMs: 11, untilMs: 30 })).toEqual([cell(20, 10)]);
    });

    test('a change that is sent again changes nothing if it is stored, and all of it if it is not', async () => {
      const { statistics } = store;
      const hits = [{ rule: 'a/b', decided: 1, met: 2, lastAtMs: 7 }];
      const change = { ...nothing, puts: [cell(10, 10, '{"a":1}'), cell(20, 10)], hits };
      const decided = async () => (await statistics.hits()).hits.map((hit) => hit.decided);
      await statistics.change({ ...change, isAgain: true });
      expect(await decided()).toEqual([1]);
      await statistics.change({ ...change, isAgain: true });
      expect(await decided()).toEqual([1]);
      expect(await statistics.cells(page)).toEqual(change.puts);
      await statistics.change({ ...change, puts: [cell(10, 10, '{"a":2}'), cell(20, 10)], isAgain: true });
      expect(await decided()).toEqual([2]);
    });

    test('what is removed is of one span and one time, and gone before what is put', async () => {
      const { statistics } = store;
      await statistics.change({ ...nothing, puts: [cell(10, 10), cell(20, 10), cell(20, 60), cell(30, 10)] });
      const removed = { spanMs: 10, fromMs: 10, untilMs: 30 };
      await statistics.change({ ...nothing, removed, puts: [cell(10, 10, '{"c":1}')] });
      expect(await statistics.cells(page)).toEqual([cell(10, 10, '{"c":1}'), cell(20, 60), cell(30, 10)]);
    });

    test('hits add up, the last time is the latest, and the mark is the last', async () => {
      const { statistics } = store;
      expect(await statistics.mark()).toBeNull();
      const mark = { throughMs: 5, afterSequence: 1, sinceMs: 2 };
      const hit = { rule: 'a/b', decided: 1, met: 2, lastAtMs: 7 };
      const change = { rule: 'a/b', from: 'ALLOW', to: 'DENY', count: 3 };
      await statistics.change({ ...nothing, hits: [hit], shadowChanges: [change], mark });
      await statistics.change({
        ...nothing,
        hits: [
          { ...hit, lastAtMs: 6 },
          { ...hit, lastAtMs: null },
        ],
        shadowChanges: [change],
        mark: { ...mark, throughMs: 9 },
      });
      expect(await statistics.hits()).toEqual({
        hits: [{ rule: 'a/b', decided: 3, met: 6, lastAtMs: 7 }],
        shadowChanges: [{ ...change, count: 6 }],
      });
      await statistics.change(nothing);
      expect(await statistics.mark()).toEqual({ ...mark, throughMs: 9 });
    });

    test('records come by their numbers, and of events those that end a wait', async () => {
      const { statistics, requests } = store;
      expect([await statistics.lastSequence(), await statistics.lastEvent()]).toEqual([0, 0]);
      const [granted, pending, other] = [
        requestRow(),
        pendingRow({ outcome: 'REAUTH_REQUIRED' }),
        pendingRow({ createdAtMs: startMs - 9 }),
      ];
      for (const row of [granted, pending, other]) await requests.append(row, limits);
      const refusal = refusalRecord();
      await requests.appendRefusal(refusal);
      const after = await statistics.lastSequence();
      expect(await statistics.waiting(startMs)).toBe(2);
      const state = { status: 'pending', decidedAtMs: null, expiresAtMs: startMs + 600_000 } as const;
      const approved = { ...state, status: 'approved', decidedAtMs: startMs } as const;
      const event = { atMs: startMs + 3, who: 'system', detail: null };
      await requests.change({
        requestId: other.id,
        from: ['pending'],
        seen: null,
        events: [
          { ...event, what: 'approved', state },
          { ...event, what: 'decided', state: approved },
        ],
      });
      await requests.change({
        requestId: other.id,
        from: ['approved'],
        seen: null,
        events: [{ ...event, what: 'consumed', state: { ...approved, status: 'consumed' } }],
      });
      await requests.expireDue(startMs + 600_000, 10);
      const upTo = await statistics.lastSequence();
      expect(await statistics.lastEvent()).toBe(upTo);
      const ends = [
        { atMs: startMs + 3, status: 'approved', createdAtMs: startMs - 9, isStepUp: false },
        { atMs: startMs + 600_000, status: 'expired', createdAtMs: startMs, isStepUp: true },
      ];
      expect(await statistics.waitEnds({ after, upTo })).toEqual(ends);
      expect(await statistics.waitEnds({ after: upTo - 1, upTo })).toEqual(ends.slice(1));
      const counted = await statistics.counted({ after: 0, upTo });
      expect(counted.map(({ kind }) => kind).toSorted()).toEqual([
        'end',
        'end',
        'refusal',
        'request',
        'request',
        'request',
      ]);
      expect(counted).toContainEqual({ kind: 'request', atMs: startMs, recordJson: granted.recordJson });
      const { agentId, atMs, code } = refusal;
      expect(counted).toContainEqual({ kind: 'refusal', atMs, agentId, code });
      expect(await statistics.counted({ after: 0, upTo: 1 })).toHaveLength(1);
      expect(await statistics.waiting(startMs)).toBe(0);
    });
  });
}
