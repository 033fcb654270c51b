// Which requests the copy decides differently from the active policies, the loosest first, and what is proved
// of all other requests.

import { useAddress } from '../../navigation/navigation.ts';
import { countsText, type DiffReply } from '../../parts/diff/diff-labels.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import type { FindingWays } from '../../parts/diff/finding.tsx';
import type { AnswerState } from '../../parts/diff/use-answer.ts';
import { type ChangedFiles, useDiff } from '../../parts/diff/use-diff.ts';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';

interface DiffViewProps {
  readonly ways: FindingWays;
  /** Files of the copy that differ from the active policies. */
  readonly changes: ChangedFiles;
  /** Digest of the active policies. */
  readonly digest: string | null;
}

export function DiffView({ changes, digest, ways }: DiffViewProps) {
  const computing = useDiff(changes, digest ?? '');
  if (changes.length === 0)
    return (
      <Empty icon="policy" title="No changes yet">
        Change a file to see which requests would be decided differently.
      </Empty>
    );
  const { answer, problem, retry } = computing;
  return (
    <div class="diff">
      <p role="status">{statusOf(computing)}</p>
      <ProblemNote problem={problem} subject="The diff" onRetry={retry} />
      {problem?.code === 'playground_failed' && (
        <Note icon="clock">
          On the command line <code>writ diff</code> has no time limit.
        </Note>
      )}
      {answer === null && problem === null && <Loading label="The diff is being computed" lines={5} />}
      {answer?.diff != null && <DiffResult diff={answer.diff} requests={answer.requests} ways={ways} />}
    </div>
  );
}

function statusOf({ answer, problem }: AnswerState<DiffReply>): string {
  if (problem !== null) return 'There is no diff.';
  if (answer === null) return 'The diff with the active policies is being computed…';
  if (answer.diff === null)
    return 'There is no diff while the policies have errors. They are listed under the editor.';
  return countsText(answer.diff);
}

/** The counts of the diff in one line, with a link to its findings. */
export function DiffLink({ changes, digest }: Pick<DiffViewProps, 'changes' | 'digest'>) {
  const { path, query } = useAddress();
  const { answer, problem } = useDiff(changes, digest ?? '');
  const to = new URLSearchParams(query);
  to.set('view', 'diff');
  const text =
    problem !== null
      ? 'there is none'
      : answer === null
        ? 'being computed…'
        : answer.diff === null
          ? 'none while there are errors'
          : countsText(answer.diff);
  return answer?.diff == null ? text : <a href={`${path}?${to}`}>{text}</a>;
}
