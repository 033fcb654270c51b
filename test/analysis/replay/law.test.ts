// LAW: the set that decided a log, tried on that log, repeats every decision, in both readings, including
// later decisions on the same request. The reading `as recorded` equals the definition on each record.

import { expect, test } from 'vitest';
import { factsOfRecord, recordedShape } from '../../../src/analysis/records/recorded-request.ts';
import type { ReplayResult } from '../../../src/analysis/replay/engine/replay-log.ts';
import { type Decision, outcomes } from '../../../src/language/model/decision.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { requestRecord } from '../../../src/service/requests/record/record.ts';
import type { RequestHistory } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { everything } from '../../service/store/rows.ts';
import { tries } from '../../support/tries.ts';
import { makeHistory, policyText, recordedDecisions } from './history.ts';
import { compiledOf, tried } from './tried.ts';

const hundred = { ...everything, nowMs: 0, countMax: 100 };

async function recorded(path: string): Promise<readonly RequestHistory[]> {
  const store = await openStore({ path });
  const all: RequestHistory[] = [];
  let after: { sequence: number } | null = null;
  for (;;) {
    const page = await store.requests.list({ ...hundred, after });
    all.push(...page.items);
    if (page.next === null) break;
    after = page.next;
  }
  await store.close();
  return all;
}

function cells({ matrix }: ReplayResult): number {
  return outcomes.reduce(
    (sum, before) => sum + outcomes.reduce((row, now) => row + matrix[before][now], 0),
    0,
  );
}

/** The same policies with other numbers, groups and rules. */
const otherTexts = [
  policyText.replace('escalate large to finance', 'escalate large to security'),
  policyText.replace('needs 2', 'needs 3').replace('spent > 900', 'spent > 300'),
  policyText.replace('needs 2 within 3h', 'within 5h').replace('deny spread when payees > 6', ''),
  policyText
    .replace('over 24h\n  meter calls', 'over 2h\n  meter calls')
    .replace('reauth this_one', 'deny this_one'),
];

const seeds = Array.from({ length: tries(2) }, (_, at) => at + 1);

test.each(seeds)(
  'law: the set that decided a log decides it so again, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    // Every second history lasts longer than the windows of its meters.
    const { path, asked } = await makeHistory(seed, 400, { pauseMs: (seed % 2) * 12 * 60 * 60 * 1000 });
    const all = await recorded(path);
    expect(all.length).toBe(asked);
    const inOrder = await tried(path, policyText, { reading: 'in order' });
    for (const { row, events } of all) {
      const then = recordedDecisions(row, events);
      expect({ id: row.id, decisions: inOrder.decisions.get(row.id) }).toEqual({
        id: row.id,
        decisions: then,
      });
    }
    const asRecorded = await tried(path, policyText, { reading: 'as recorded' });
    for (const { row } of all)
      expect(asRecorded.decisions.get(row.id)).toEqual([requestRecord(row).decision]);
    for (const { result } of [inOrder, asRecorded]) {
      expect(result.requests).toBe(asked);
      expect(cells(result) + result.withheld).toBe(asked);
      expect(result.changes).toEqual({ outcome: 0, asked: 0, rule: 0 });
      for (const { votes, day, busiest } of result.people)
        expect([votes.now, day.now, busiest.now]).toEqual([votes.before, day.before, busiest.before]);
    }
    const { waits } = inOrder.result;
    const waited = all.filter(({ row }) => row.outcome === 'ESCALATE' || row.outcome === 'REAUTH_REQUIRED');
    const count = (status: string) => waited.filter(({ row }) => row.status === status).length;
    expect(waits).toEqual({
      granted: count('approved') + count('consumed'),
      refused: count('rejected'),
      expired: count('expired'),
      open: count('pending'),
      unknown: 0,
    });
  },
);

test.each(seeds)(
  'law: other sets decide as the definition does, and no request is lost, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { path, asked } = await makeHistory(seed, 120);
    const all = await recorded(path);
    for (const text of otherTexts) {
      const { set } = compiledOf(text);
      const { decisions, result } = await tried(path, text, { reading: 'as recorded' });
      for (const { row } of all) {
        const record = requestRecord(row);
        const decided = authorize(recordedShape(set, record.actionKey).set, factsOfRecord(record));
        expect(decisions.get(row.id)).toEqual([decided]);
      }
      expect(cells(result) + result.withheld).toBe(asked);
      const inOrder = (await tried(path, text, { reading: 'in order' })).result;
      expect(inOrder.requests).toBe(asked);
      expect(cells(inOrder) + inOrder.withheld).toBe(asked);
      const waiting = outcomes.reduce(
        (sum, before) => sum + inOrder.matrix[before].ESCALATE + inOrder.matrix[before].REAUTH_REQUIRED,
        0,
      );
      const { granted, refused, expired, open, unknown } = inOrder.waits!;
      expect(granted + refused + expired + open + unknown).toBe(waiting);
    }
  },
);

test.each(seeds)(
  'law: a part of the log is decided as the whole is, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { path } = await makeHistory(seed, 300, { pauseMs: 24 * 60 * 60 * 1000 });
    const all = await recorded(path);
    const times = all.map(({ row }) => row.createdAtMs).sort((a, b) => a - b);
    const sinceMs = times[Math.floor(times.length / 2)]!;
    const { decisions, result } = await tried(path, policyText, { reading: 'in order', sinceMs });
    const later = all.filter(({ row }) => row.createdAtMs >= sinceMs);
    expect(result.requests).toBe(later.length);
    expect(decisions.size).toBe(later.length);
    for (const { row, events } of later) {
      const then: readonly Decision[] = recordedDecisions(row, events);
      expect({ id: row.id, decisions: decisions.get(row.id) }).toEqual({ id: row.id, decisions: then });
    }
  },
);
