// Why a request was decided as it was: the rule that decided, as written in its file, and the smallest change
// that would have changed the decision.

import type { Reply } from '../../../api/operations.ts';
import type { Resource } from '../../api/resource.ts';
import { DecisionBadge } from '../../parts/layout/badge.tsx';
import { Loading, Note } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { SourceText } from '../../parts/policy/source-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

interface WhatWouldChangeProps {
  readonly explained: Resource<Reply<'explainRequest'>>;
  readonly decision: string;
  readonly matchedPolicy: string;
}

export function WhatWouldChange({ explained, decision, matchedPolicy }: WhatWouldChangeProps) {
  return (
    <>
      <Section title="What would have changed it">
        <ResourceView resource={explained} loading="Looking for a change" lines={1}>
          {(data) => (
            <>
              <OtherPolicies data={data} decision={decision} />
              <p class="request-change">
                {data.change === null ? (
                  'No small change was found that would have changed it.'
                ) : (
                  <PlainText text={data.change} />
                )}
              </p>
            </>
          )}
        </ResourceView>
      </Section>
      <Section title="The rule that decided">
        {explained.data === null ? (
          explained.problem === null && <Loading label="The rule is loading" lines={3} />
        ) : explained.data.rule === null ? (
          <p>{gates[matchedPolicy] ?? 'No rule decided it.'}</p>
        ) : (
          <DecidingRule {...explained.data.rule} />
        )}
      </Section>
    </>
  );
}

type Rule = NonNullable<Reply<'explainRequest'>['rule']>;

function DecidingRule({ id, file, line, text }: Rule) {
  return (
    <>
      <p>
        <strong>
          <PlainText text={id} isShort />
        </strong>
      </p>
      <SourceText file={file} line={line} text={text} />
    </>
  );
}

/** Warns that the explanation is by other policies, which may use another rule and decide differently. */
function OtherPolicies({
  data,
  decision,
}: {
  readonly data: Reply<'explainRequest'>;
  readonly decision: string;
}) {
  if (data.is_same_set && data.decision === decision) return null;
  const isOther = !data.is_same_set;
  return (
    <Note icon="warning">
      <p>
        {isOther
          ? 'The policies have changed since. The active policies decide: '
          : 'People have decided since. By the policies alone, the decision was: '}
        <DecisionBadge decision={data.decision} />
      </p>
    </Note>
  );
}

const gates: Readonly<Record<string, string>> = {
  default_deny: 'No rule allowed it, and what no rule allows is refused.',
  invalid_payload: 'The payload does not match the declared shape, so no rule was evaluated.',
  undeclared_action: 'No policy file declares this action, so no rule was evaluated.',
};
