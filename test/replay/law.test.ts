// LAW: the set that decided a log, tried on it, decides each request as it was decided, in both readings, and each again as
// it was decided again; and as recorded is what the definition says of each record.

import { expect, test } from 'vitest';
import { authorize } from '../../src/language/spec/authorize.ts';
import type { Decision } from '../../src/language/model/decision.ts';
import { compile } from '../../src/pipeline.ts';
import type { ReplayReading } from '../../src/reasoning/replay/replay.ts';
import { recordedShape } from '../../src/service/playground/recorded.ts';
import { openStoredLog } from '../../src/service/replay/read-store.ts';
import { replayLog, windowMsOf } from '../../src/service/replay/replay-log.ts';
import { candidateOf } from '../../src/service/replay/service-rules.ts';
import { openRecords, openStore } from '../../src/service/store/open.ts';
import { makeHistory, policyText, recordedDecisions } from './history.ts';

export function compiledOf(text: string) {
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null || engine === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { set, candidate: candidateOf(set, engine) };
}

async function tried(path: string, text: string, reading: ReplayReading, sinceMs?: number) {
  const { candidate } = compiledOf(text);
  const records = await openRecords({ path });
  const decisions = new Map<string, Decision[]>();
  const log = await openStoredLog(records, { windowMs: windowMsOf(candidate), sinceMs, recordsAtOnce: 7 });
  const result = await replayLog(log, {
    candidate,
    reading,
    sinceMs,
    onDecision: (id, decision) => decisions.set(id, [...(decisions.get(id) ?? []), decision]),
  });
  await records.close();
  expect(log.faults.named).toEqual([]);
  return { result, decisions };
}

async function recorded(path: string) {
  const store = await openStore({ path });
  const all = new Map<string, readonly Decision[]>();
  const statuses: string[] = [];
  let after: { sequence: number } | null = null;
  for (;;) {
    const page = await store.requests.list({
      ...{ agentId: null, actionKey: null, status: null, outcome: null, policy: null, riskMin: null },
      ...{ riskMax: null, fromMs: null, untilMs: null, seenBy: null, nowMs: 0, after, countMax: 100 },
    });
    for (const { row, events } of page.found) {
      all.set(row.id, recordedDecisions(row, events));
      statuses.push(row.status);
    }
    if (page.next === null) break;
    after = page.next;
  }
  await store.close();
  return { all, statuses };
}

const seeds = Array.from({ length: 8 }, (_, at) => at + 1);

test.each(seeds)('law: the same set decides a log as it was decided, in order, seed %i', { timeout: 120_000 }, async (seed) => {
  const { path, asked } = await makeHistory(seed, 250);
  const { all, statuses } = await recorded(path);
  const { result, decisions } = await tried(path, policyText, 'in order');
  expect(all.size).toBe(asked);
  for (const [id, past] of all) expect({ id, decisions: decisions.get(id) }).toEqual({ id, decisions: past });
  expect(result.requests).toBe(asked);
  expect(result.changes).toEqual({ outcome: 0, asked: 0, rule: 0 });
  for (const { words, day } of result.people) {
    expect(words.now).toBe(words.before);
    expect(day.now).toEqual(day.before);
  }
  const count = (status: string) => statuses.filter((one) => one === status).length;
  const released = statuses.length;
  expect(result.waits?.unknown).toBe(0);
  expect(result.waits?.expired).toBe(count('expired'));
  expect(released).toBe(asked);
});
