// A plan of an agent: its goal, its sums and all its steps. People approve or reject the chosen steps together, each by
// itself underneath. INVARIANT: at first every step that the person can decide is chosen, and no other can be.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import type { PageProps } from '../../navigation/page-props.ts';
import { DecisionBadge, StatusBadge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { PlainPieces, PlainText } from '../../parts/text/plain-text.tsx';
import { BulkVote, reasonNotSent } from '../approvals/bulk-vote.tsx';
import { Deadline } from '../approvals/deadline.tsx';
import type { VoteKind } from '../approvals/draft.ts';
import type { QueueItem } from '../approvals/queue-groups.ts';
import { VoteBar } from '../approvals/vote-bar.tsx';
import { useVoteOfAddress } from '../approvals/vote-of-address.ts';
import { Approvers } from '../requests/approvers.tsx';
import './plan.css';

type Plan = Reply<'getPlan'>;
type Step = Plan['steps'][number];

export default function PlanPage({ params: { id = '' } }: PageProps) {
  const { data, problem, reload } = useResource('getPlan', { params: { id } }, ['approvals', 'requests']);
  if (data !== null) return <Whole key={data.plan_id} plan={data} problem={problem} reload={reload} />;
  return (
    <PageFrame title="Plan">
      {problem === null ? <Loading /> : <ProblemNote problem={problem} onRetry={reload} />}
      <div>
        <ButtonLink href="/approvals" icon="back">
          Back to inbox
        </ButtonLink>
      </div>
    </PageFrame>
  );
}

interface WholeProps {
  readonly plan: Plan;
  readonly problem: unknown;
  readonly reload: () => void;
}

function Whole({ plan, problem, reload }: WholeProps) {
  const { goal, agent } = plan;
  const open = plan.steps.flatMap(openRequest);
  const deadline = firstEnd(open.length > 0 ? open : plan.steps.flatMap(pendingRequest));
  /** Steps that the person has left out. */
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<{
    readonly vote: VoteKind;
    readonly items: readonly QueueItem[];
  } | null>(null);
  const chosen = open.filter(({ request_id: id }) => !left.has(id));
  const choose = (id: string, isChosen: boolean): void =>
    setLeft((before) => new Set([...[...before].filter((one) => one !== id), ...(isChosen ? [] : [id])]));
  useVoteOfAddress((vote) => setBulk({ vote, items: open }));
  return (
    <PageFrame
      title="Plan"
      heading={goal === null ? 'Plan' : <PlainText text={goal} />}
      beside={deadline !== null && <Deadline at={deadline} isLarge />}
      lead={
        <>
          <PlainText text={agent} isShort /> {leadOf(plan)}
        </>
      }
      actions={
        <>
          <ButtonLink href="/plans" variant="quiet">
            All plans
          </ButtonLink>
          <ButtonLink href="/approvals" icon="back" variant="quiet">
            Back to inbox
          </ButtonLink>
        </>
      }
    >
      <ProblemNote problem={problem} />
      {plan.sums.length > 0 && <Facts items={[['Sum of all steps', plan.sums.join(', ')]]} />}
      <Section title="Steps">
        <DataTable
          label="Steps of the plan"
          columns={columnsOf({ open, chosen, choose })}
          rows={plan.steps}
          rowKey={({ step }) => step}
          narrow="cards"
          class="plan-steps"
        />
      </Section>
      {open.length > 0 && (
        <VoteBar
          label="Your vote"
          chosen={chosen}
          of={open.length}
          onVote={(vote) => setBulk({ vote, items: chosen })}
        />
      )}
      {bulk !== null && (
        <BulkVote
          {...bulk}
          onEnd={() => {
            setBulk(null);
            reload();
          }}
        />
      )}
    </PageFrame>
  );
}

/** The request of a step, if it is pending. */
function pendingRequest({ status, request }: Step): readonly QueueItem[] {
  return status === 'pending' && request !== null ? [request] : [];
}

/** The request of a step, if the person can decide it. */
function openRequest(step: Step): readonly QueueItem[] {
  return pendingRequest(step).filter(
    ({ allowed_actions: { approve, reject } }) => approve.length > 0 || reject,
  );
}

/** The nearest deadline of the requests, as in the inbox; null when there are none. */
function firstEnd(requests: readonly QueueItem[]): string | null {
  return requests.map(({ expires_at: end }) => end).toSorted()[0] ?? null;
}

function leadOf({ steps, submitted, pending }: Plan): string {
  const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
  if (!submitted) return `asked what would be decided for ${count}. Nobody was asked to approve them.`;
  return pending === 0
    ? `plans ${count}. None is pending.`
    : `plans ${count}, of which ${pending} ${pending === 1 ? 'is' : 'are'} pending.`;
}

interface Choice {
  readonly open: readonly QueueItem[];
  readonly chosen: readonly QueueItem[];
  readonly choose: (id: string, isChosen: boolean) => void;
}

function columnsOf(choice: Choice): readonly (Column<Step> | false)[] {
  return [
    choice.open.length > 0 && {
      head: <span class="visually-hidden">Chosen</span>,
      label: null,
      class: 'plan-pick',
      cell: (step) => <Pick step={step} {...choice} />,
    },
    { head: 'Step', label: null, cell: (step) => <What step={step} /> },
    { head: 'State', label: null, cell: (step) => <State step={step} /> },
    {
      head: 'Needs',
      label: null,
      cell: ({ request }) => request !== null && <Approvers request={request} isBrief />,
    },
  ];
}

function Pick({ step: { step, request_id: id }, open, chosen, choose }: Choice & { readonly step: Step }) {
  const isOpen = open.some((one) => one.request_id === id);
  if (!isOpen || id === null) return null;
  return (
    <label class="plan-pick-label">
      <input
        type="checkbox"
        aria-label={`Choose step ${step}`}
        checked={chosen.some((one) => one.request_id === id)}
        onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
      />
    </label>
  );
}

function What({ step }: { readonly step: Step }) {
  const { title, action_key: action, reason, request } = step;
  const text = <PlainPieces text={title === '' ? action : title} />;
  const place = step.status === 'pending' ? 'approvals' : 'requests';
  const warning = request === null ? null : reasonNotSent(request, 'approve');
  return (
    <>
      {step.step}. {request === null ? text : <a href={`/${place}/${request.request_id}`}>{text}</a>}
      <span class="plan-beneath">
        {title !== '' && (
          <>
            <PlainText text={action} isShort /> ·{' '}
          </>
        )}
        <PlainText text={reason} isShort />
      </span>
      {step.status === 'pending' && warning !== null && (
        <span class="plan-beneath">Open it to decide: {warning}</span>
      )}
    </>
  );
}

/** The present status of the request, or what was decided for a step that nobody was asked for. */
function State({ step: { status, decision } }: { readonly step: Step }) {
  return status === null ? (
    <DecisionBadge decision={decision} />
  ) : (
    <StatusBadge status={status} decision={decision} />
  );
}
