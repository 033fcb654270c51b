// Waits for an agent's first decision and shows it at once. While the page still has the key, it can send the
// first request itself, as the agent would. INVARIANT: the key leaves the page only in the header of that
// request.

import { useEffect } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/resource.ts';
import { useSampleRequest } from '../../parts/dialog/new-key.tsx';
import { useSending } from '../../parts/form/form.ts';
import { DecisionBadge, StatusBadge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { Facts } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

interface FirstDecisionProps {
  readonly agentId: string;
  /** The agent's key; null when the page no longer has it. */
  readonly apiKey: string | null;
  readonly onDecided: () => void;
}

export function FirstDecision({ agentId, apiKey, onDecided }: FirstDecisionProps) {
  const query = { agent: agentId, limit: '1' };
  const { data, problem, reload } = useResource('listRequests', { query }, ['requests']);
  const first = data?.items[0] ?? null;
  const isDecided = first !== null;
  useEffect(() => {
    if (isDecided) onDecided();
  }, [isDecided]);
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      <div role="status" class="welcome-first">
        {first === null ? (
          <p class="welcome-waiting">
            <span class="welcome-pulse" aria-hidden="true" /> Waiting for its first request. Run the command
            above in a terminal.
          </p>
        ) : (
          <Decided request={first} />
        )}
      </div>
      {first === null && apiKey !== null && <TryHere apiKey={apiKey} onSent={reload} />}
      {first !== null && <WhatNext agentId={agentId} />}
    </>
  );
}

function Decided({ request }: { readonly request: Reply<'listRequests'>['items'][number] }) {
  return (
    <div class="welcome-decided">
      <p class="welcome-decided-head">
        <DecisionBadge decision={request.decision} />
        <StatusBadge status={request.status} decision={request.decision} />
        <Ago at={request.created_at} />
      </p>
      <Facts
        items={[
          ['Action', <PlainText key="action" text={request.action_key} isShort />],
          ['Reason', <PlainText key="reason" text={request.reason} />],
          ['Policy', <PlainText key="policy" text={request.matched_policy} isShort />],
        ]}
      />
      <div class="form-actions">
        <ButtonLink look="primary" href={`/requests/${request.request_id}`}>
          See why
        </ButtonLink>
      </div>
    </div>
  );
}

function TryHere({ apiKey, onSent }: { readonly apiKey: string; readonly onSent: () => void }) {
  const request = useSampleRequest();
  const { isBusy, problem, run } = useSending();
  const send = (): Promise<void> =>
    run(async () => {
      const reply = await fetch('/v1/authorize', {
        method: 'POST',
        credentials: 'omit',
        cache: 'no-store',
        body: JSON.stringify(request),
        headers: { 'content-type': 'application/json', 'x-agent-api-key': apiKey },
      });
      if (!reply.ok) throw await problemOf(reply);
      onSent();
    });
  if (request === null) return null;
  return (
    <>
      <ProblemNote problem={problem} />
      <p class="welcome-try">
        No terminal?{' '}
        <Button icon="try" isBusy={isBusy} onClick={() => void send()}>
          Try it from here
        </Button>
      </p>
    </>
  );
}

function WhatNext({ agentId }: { readonly agentId: string }) {
  return (
    <>
      <h3>What next</h3>
      <ul class="welcome-next">
        <li>
          <a href="/policies">Read the policies</a> that decided, and{' '}
          <a href="/playground">try another request</a> on them.
        </li>
        <li>
          <a href="/access?tab=invitations">Invite people</a>: approvers for what is escalated, control owners
          for agents.
        </li>
        <li>
          <a href="/account">Set up a second factor</a>, which a step-up asks for.
        </li>
        <li>
          <a href={`/agents/${agentId}`}>Manage the agent</a>: its keys, limits and signatures.
        </li>
      </ul>
    </>
  );
}
