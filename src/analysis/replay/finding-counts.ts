// Counts the requests of a log under the findings of a comparison. For `writ diff --log`, which decides the
// log by both sides.

import type { PolicySet } from '../../language/model/policy.ts';
import { nothingSatisfied } from '../../language/model/request.ts';
import { linkSet } from '../../pipeline.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import type { LoadedSide } from '../diff/diff-side.ts';
import { decideLogged, type ReplayCandidate } from './engine/candidate.ts';
import type { LogEntry } from './engine/log.ts';
import type { FiledRequest, ReplayFinding, TallyResult } from './engine/tally.ts';
import { hidesValues } from './engine/withheld-values.ts';
import type { LogPart, LogSource } from './log-source.ts';
import { replayLog } from './replay-log.ts';
import { candidateOf } from './service-rules.ts';

export interface FindingCountInput {
  readonly sides: BothSides<LoadedSide>;
  readonly diff: PolicyDiff;
  readonly sinceMs: number;
}

/**
 * Counts each request as both sides decide it on the facts of its record, with nothing satisfied. Which
 * policies decided the log does not matter.
 */
export async function countFindings(
  log: LogSource,
  { sides, diff, sinceMs }: FindingCountInput,
): Promise<TallyResult> {
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

// Turns the findings of a comparison into the form in which replay assigns the requests of a log to them.

export interface FindingSides {
  readonly diff: PolicyDiff;
  /** The two sets that the findings compare. */
  readonly sides: BothSides<{ readonly set: PolicySet }>;
  /** When not null, only requests that the policy set with this digest decided are assigned. */
  readonly decidedBy?: string | null;
}

/** The id of a finding is its position, counted from 1. */
export function replayFindings({ diff, sides, decidedBy = null }: FindingSides): readonly ReplayFinding[] {
  return diff.findings.map(({ difference, actions, isMetBy }, at) => ({
    id: String(at + 1),
    isOfTime: difference === 'time',
    matches: (request) => {
      if (decidedBy !== null && request.policies !== decidedBy) return false;
      if (!actions.includes(request.after.action)) return false;
      return isHidden(sides, request) ? null : isMetBy(request);
    },
  }));
}

/** Whether a digest replaces a value that rules of either set may read. */
function isHidden({ before, after }: FindingSides['sides'], request: FiledRequest): boolean {
  if (!request.holdsDigests) return false;
  const { action, payload } = request.after;
  return [before, after].some(({ set }) => {
    const shape = set.actions.get(action)?.shape;
    return shape !== undefined && hidesValues(shape, payload);
  });
}
