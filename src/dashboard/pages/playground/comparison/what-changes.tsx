// Which requests the copy decides otherwise than the set in force, the loosest first, and what is proved of all others.

import { Icon } from '../../../parts/layout/icon.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../../parts/layout/note.tsx';
import { MessageText } from '../../../parts/text/message-text.tsx';
import './comparison.css';
import { Finding, type FindingProps } from './finding.tsx';
import { type Compared, type ComparedFiles, type Comparing, useComparison } from './use-comparison.ts';
import { type ClosingLine, type Comparison, closingLines, countsText } from './words.ts';

export interface WhatChangesProps extends Pick<FindingProps, 'onLine' | 'onTry'> {
  /** What the copy has that the set in force has not. */
  readonly changes: ComparedFiles;
  /** Of the set in force. */
  readonly digest: string | null;
}

export function WhatChanges({ changes, digest, ...ways }: WhatChangesProps) {
  const comparing = useComparison(changes, digest ?? '');
  if (changes.length === 0)
    return (
      <Empty icon="policy" title="The copy is as the set in force">
        Change a file to see here which requests would be decided otherwise.
      </Empty>
    );
  const { compared, problem, retry } = comparing;
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
        <Result comparison={compared.comparison} requests={compared.requests} {...ways} />
      )}
    </div>
  );
}

function statusOf({ compared, problem }: Comparing): string {
  if (problem !== null) return 'There is no comparison.';
  if (compared === null) return 'Your copy is being compared with the set in force…';
  if (compared.comparison === null)
    return 'Your copy cannot be compared while the policies have errors. They are listed below.';
  return countsText(compared.comparison);
}

interface ResultProps extends Pick<FindingProps, 'onLine' | 'onTry'> {
  readonly comparison: Comparison;
  readonly requests: Compared['requests'];
}

function Result({ comparison, requests, onLine, onTry }: ResultProps) {
  const { findings } = comparison;
  return (
    <>
      {findings.length > 0 && (
        <ol class="comparison-findings" aria-label="What is decided otherwise, the loosest first">
          {findings.map((finding, index) => (
            <Finding
              key={index}
              finding={finding}
              request={requests[index] ?? null}
              onLine={onLine}
              onTry={onTry}
            />
          ))}
        </ol>
      )}
      <ul class="comparison-closing" aria-label="What holds for the whole">
        {closingLines(comparison).map((line, index) => (
          <Closing key={index} line={line} />
        ))}
      </ul>
    </>
  );
}

function Closing({ line: { isGood, text } }: { readonly line: ClosingLine }) {
  return (
    <li class={isGood ? 'playground-proved' : 'playground-warning'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>
        <MessageText text={text} />
      </span>
    </li>
  );
}
