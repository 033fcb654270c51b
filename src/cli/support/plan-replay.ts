// Decides what a replay tries, how it reads the log, and what it compares with.

import { type FailedSide, sideOf } from '../../analysis/diff/diff-side.ts';
import type { ReplayCandidate } from '../../analysis/replay/engine/candidate.ts';
import { type ReplayReading, readingFor } from '../../analysis/replay/engine/replay-log.ts';
import type { NoComparison } from '../../analysis/replay/replay-json.ts';
import { candidateOf } from '../../analysis/replay/service-rules.ts';
import type { WorkingPolicies } from './load-policies.ts';
import { type CandidateComparison, compareWith } from './replay-baseline.ts';

export interface ReplayPlan {
  readonly candidate: ReplayCandidate;
  readonly path: string;
  readonly digest: string;
  readonly compared: CandidateComparison | NoComparison;
  readonly reading: ReplayReading;
  readonly sinceMs: number | undefined;
}

interface ReplayChoice {
  readonly asRecorded?: boolean;
  /** The policies to compare with. */
  readonly against?: string;
  readonly sinceMs: number | undefined;
}

/** What is replayed, and what it is compared with. A FailedSide when the policies to compare with do not compile. */
export async function planReplay(
  { path, set, engine, read, compiled }: WorkingPolicies,
  { asRecorded, against, sinceMs }: ReplayChoice,
): Promise<ReplayPlan | FailedSide> {
  const candidate = candidateOf(set, engine);
  const reading = asRecorded === true ? 'as recorded' : readingFor(candidate);
  const side = sideOf(
    { set, files: compiled.files },
    { name: path, path: read.root ?? path, sourceOf: read.sourceOf },
  );
  const compared = await compareWith(against, side, path);
  if ('errors' in compared) return compared;
  return { candidate, path, digest: side.digest, compared, reading, sinceMs };
}
