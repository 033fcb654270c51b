// The payload of a request as it will be carried out, each value with how usual it is for the agent.

import { grantsMin, profileNoteOf } from '../../../language/value/payload-profile.ts';
import { useResource } from '../../api/resource.ts';
import { Section } from '../../parts/layout/page.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { ResolvedTexts } from '../../parts/text/resolved-texts.tsx';
import { Amount, useAmounts } from '../requests/amounts.tsx';
import { agentName } from '../requests/request-table.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';
import { marksOf } from './review-notes.tsx';

export function PayloadSection({ request }: { readonly request: RequestDetail }) {
  const { action_key, payload, resolved, agent, digest } = request;
  const { data: profile, problem } = useResource(
    'getPayloadProfile',
    typeof agent.id === 'string' ? { params: { id: agent.id }, query: { action: action_key } } : null,
  );
  const amountAt = useAmounts(request.request_id);
  const beside = (path: string, value: unknown, pointer: string) => {
    const note = profile === null ? null : profileNoteOf(profile, path, value);
    return (
      <>
        <Amount text={amountAt(pointer)} />
        {note !== null && (
          <span class={note.isUnusual ? 'approval-unusual' : 'approval-typical'}>
            <PlainText text={note.words} />
          </span>
        )}
      </>
    );
  };
  return (
    <Section title={request.status === 'pending' ? 'What will be done' : 'What was requested'}>
      <p>
        <strong>
          <PlainText text={agentName(request)} isShort />
        </strong>{' '}
        does{' '}
        <strong>
          <PlainText text={action_key} />
        </strong>{' '}
        with exactly this:
      </p>
      <JsonView
        value={payload}
        label="Payload"
        beside={beside}
        marks={(path, text) => marksOf(request, path, text)}
      />
      <ResolvedTexts resolved={resolved} />
      <p class="approval-soft">
        {profile === null && problem === null && 'Loading the usual values…'}
        {problem !== null && 'The usual values for this agent could not be loaded.'}
        {profile !== null &&
          profile.count === 0 &&
          'The agent was never granted this action before, so there is nothing to compare with.'}
        {profile !== null &&
          profile.count > 0 &&
          (profile.count < grantsMin
            ? `New here: the agent was granted this action ${profile.count} ${profile.count === 1 ? 'time' : 'times'} so far, too few to say what is usual.`
            : `Next to each value: how it compares with the last ${profile.count} requests of this action that the agent was granted.`)}
      </p>
      <details>
        <summary>Digest of this content</summary>
        <p class="approval-soft">Your approval is valid for exactly this agent, action and payload.</p>
        <CopyText text={digest} label="digest" />
      </details>
    </Section>
  );
}
