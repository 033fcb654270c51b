// Which requests the copy decides differently from the active policies, the loosest first, and what is proved
// of all other requests.

import { ComparisonResult } from '../../../parts/comparison/comparison-result.tsx';
import { type Compared, countsText } from '../../../parts/comparison/comparison-words.ts';
import type { FindingWays } from '../../../parts/comparison/finding.tsx';
import type { Answering } from '../../../parts/comparison/use-answer.ts';
import { Empty, Loading, Note, ProblemNote } from '../../../parts/layout/note.tsx';
import { type ComparedFiles, useComparison } from './use-comparison.ts';

export interface WhatChangesProps {
  readonly ways: FindingWays;
  /** Files of the copy that differ from the active policies. */
  readonly changes: ComparedFiles;
  /** Digest of the active policies. */
  readonly digest: string | null;
}

export function WhatChanges({ changes, digest, ways }: WhatChangesProps) {
  const comparing = useComparison(changes, digest ?? '');
  if (changes.length === 0)
    return (
      <Empty icon="policy" title="The copy equals the active policies">
        Change a file to see here which requests would be decided otherwise.
      </Empty>
    );
  const { answer: compared, problem, retry } = comparing;
  return (
    <div class="comparison">
      <p role="status">{statusOf(comparing)}</p>
      <ProblemNote problem={problem} onRetry={retry} />
      {problem?.code === 'playground_failed' && (
        <Note icon="clock">
          On the command line <code>writ diff</code> compares without a limit of time.
        </Note>
      )}
      {compared === null && problem === null && <Loading label="The sets are being compared" lines={5} />}
      {compared?.comparison != null && (
        <ComparisonResult comparison={compared.comparison} requests={compared.requests} ways={ways} />
      )}
    </div>
  );
}

function statusOf({ answer: compared, problem }: Answering<Compared>): string {
  if (problem !== null) return 'There is no comparison.';
  if (compared === null) return 'Your copy is being compared with the active policies…';
  if (compared.comparison === null)
    return 'Your copy cannot be compared while the policies have errors. They are listed below.';
  return countsText(compared.comparison);
}
