// Which requests one set decides differently from another, the loosest first, and what is proved of all other
// requests.

import { Icon } from '../layout/icon.tsx';
import { MessageText } from '../text/message-text.tsx';
import './comparison.css';
import { type ClosingLine, type Comparison, type ComparisonReply, closingLines } from './comparison-words.ts';
import { Finding, type FindingProps } from './finding.tsx';

interface ComparisonResultProps extends Pick<FindingProps, 'ways'> {
  readonly comparison: Comparison;
  readonly requests: ComparisonReply['requests'];
}

export function ComparisonResult({ comparison, requests, ways }: ComparisonResultProps) {
  const { findings } = comparison;
  return (
    <>
      {findings.length > 0 && (
        <ol class="comparison-findings" aria-label="What is decided otherwise, the loosest first">
          {findings.map((finding, index) => (
            <Finding key={index} finding={finding} request={requests[index] ?? null} ways={ways} />
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
    <li class={isGood ? 'verdict-proved' : 'verdict-warning'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>
        <MessageText text={text} />
      </span>
    </li>
  );
}
