// Which requests one set decides differently from another, the loosest first, and what is proved of all other
// requests.

import { Icon } from '../layout/icon.tsx';
import { MessageText } from '../text/message-text.tsx';
import './diff-result.css';
import { type ClosingLine, closingLines, type DiffReply, type PolicyDiff } from './diff-labels.ts';
import { Finding, type FindingProps } from './finding.tsx';

interface DiffResultProps extends Pick<FindingProps, 'ways'> {
  readonly diff: PolicyDiff;
  readonly requests: DiffReply['requests'];
}

export function DiffResult({ diff, requests, ways }: DiffResultProps) {
  const { findings } = diff;
  return (
    <>
      {findings.length > 0 && (
        <ol class="diff-findings" aria-label="Different decisions, loosest first">
          {findings.map((finding, index) => (
            <Finding key={index} finding={finding} request={requests[index] ?? null} ways={ways} />
          ))}
        </ol>
      )}
      <ul class="diff-closing" aria-label="All decisions">
        {closingLines(diff).map((line, index) => (
          <Closing key={index} line={line} />
        ))}
      </ul>
    </>
  );
}

function Closing({ line: { isGood, text } }: { readonly line: ClosingLine }) {
  return (
    <li class={isGood ? 'verdict-proved' : 'verdict-warning'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>
        <MessageText text={text} />
      </span>
    </li>
  );
}
