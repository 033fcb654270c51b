// Waits for an agent's first decisions and shows them at once, and leads to the first approval. While the page still
// has the key, it can send the first request itself, as the agent would. INVARIANT: the key leaves the page only in the header of that
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
import { GroupGaps } from '../../parts/people/group-gap.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

const shownMax = 3;

interface FirstDecisionProps {
  readonly agentId: string;
  /** The agent's key; null when the page no longer has it. */
  readonly apiKey: string | null;
  readonly onDecided: () => void;
}

export function FirstDecision({ agentId, apiKey, onDecided }: FirstDecisionProps) {
  const query = { agent: agentId, limit: String(shownMax) };
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
            <span class="welcome-pulse" aria-hidden="true" /> Waiting for its first request.{' '}
            {apiKey === null ? 'Run the command of the terminal.' : 'Run the lines above.'}
          </p>
        ) : (
          data?.items.map((request) => <Decided key={request.request_id} request={request} />)
        )}
      </div>
      {first === null && apiKey !== null && <TryHere apiKey={apiKey} onSent={reload} />}
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
        <ButtonLink href={`/requests/${request.request_id}`}>See why</ButtonLink>
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

/** Links to a pending request of the agent, or explains how to get one; then lists the next steps. */
export function FirstApproval({ agentId }: { readonly agentId: string }) {
  const query = { agent: agentId, status: 'pending', limit: '1' } as const;
  const { data, problem, reload } = useResource('listRequests', { query }, ['requests', 'approvals']);
  const pending = data?.items[0] ?? null;
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      {pending === null ? (
        <p>
          The agent has no pending request. <a href="/policies">The policies</a> define which actions need an
          approval: let the agent request one.
        </p>
      ) : (
        <>
          <PendingGroups id={pending.request_id} />
          <div class="form-actions">
            <ButtonLink variant="primary" icon="inbox" href={`/approvals/${pending.request_id}`}>
              Decide on it
            </ButtonLink>
          </div>
        </>
      )}
      <WhatNext agentId={agentId} />
    </>
  );
}

/** Says when a group that has to approve the request has too few members. */
function PendingGroups({ id }: { readonly id: string }) {
  const { data } = useResource('getRequest', { params: { id } }, ['approvals']);
  return data === null ? null : <GroupGaps {...data} />;
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
