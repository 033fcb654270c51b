// What makes up the risk of a request, and which facts were unknown when it was decided.

import { Section } from '../../parts/layout/page.tsx';
import { pointsText } from '../../parts/policy/condition-tree.tsx';
import { missingWords, riskContributions, type TraceRule, unknownReads } from '../../parts/policy/trace.ts';
import { PlainText } from '../../parts/text/plain-text.tsx';

interface RiskAndUnknownProps {
  readonly rules: readonly TraceRule[];
  readonly score: number;
}

export function RiskAndUnknown({ rules, score }: RiskAndUnknownProps) {
  const contributions = riskContributions(rules);
  const unknown = unknownReads(rules);
  return (
    <>
      <Section title={`Risk: ${score} of 100`}>
        {contributions.length === 0 ? (
          <p>{rules.length === 0 ? 'No rule was evaluated.' : 'No rule added risk.'}</p>
        ) : (
          <ul class="request-risks">
            {contributions.map(({ id, points, truth }) => (
              <li key={id}>
                <span class="request-points">{pointsText(points)}</span>
                <PlainText text={id} isShort />
                {truth === 'unknown' && <span class="request-soft">unknown, so it may count</span>}
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="What was unknown">
        {unknown.length === 0 ? (
          <p>Every value that a rule read was known.</p>
        ) : (
          <ul class="request-unknown">
            {unknown.map(({ read, rules: left }) => (
              <li key={read.path}>
                <code>
                  <PlainText text={read.path} isShort />
                </code>
                : {missingWords(read.missing ?? '')}
                <span class="request-soft">read by {left.map(({ id }) => id).join(', ')}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </>
  );
}
