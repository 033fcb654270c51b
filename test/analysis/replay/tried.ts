// Tries a policy set on the log of a store, and keeps every decision.

import { expect } from 'vitest';
import type { ReplayReading } from '../../../src/analysis/replay/engine/replay-log.ts';
import type { ReplayFinding } from '../../../src/analysis/replay/engine/tally.ts';
import { openStoredLog } from '../../../src/analysis/replay/read-store.ts';
import { replayLog, windowMsOf } from '../../../src/analysis/replay/replay-log.ts';
import { candidateOf } from '../../../src/analysis/replay/service-rules.ts';
import type { Decision } from '../../../src/language/model/decision.ts';
import { compile } from '../../../src/pipeline.ts';
import { openRecords } from '../../../src/service/store/open.ts';

export function compiledOf(text: string) {
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null || engine === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { set, candidate: candidateOf(set, engine) };
}

export interface TriedOptions {
  readonly reading: ReplayReading;
  readonly sinceMs?: number;
  readonly findings?: readonly ReplayFinding[];
}

export async function tried(path: string, text: string, { reading, sinceMs, findings = [] }: TriedOptions) {
  const { candidate } = compiledOf(text);
  const records = await openRecords({ path });
  const decisions = new Map<string, Decision[]>();
  const log = await openStoredLog(records, { windowMs: windowMsOf(candidate), sinceMs, recordsAtOnce: 7 });
  const result = await replayLog(log, {
    candidate,
    reading,
    sinceMs,
    findings,
    onDecision: (id, decision) => decisions.set(id, [...(decisions.get(id) ?? []), decision]),
  });
  await records.close();
  expect(log.faults.named).toEqual([]);
  return { result, decisions };
}
