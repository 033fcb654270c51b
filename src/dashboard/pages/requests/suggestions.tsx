// Changes of the policies that would allow a request: looked for when somebody asks, each with its patch and with
// every decision that it changes. INVARIANT: the page writes nothing; a change is proposed, or goes through the files of
// the policies.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import { DecisionBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { ProposeButton } from '../../parts/policy/propose.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Suggestions = Reply<'suggestChanges'>;

export function SuggestedChanges({ id }: { readonly id: string }) {
  const [isAsked, setAsked] = useState(false);
  const suggestions = useResource('suggestChanges', isAsked ? { params: { id } } : null);
  return (
    <Section title="A change that would allow it">
      {isAsked ? (
        <ResourceView resource={suggestions} loading="Changes are tried and proved" lines={3}>
          {(data) => <Found id={id} data={data} />}
        </ResourceView>
      ) : (
        <>
          <p>Changes of the active policies, each with all decisions that it changes. Nothing is written.</p>
          <div>
            <Button icon="policy" onClick={() => setAsked(true)}>
              Suggest a change
            </Button>
          </div>
        </>
      )}
    </Section>
  );
}

function Found({
  id,
  data: { decision, goal, forbidden_by: claims, suggestions },
}: {
  readonly id: string;
  readonly data: Suggestions;
}) {
  if (decision.decision === 'ALLOW') return <p>The active policies allow it already.</p>;
  return (
    <>
      {claims.length > 0 && (
        <>
          <p>Guarantees forbid to allow it at once:</p>
          <ul>
            {claims.map(({ guarantee, text }, index) => (
              <li key={index}>
                <MessageText text={`\`${guarantee}\`: \`${text}\``} />
              </li>
            ))}
          </ul>
        </>
      )}
      {suggestions.length === 0 ? (
        <p>No change was found that keeps the guarantees.</p>
      ) : (
        <>
          {goal === 'ESCALATE' && <p>After one of these changes, people can approve it.</p>}
          <ol class="suggestions" aria-label="Changes, the one that allows the least else first">
            {suggestions.map((suggestion, index) => (
              <SuggestedChange key={index} id={id} suggestion={suggestion} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

interface SuggestedChangeProps {
  readonly id: string;
  readonly suggestion: Suggestions['suggestions'][number];
}

function SuggestedChange({ id, suggestion }: SuggestedChangeProps) {
  const { text, patch, decision, milder, diff } = suggestion;
  return (
    <li>
      <h3>
        <MessageText text={text} />
      </h3>
      <p>
        The request is then <DecisionBadge decision={decision.decision} /> by{' '}
        <PlainText text={decision.by} isShort />. Of {milder.of.toLocaleString('en')} similar requests,{' '}
        {milder.count.toLocaleString('en')} get a milder decision.
      </p>
      <CopyText text={patch} label="the patch" />
      <div>
        <ProposeButton
          change={{ active_digest: diff.old.digest, patch, request_id: id }}
          about="this change"
        />
      </div>
      <details>
        <summary>All decisions that change</summary>
        <DiffResult
          diff={diff}
          requests={[]}
          ways={{ sides: { old: 'Now', new: 'Suggested' }, onTry: () => undefined }}
        />
      </details>
    </li>
  );
}
