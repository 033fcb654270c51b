// Counts the requests of a log under the findings of a comparison. For `writ diff --log`, which decides the
// log by both sides.

import { nothingSatisfied } from '../../language/model/request.ts';
import { linkSet } from '../../pipeline.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import type { LoadedSide } from '../diff/diff-side.ts';
import { decideLogged, type ReplayCandidate } from './engine/candidate.ts';
import type { LogEntry } from './engine/log.ts';
import type { Tallied } from './engine/tally.ts';
import { replayFindings } from './finding-counts.ts';
import type { LogPart, LogSource } from './log-source.ts';
import { replayLog } from './replay-log.ts';
import { candidateOf } from './service-rules.ts';

export interface CountedLog {
  readonly sides: BothSides<LoadedSide>;
  readonly diff: PolicyDiff;
  readonly sinceMs: number;
}

/**
 * Counts each request as both sides decide it on the facts of its record, with nothing satisfied. Which
 * policies decided the log does not matter.
 */
export async function countInLog(log: LogSource, { sides, diff, sinceMs }: CountedLog): Promise<Tallied> {
  const { before, after } = sides;
  const candidate = candidateOf(after.set, linkSet(after.set));
  return await replayLog(logBy(log, candidateOf(before.set, linkSet(before.set))), {
    candidate,
    reading: 'as recorded',
    sinceMs,
    findings: replayFindings({ diff, sides }),
  });
}

function logBy(log: LogSource, candidate: ReplayCandidate): LogSource {
  return { ...log, parts: partsBy(log.parts, candidate) };
}

async function* partsBy(parts: LogSource['parts'], candidate: ReplayCandidate): AsyncGenerator<LogPart> {
  for await (const { entries, share } of parts)
    yield { entries: entries.map((entry) => entryBy(entry, candidate)), share };
}

function entryBy(entry: LogEntry, candidate: ReplayCandidate): LogEntry {
  if (entry.kind !== 'request') return entry;
  const facts = { ...entry.facts, satisfied: nothingSatisfied };
  return { ...entry, facts, decision: decideLogged(candidate, entry, facts) };
}
