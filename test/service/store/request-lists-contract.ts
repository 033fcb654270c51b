// What every store must do with lists of requests: each page holds what a plain look through all rows finds,
// and no page looks through all rows.

import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type { ApproverIdentity } from '../../../src/service/store/contract/control-owner-group.ts';
import type { FilterStatus, RequestRow, RequestStatus } from '../../../src/service/store/contract/records.ts';
import type { RequestFilter, RequestPosition, Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';
import { agentRow, everything, keyRow, pendingRow, requestRow, startMs } from './rows.ts';

/** The most requests that are looked through for one page. */
const scannedRequestsMax = 2_000;

interface Drawn {
  readonly agent: number;
  readonly action: string;
  readonly status: RequestStatus;
  readonly outcome: string;
  readonly policy: string;
  readonly risk: number;
  readonly amount?: unknown;
  readonly group: string;
  readonly atMs: number;
  readonly endsMs: number;
  /** Who gave the standing approval that the request uses; null for none. */
  readonly giver: string | null;
}

/** Approvers of whom any may approve, by the text that stands for them. */
const choices: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  'finance or legal': [{ group: 'finance' }, { group: 'legal' }],
  'owner or legal': [{ group: 'owner' }, { group: 'legal' }],
  'staff[payload.by].boss': [{ from: 'staff[payload.by].boss', person: 'aNN@example.com' }],
  'ids[payload.by]': [{ from: 'ids[payload.by]', person: 'ben-id' }],
  'teams[payload.by]': [{ from: 'teams[payload.by]', group: 'security' }],
  'unknown[payload.by]': [{ from: 'unknown[payload.by]', unknown: 'unknown has no row for "x"' }],
};

const drawn: fc.Arbitrary<Drawn> = fc.record({
  agent: fc.nat(2),
  action: fc.constantFrom('pay.create', 'pay.refund'),
  status: fc.constantFrom('auto_approved', 'pending', 'rejected', 'approved'),
  outcome: fc.constantFrom('ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED'),
  policy: fc.constantFrom('pay', 'default_deny'),
  risk: fc.integer({ min: 0, max: 100 }),
  amount: fc.constantFrom<unknown>(-1, 0, 2.5, 10, 1e300, '7', 'ten', null, [10], undefined),
  group: fc.constantFrom('finance', 'security', 'owner', ...Object.keys(choices)),
  atMs: fc.nat(5),
  endsMs: fc.constantFrom(-10, 10),
  giver: fc.option(fc.constantFrom('p1', 'zoe-id')),
});

function rowOf(
  { agent, action, status, atMs, endsMs, ...drawn }: Drawn,
  agentIds: readonly string[],
): RequestRow {
  const { outcome, policy, risk, amount, group, giver } = drawn;
  const approvals =
    outcome === 'ESCALATE' ? [{ group, needs: 1, withinSeconds: 60, anyOf: choices[group] }] : [];
  const decision = {
    outcome,
    matchedPolicy: policy,
    risk: { low: 0, high: risk },
    requires: { approvals, reauth: outcome === 'REAUTH_REQUIRED' ? { withinSeconds: null } : null },
  };
  return requestRow({
    agentId: agentIds[agent] ?? '',
    actionKey: action,
    status,
    outcome,
    createdAtMs: startMs + atMs,
    expiresAtMs: startMs + endsMs,
    recordJson: JSON.stringify({
      payload: { amount },
      decision,
      ...(giver !== null && { givers: [{ rule: 'pay/new', person: giver }] }),
    }),
  });
}

function isAsked({ outcome, group }: Drawn, agentOwner = '', { groups, owner }: ApproverIdentity): boolean {
  const isOwner = agentOwner === owner?.id || agentOwner === owner?.email.toLowerCase();
  if (outcome === 'REAUTH_REQUIRED') return isOwner;
  if (outcome !== 'ESCALATE') return false;
  const isPerson = (person = ''): boolean =>
    owner !== null && [owner.id, owner.email.toLowerCase()].includes(person.toLowerCase());
  return (choices[group] ?? [{ group }]).some((one) => {
    if (one.group === undefined) return isPerson(one.person);
    return one.group === 'owner' ? isOwner : groups.includes(one.group);
  });
}

const filter = fc.record({
  agent: fc.option(fc.nat(2)),
  actionKey: fc.option(fc.constantFrom('pay.create', 'pay.other')),
  status: fc.option(
    fc.constantFrom<FilterStatus>(
      'auto_approved',
      'pending',
      'rejected',
      'expired',
      'unanswered',
      'grant_over',
    ),
  ),
  outcome: fc.option(fc.constantFrom('ALLOW', 'DENY')),
  policy: fc.option(fc.constantFrom('pay', 'no_such')),
  riskMin: fc.option(fc.integer({ min: 0, max: 100 })),
  riskMax: fc.option(fc.integer({ min: 0, max: 100 })),
  amountMin: fc.option(fc.constantFrom(-2, 0, 2.5, 5)),
  amountMax: fc.option(fc.constantFrom(-1, 2.4, 10)),
  from: fc.option(fc.nat(5)),
  until: fc.option(fc.nat(5)),
  seenBy: fc.option(
    fc.record({
      owner: fc.option(fc.constantFrom({ id: 'p1', email: 'Ann@example.com' }, { id: 'ben-id', email: 'x' })),
      asked: fc.record({
        owner: fc.option(
          fc.constantFrom({ id: 'p1', email: 'Ann@example.com' }, { id: 'ben-id', email: 'x' }),
        ),
        groups: fc.subarray(['finance', 'security', 'owner']),
      }),
      giver: fc.option(fc.constantFrom('p1', 'zoe-id', 'nobody')),
    }),
  ),
  limit: fc.integer({ min: 1, max: 4 }),
});

export function describeRequestLists(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: lists of requests`, () => {
    async function open(): Promise<{ readonly store: Store }> {
      const place = await createPlace();
      const store = await place.open();
      onTestFinished(async () => {
        await store.close();
        await place.remove();
      });
      return { store };
    }

    test('a list holds what fits, the latest first, each once, whatever is asked', async () => {
      const { store } = await open();
      const owners = ['ann@example.com', 'ben-id', 'nobody'];
      const agents = owners.map((controlOwner) => agentRow({ controlOwner }));
      for (const agent of agents) await store.agents.add(agent, keyRow(agent.id));
      const agentIds = agents.map(({ id }) => id);
      const draws = fc.sample(drawn, { numRuns: 40, seed: 7 });
      const rows = draws.map((one) => rowOf(one, agentIds));
      await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 1_000 })));

      const fits = (at: number, asked: RequestFilter): boolean => {
        const [row, draw] = [rows[at], draws[at]];
        if (row === undefined || draw === undefined) return false;
        const isOver = row.expiresAtMs <= asked.nowMs && row.status !== 'rejected';
        const owner = owners[draw.agent];
        const { seenBy } = asked;
        const isSeen =
          seenBy === null ||
          owner === seenBy.owner?.id ||
          owner === seenBy.owner?.email.toLowerCase() ||
          isAsked(draw, owner, seenBy.asked) ||
          (seenBy.giver !== null && draw.giver === seenBy.giver);
        return (
          (asked.agentId === null || asked.agentId === row.agentId) &&
          (asked.actionKey === null || asked.actionKey === row.actionKey) &&
          (asked.status === null ||
            asked.status === (isOver ? 'expired' : row.status) ||
            (isOver && asked.status === (row.status === 'pending' ? 'unanswered' : 'grant_over'))) &&
          (asked.outcome === null || asked.outcome === row.outcome) &&
          (asked.policy === null || asked.policy === draw.policy) &&
          (asked.riskMin === null || draw.risk >= asked.riskMin) &&
          (asked.riskMax === null || draw.risk <= asked.riskMax) &&
          (asked.amountMin === null || (typeof draw.amount === 'number' && draw.amount >= asked.amountMin)) &&
          (asked.amountMax === null || (typeof draw.amount === 'number' && draw.amount <= asked.amountMax)) &&
          (asked.fromMs === null || row.createdAtMs >= asked.fromMs) &&
          (asked.untilMs === null || row.createdAtMs <= asked.untilMs) &&
          isSeen
        );
      };

      await fc.assert(
        fc.asyncProperty(filter, async ({ agent, from, until, limit, ...rest }) => {
          const asked: RequestFilter = {
            ...everything,
            ...rest,
            agentId: agent === null ? null : (agentIds[agent] ?? ''),
            fromMs: from === null ? null : startMs + from,
            untilMs: until === null ? null : startMs + until,
          };
          const found: string[] = [];
          let after: RequestPosition | null = null;
          do {
            const page = await store.requests.list({ ...asked, after, countMax: limit });
            expect(page.items.length).toBeLessThanOrEqual(limit);
            found.push(...page.items.map(({ row }) => row.id));
            after = page.next;
          } while (after !== null);
          const expected = rows
            .filter((_, at) => fits(at, asked))
            .map(({ id }) => id)
            .toReversed();
          expect(found).toEqual(expected);
        }),
        { numRuns: 200 },
      );
    });

    test('looks through so many and no more, and says where to go on', async () => {
      const { store } = await open();
      const rows = Array.from({ length: scannedRequestsMax + 10 }, (_, at) =>
        requestRow({
          createdAtMs: startMs + at,
          recordJson: JSON.stringify({ decision: { risk: { high: at === 0 ? 90 : 10 } } }),
        }),
      );
      await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 1 })));
      const asked = { ...everything, riskMin: 80, countMax: 5 };
      const first = await store.requests.list({ ...asked, after: null });
      expect(first.items).toEqual([]);
      expect(first.next).toEqual({ sequence: 11 });
      const second = await store.requests.list({ ...asked, after: first.next });
      expect(second.items.map(({ row }) => row.id)).toEqual([rows[0]?.id]);
      expect(second.next).toBeNull();
    });

    test('a stretch of time is gone to directly, however much came after it', async () => {
      const { store } = await open();
      const minutes = scannedRequestsMax + 500;
      const rows = Array.from({ length: minutes }, (_, at) =>
        requestRow({ createdAtMs: startMs + at * 60_000, recordJson: '{}' }),
      );
      await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 1 })));
      for (const at of [0, 1, 77, minutes - 1]) {
        const ms = startMs + at * 60_000;
        const page = { ...everything, fromMs: ms, untilMs: ms, after: null, countMax: 5 };
        const { items: found, next } = await store.requests.list(page);
        expect(found.map(({ row }) => row.id)).toEqual([rows[at]?.id]);
        expect(next).toBeNull();
      }
      const none = { ...everything, untilMs: startMs - 1, after: null, countMax: 5 };
      expect(await store.requests.list(none)).toEqual({ items: [], next: null, unsearched: 0 });
    });

    test('an agent may come back for what waits or is approved and not over, and for what it has taken', async () => {
      const { store } = await open();
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const made = (status: RequestStatus, endsMs: number, actionKey = 'pay.create') =>
        requestRow({
          agentId: agent.id,
          actionKey,
          status,
          decidedAtMs: status === 'pending' ? null : startMs,
          expiresAtMs: startMs + endsMs,
        });
      const [waiting, approved, granted] = [
        made('pending', 10),
        made('approved', 20),
        made('auto_approved', 30),
      ];
      const others = [made('pending', -10), made('rejected', 10), made('pending', 10, 'pay.refund')];
      for (const row of [waiting, approved, granted, ...others])
        await store.requests.append(row, { openMax: 9 });
      const query = { agentId: agent.id, actionKey: 'pay.create', nowMs: startMs, countMax: 5 };
      const idsOf = async (taker: string | null, countMax = 5) =>
        (await store.requests.heldOf({ ...query, taker, countMax })).map(({ row }) => row.id);
      expect(await idsOf(null)).toEqual([approved.id, waiting.id]);
      expect(await idsOf(null, 1)).toEqual([approved.id]);
      const taken = {
        atMs: startMs + 1,
        who: agent.id,
        what: 'taken',
        state: { status: 'auto_approved', decidedAtMs: startMs, expiresAtMs: startMs + 20 },
        detail: { taker: 'first call' },
      } as const;
      const change = { requestId: approved.id, from: ['approved'] as const, events: [taken], seen: 0 };
      expect(await store.requests.change(change)).toBe('changed');
      expect(await idsOf(null)).toEqual([waiting.id]);
      expect(await idsOf('another call')).toEqual([waiting.id]);
      expect(await idsOf('first call')).toEqual([approved.id, waiting.id]);
    });

    test('pending requests are counted by the group that they ask, those of control owners as one', async () => {
      const { store } = await open();
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const common = { agent: 0, action: 'pay.create', status: 'pending', policy: 'pay', risk: 0 } as const;
      const asks = (group: string, endsMs: number) => ({
        ...common,
        outcome: 'ESCALATE',
        group,
        atMs: 0,
        endsMs,
        giver: null,
      });
      const made = [asks('finance', 20), asks('finance', 10), asks('owner', 30), asks('finance', -10)];
      for (const one of made)
        await store.requests.append({ ...rowOf(one, [agent.id]), decidedAtMs: null }, { openMax: 9 });
      expect(await store.requests.pendingByGroup(startMs)).toEqual([
        { group: 'finance', count: 2, nearestMs: startMs + 10 },
        { group: 'owner', count: 1, nearestMs: startMs + 30 },
      ]);
      expect(await store.sizeBytes()).toBeGreaterThan(10_000);
    });

    test('pending requests are found when their next fallback is due, by the decision that counts', async () => {
      const { store } = await open();
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const decided = (...seconds: readonly number[]) => {
        const fallbacks = seconds.map((afterSeconds) => ({ afterSeconds, anyOf: [{ group: 'security' }] }));
        const approval = {
          group: 'x',
          needs: 1,
          withinSeconds: 99,
          ...(seconds.length > 0 && { fallbacks }),
        };
        return { decision: { outcome: 'ESCALATE', requires: { approvals: [approval], reauth: null } } };
      };
      const add = async (ends: number, ...seconds: readonly number[]): Promise<string> => {
        const recordJson = JSON.stringify(decided(...seconds));
        const expiresAtMs = startMs + ends * 1000;
        const row = pendingRow({ id: createRequestId(startMs), agentId: agent.id, recordJson, expiresAtMs });
        await store.requests.append(row, { openMax: 99 });
        return row.id;
      };
      await add(99);
      const [late, early] = [await add(99, 20, 40), await add(98, 10)];
      const ended = await add(15, 10);
      const dueAt = (second: number) => store.requests.dueFallbacks(startMs + second * 1000, 9);
      expect(await dueAt(9)).toEqual([]);
      expect(await dueAt(10)).toEqual([ended, early]);
      expect(await dueAt(20)).toEqual([early, late]);
      expect(await store.requests.dueFallbacks(startMs + 20_000, 1)).toEqual([early]);
      const happen = async (requestId: string, what: 'decided' | 'fallback-asked', detail: object) => {
        const state = { status: 'pending', decidedAtMs: null, expiresAtMs: startMs + 99_000 } as const;
        const event = {
          atMs: startMs,
          who: 'system',
          what,
          state,
          detail: JSON.parse(JSON.stringify(detail)),
        };
        const change = { requestId, from: ['pending'] as const, events: [event], seen: null };
        expect(await store.requests.change(change)).toBe('changed');
      };
      await happen(late, 'fallback-asked', decided(40));
      await happen(early, 'decided', decided(30));
      expect(await dueAt(29)).toEqual([]);
      expect(new Set(await dueAt(39))).toEqual(new Set([early]));
      expect(new Set(await dueAt(40))).toEqual(new Set([early, late]));
      const over = { status: 'rejected', decidedAtMs: startMs, expiresAtMs: startMs } as const;
      const rejected = { atMs: startMs, who: 'ann', what: 'rejected' as const, state: over, detail: null };
      for (const requestId of [late, early])
        await store.requests.change({ requestId, from: ['pending'], events: [rejected], seen: null });
      expect(await dueAt(40)).toEqual([]);
    });

    test('pending requests are listed with the number of their events, the nearest deadline first', async () => {
      const { store } = await open();
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const add = async (ends: number): Promise<string> => {
        const expiresAtMs = startMs + ends * 1000;
        const row = pendingRow({
          id: createRequestId(startMs),
          agentId: agent.id,
          recordJson: '{}',
          expiresAtMs,
        });
        await store.requests.append(row, { openMax: 99 });
        return row.id;
      };
      const [late, early] = [await add(99), await add(50)];
      const state = { status: 'pending', decidedAtMs: null, expiresAtMs: startMs + 99_000 } as const;
      const event = { atMs: startMs, who: 'system', what: 'reminded' as const, state, detail: {} };
      const change = { requestId: late, from: ['pending'] as const, events: [event], seen: 0 };
      expect(await store.requests.change(change)).toBe('changed');
      const all = [
        { id: early, seen: 0 },
        { id: late, seen: 1 },
      ];
      expect(await store.requests.pendingChanges(startMs, 9)).toEqual(all);
      expect(await store.requests.pendingChanges(startMs, 1)).toEqual(all.slice(0, 1));
      expect(await store.requests.pendingChanges(startMs + 50_000, 9)).toEqual(all.slice(1));
      const over = { status: 'rejected', decidedAtMs: startMs, expiresAtMs: startMs } as const;
      const rejected = { atMs: startMs, who: 'ann', what: 'rejected' as const, state: over, detail: null };
      await store.requests.change({ requestId: late, from: ['pending'], events: [rejected], seen: 1 });
      expect(await store.requests.pendingChanges(startMs + 50_000, 9)).toEqual([]);
    });

    test('a queue is counted, and what somebody approved or was asked about is told beside it', async () => {
      const { store } = await open();
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      const common = { agent: 0, action: 'pay.create', status: 'pending', policy: 'pay', risk: 0 } as const;
      const waits = { ...common, outcome: 'ESCALATE', group: 'finance', atMs: 0, endsMs: 10, giver: null };
      const made = [waits, waits, waits, { ...waits, group: 'security' }, { ...waits, endsMs: -10 }];
      const rows = made.map((one) => ({ ...rowOf(one, [agent.id]), decidedAtMs: null }));
      for (const row of rows) await store.requests.append(row, { openMax: 9 });
      const query = { identity: { groups: ['finance'], owner: null }, nowMs: startMs };
      const counted = async (person: string) => {
        const owner = { id: person, email: `${person}@example.com` };
        const { untouched, touched } = await store.requests.countWaiting({ ...query, person: owner });
        const sum = untouched.reduce((all, { count }) => all + count, 0);
        return [sum, ...touched.map(({ row }) => rows.findIndex(({ id }) => id === row.id)).toSorted()];
      };
      expect(await counted('p1')).toEqual([3]);
      const happen = async (
        at: number,
        what: 'approved' | 'commented',
        detail: Readonly<Record<string, string>>,
      ) => {
        const row = rows[at]!;
        const state = { status: 'pending', decidedAtMs: null, expiresAtMs: row.expiresAtMs } as const;
        const event = { atMs: startMs, who: 'ann', what, state, detail };
        const change = { requestId: row.id, from: ['pending'] as const, events: [event], seen: 0 };
        expect(await store.requests.change(change)).toBe('changed');
      };
      await happen(0, 'approved', { person: 'p1' });
      await happen(1, 'commented', { person: 'p2', kind: 'question' });
      await happen(2, 'commented', { person: 'p1', kind: 'comment' });
      expect([await counted('p1'), await counted('p2')]).toEqual([
        [1, 0, 1],
        [1, 0, 1],
      ]);
      // What the person's own agents ask is told as well, since a control owner may not approve all of it.
      expect(await counted('ops')).toEqual([0, 0, 1, 2]);
      const person = { id: 'p1', email: 'p1@example.com' };
      const nobody = { ...query, identity: { groups: [], owner: null }, person };
      expect(await store.requests.countWaiting(nobody)).toEqual({ untouched: [], touched: [] });
    });

    test('a request comes with all that became of it, as it then stood', async () => {
      const { store } = await open();
      const row = requestRow({ status: 'pending', decidedAtMs: null });
      await store.requests.append(row, { openMax: 1 });
      const state = { status: 'pending', decidedAtMs: null, expiresAtMs: row.expiresAtMs } as const;
      const approved = {
        atMs: startMs + 1,
        who: 'ann',
        what: 'approved',
        state,
        detail: { comment: 'a' },
      } as const;
      const rejected = { ...approved, what: 'rejected', state: { ...state, status: 'rejected' } } as const;
      const change = { requestId: row.id, from: ['pending'] as const };
      expect(await store.requests.change({ ...change, events: [approved], seen: 1 })).toBe('state-differs');
      expect(await store.requests.change({ ...change, events: [approved], seen: 0 })).toBe('changed');
      expect(await store.requests.change({ ...change, events: [rejected], seen: 0 })).toBe('state-differs');
      expect(await store.requests.change({ ...change, events: [approved, rejected], seen: 1 })).toBe(
        'changed',
      );
      const history = await store.requests.history(row.id);
      expect(history?.row.status).toBe('rejected');
      const events = [approved, approved, rejected].map((event) => ({ ...event, requestId: row.id }));
      expect(history?.events).toEqual(events);
      expect(await store.requests.events(row.id)).toEqual(events);
      expect(await store.requests.history('no-such-id')).toBeNull();
    });
  });
}
