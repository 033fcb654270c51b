// The decision of the playground: what it is, why, and what each rule was.

import { DecisionBadge, Risk } from '../../dashboard/parts/layout/badge.tsx';
import { Facts, Section } from '../../dashboard/parts/layout/page.tsx';
import { ConditionTree } from '../../dashboard/parts/policy/condition-tree.tsx';
import { MessageText } from '../../dashboard/parts/text/message-text.tsx';
import { PlainText } from '../../dashboard/parts/text/plain-text.tsx';
import type { PlaygroundDecision } from './decide.ts';

interface DecidedProps {
  readonly decided: PlaygroundDecision | null;
  /** Why there is no decision. */
  readonly why: string;
}

export function Decided({ decided, why }: DecidedProps) {
  if (decided === null)
    return (
      <Section title="Decision">
        <p role="status">
          <MessageText text={why} />
        </p>
      </Section>
    );
  const { outcome, reason, by, risk, requires, rules, change } = decided;
  return (
    <>
      <Section title="Decision">
        <p class="playground-outcome" role="status">
          <DecisionBadge decision={outcome} />
          <strong>
            <PlainText text={reason} />
          </strong>
        </p>
        <Facts
          items={[
            ['Decided by', <code key="by">{by}</code>],
            ['Risk', <Risk key="risk" score={risk} />],
            ...(requires === null ? [] : [['Asks for', requiredText(requires)] as const]),
          ]}
        />
      </Section>
      {change !== null && (
        <Section title="What would change it">
          <p>
            <MessageText text={change} />
          </p>
        </Section>
      )}
      <Section title="Rules">
        <ConditionTree trace={rules.map((rule) => ({ ...rule }))} decidedBy={by} />
      </Section>
    </>
  );
}

function requiredText({ approvals, reauth }: NonNullable<PlaygroundDecision['requires']>): string {
  const needed = approvals.map(({ group, needs }) => `${needs} of ${group}`);
  return [...(reauth === null ? [] : ['a step-up by the control owner']), ...needed].join(', ');
}
