// Chooses the policies that a candidate is compared with when it is tried on a log: the policies that
// `--against` names, or those of HEAD if they decided some of the log.

import { reportOf } from '../../analysis/diff/diff-report.ts';
import { type FailedSide, isOnlyPath, type LoadedSide, readSide } from '../../analysis/diff/diff-side.ts';
import { RevisionError } from '../../analysis/diff/git-revision.ts';
import { testFileRequests } from '../../analysis/diff/test-file-requests.ts';
import type { ReplayResult } from '../../analysis/replay/engine/replay-log.ts';
import type { ReplayFinding } from '../../analysis/replay/engine/tally.ts';
import { replayFindings } from '../../analysis/replay/finding-counts.ts';
import type { FiledComparison, NoComparison } from '../../analysis/replay/replay-json.ts';
import { diffPolicies, type PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';

export interface CandidateComparison {
  readonly sides: BothSides<LoadedSide>;
  readonly diff: PolicyDiff;
  /** Whether `--against` names the policies. */
  readonly isNamed: boolean;
}

/** A FailedSide when the policies that `against` names do not compile. */
export async function compareWith(
  against: string | undefined,
  after: LoadedSide,
  path: string,
): Promise<CandidateComparison | NoComparison | FailedSide> {
  const before = against === undefined ? await ofHead(path) : await readNamed(against, path);
  if ('reason' in before || 'side' in before) return before;
  const samples = await testFileRequests(path, after.set);
  const diff = diffPolicies(before.set, after.set, { known: samples });
  return { sides: { before, after }, diff, isNamed: against !== undefined };
}

const advice = 'name the policies that decided it with --against';

async function ofHead(path: string): Promise<LoadedSide | NoComparison> {
  try {
    const { side } = await readSide({ revision: 'HEAD', name: 'HEAD', path });
    return side ?? { reason: `the policies of HEAD do not compile: ${advice}` };
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error;
    return { reason: `there are no policies of HEAD at this path: ${advice}` };
  }
}

async function readNamed(against: string, path: string): Promise<LoadedSide | FailedSide> {
  const isPath = await isOnlyPath(against);
  const named = isPath ? { revision: null, path: against } : { revision: against, path };
  const read = await readSide({ ...named, name: against });
  return read.side ?? read;
}

export function findingsToFile(compared: CandidateComparison | NoComparison): readonly ReplayFinding[] {
  if ('reason' in compared) return [];
  const { sides, diff, isNamed } = compared;
  return replayFindings({ diff, sides, decidedBy: isNamed ? null : sides.before.digest });
}

/**
 * The comparison for the report, or the reason why there is none. Policies of HEAD that decided nothing of
 * the log are not reported.
 */
export function filedComparison(
  compared: CandidateComparison | NoComparison,
  result: ReplayResult,
): FiledComparison | NoComparison {
  if ('reason' in compared) return compared;
  const { sides, diff, isNamed } = compared;
  const decided = result.decidedBy.get(sides.before.digest) ?? 0;
  if (decided === 0 && !isNamed)
    return { reason: `no request of the log was decided by the policies of HEAD: ${advice}` };
  return { decided, report: reportOf({ sides, diff, guarantees: [], log: result }) };
}
