// The rows of the inbox: the subject of each first, then of whom it asks an approval and until when, with a box to choose
// it for a vote on several. Repeats are folded into one row.

import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { PlainPieces, PlainText } from '../../parts/text/plain-text.tsx';
import { Approvers } from '../requests/approvers.tsx';
import { agentName } from '../requests/request-table.tsx';
import { AssignmentMarks } from './assignment.tsx';
import { Deadline } from './deadline.tsx';
import type { QueueItem, QueueRow } from './queue-groups.ts';
import { Reviewers, type ReviewLock } from './review-locks.tsx';
import { EarlierGrantText } from './review-notes.tsx';

/** A request's subject in one line: its title, or else its action. */
export function titleOf({ title, action_key }: Pick<QueueItem, 'title' | 'action_key'>): string {
  return title === '' ? action_key : title;
}

interface QueueTableProps {
  readonly label: string;
  readonly rows: readonly QueueRow[];
  /** Ids of the chosen requests; null where nothing can be chosen. */
  readonly chosen: ReadonlySet<string> | null;
  readonly onChoose: (ids: readonly string[], isChosen: boolean) => void;
  readonly onUnfold: (digest: string) => void;
  readonly onPeek: (id: string) => void;
  /** The request in the side panel; null when it is closed. */
  readonly peekedId: string | null;
  readonly locksOf: (id: string) => readonly ReviewLock[];
}

export function QueueTable(props: QueueTableProps) {
  const { label, rows, chosen, onChoose, onPeek, peekedId, locksOf } = props;
  const ids = rows.flatMap(idsOf);
  const columns: readonly (Column<QueueRow> | false)[] = [
    chosen !== null && {
      head: (
        <Pick
          label="Select all on this page"
          isChosen={ids.every((id) => chosen.has(id))}
          onChoose={(isChosen) => onChoose(ids, isChosen)}
        />
      ),
      class: 'approvals-pick',
      cell: (row) => (
        <Pick
          label={`Choose ${nameOf(row)}`}
          isChosen={idsOf(row).every((id) => chosen.has(id))}
          onChoose={(isChosen) => onChoose(idsOf(row), isChosen)}
        />
      ),
    },
    {
      head: 'Request',
      class: 'approvals-subject',
      cell: (row) =>
        row.kind === 'plan' ? (
          <PlanSubject row={row} />
        ) : (
          <Subject row={row} locks={locksOf(row.item.request_id)} {...props} isPickable={chosen !== null} />
        ),
    },
    {
      head: 'Needs',
      class: 'approvals-needs',
      cell: ({ item }) => <Approvers request={item} isBrief />,
    },
    {
      head: 'Deadline',
      class: 'approvals-deadline',
      cell: ({ item: { expires_at: at } }) => <Deadline at={at} />,
    },
    {
      head: 'Risk',
      class: 'approvals-risk number',
      cell: (row) => <Risk score={Math.max(...row.alike.map(({ risk_score }) => risk_score))} />,
    },
    {
      head: 'Preview',
      kind: 'actions',
      class: 'approvals-peek',
      cell: ({ item, kind }) =>
        kind !== 'plan' && (
          <Button
            variant="quiet"
            icon="right"
            label={`Preview ${titleOf(item)}`}
            aria-pressed={peekedId === item.request_id}
            onClick={() => onPeek(item.request_id)}
          />
        ),
    },
  ];
  return (
    <div class="card approvals-card">
      <DataTable
        label={label}
        columns={columns}
        rows={rows}
        rowKey={({ item }) => item.request_id}
        rowClass={(row) => rowClass(row, peekedId)}
        narrow="scroll"
        class="approvals-table"
      />
    </div>
  );
}

/** What the row is about: the goal of a plan, or the title of a request. */
function nameOf({ item, kind }: QueueRow): string {
  return kind === 'plan' ? (item.plan?.goal ?? `Plan of ${item.plan?.steps} steps`) : titleOf(item);
}

function Risk({ score }: { readonly score: number }) {
  return <span title={`Risk ${score} of 100`}>{score}</span>;
}

function idsOf({ alike }: QueueRow): readonly string[] {
  return alike.map(({ request_id: id }) => id);
}

function rowClass({ item, kind }: QueueRow, peekedId: string | null): string | undefined {
  const classes = [
    ...(kind === 'other' ? ['approvals-other'] : []),
    ...(item.request_id === peekedId ? ['approvals-peeked'] : []),
  ];
  return classes.length === 0 ? undefined : classes.join(' ');
}

interface PickProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

function Pick({ label, isChosen, onChoose }: PickProps) {
  return (
    <label class="approvals-pick-label">
      <input
        type="checkbox"
        aria-label={label}
        checked={isChosen}
        onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
      />
    </label>
  );
}

interface SubjectProps extends Pick<QueueTableProps, 'onUnfold'> {
  readonly row: QueueRow;
  readonly locks: readonly ReviewLock[];
  /** Whether the row is one that the person can decide; otherwise it says why not. */
  readonly isPickable: boolean;
}

function Subject({ row: { item, alike, kind, isUnfolded }, locks, onUnfold, isPickable }: SubjectProps) {
  const {
    request_id: id,
    action_key: action,
    title,
    agent,
    question,
    reason,
    allowed_actions: allowed,
  } = item;
  return (
    <>
      <a href={`/approvals/${id}`} data-row={id}>
        <PlainPieces text={titleOf(item)} />
      </a>
      {kind === 'first' && (
        <Alike count={alike.length} isUnfolded={isUnfolded} onUnfold={() => onUnfold(item.digest)} />
      )}
      <span class="approvals-reason">
        <PlainText text={reason} isShort />
      </span>
      {!isPickable && allowed.reason !== null && <span class="approvals-why-not">{allowed.reason}</span>}
      <Warnings item={item} />
      {question !== null && (
        <span class="approvals-question">
          <Icon name="unknown" size={14} />{' '}
          {question === 'yours' ? 'A question for you' : 'A question is not answered yet'}
        </span>
      )}
      {allowed.stands_in_for.length > 0 && (
        <span class="approvals-reason">
          For <PlainText text={allowed.stands_in_for.map(({ name }) => name).join(', ')} isShort />, for whom
          you stand in
        </span>
      )}
      <AssignmentMarks {...item} />
      <Reviewers locks={locks} />
      <span class="approvals-beneath">
        <PlainText text={agentName(item)} isShort />
        {typeof agent.risk_tier === 'string' && ` · ${agent.risk_tier} risk tier`}
        {title !== '' && (
          <span class="approvals-key">
            {' '}
            · <PlainText text={action} isShort />
          </span>
        )}
      </span>
    </>
  );
}

const titlesShown = 3;

/** A plan as one row: its goal, which of its steps are pending, and the first of them. */
function PlanSubject({ row }: { readonly row: QueueRow }) {
  const { item, alike } = row;
  const { plan, request_id: id } = item;
  if (plan === null) return null;
  const more = alike.length - titlesShown;
  const inOrder = alike.toSorted((a, b) => (a.plan?.step ?? 0) - (b.plan?.step ?? 0));
  return (
    <>
      <a href={`/plans/${plan.id}`} data-row={id} data-plan={plan.id}>
        <PlainPieces text={nameOf(row)} />
      </a>
      <span class="approvals-reason">
        Plan of {plan.steps} steps: {alike.length} to decide
      </span>
      {inOrder.slice(0, titlesShown).map((one) => (
        <span key={one.request_id} class="approvals-beneath">
          {one.plan?.step}. <PlainPieces text={titleOf(one)} />
        </span>
      ))}
      {more > 0 && <span class="approvals-beneath">and {more} more</span>}
      <span class="approvals-beneath">
        <PlainText text={agentName(item)} isShort />
      </span>
    </>
  );
}

interface AlikeProps {
  readonly count: number;
  readonly isUnfolded: boolean;
  readonly onUnfold: () => void;
}

function Alike({ count, isUnfolded, onUnfold }: AlikeProps) {
  return (
    <button type="button" class="approvals-alike" aria-expanded={isUnfolded} onClick={onUnfold}>
      {count} alike
    </button>
  );
}

function Warnings({ item: { review, risk_score: risk } }: { readonly item: QueueItem }) {
  const [latest] = review.earlier_grants;
  return (
    <>
      {review.warnings.includes('deceptive_letters') && (
        <span class="approvals-deceives">
          <Icon name="warning" size={14} /> Letters that may deceive
        </span>
      )}
      {review.warnings.includes('high_risk') && (
        <span class="approvals-deceives">
          <Icon name="warning" size={14} /> High risk: {risk}
        </span>
      )}
      {latest !== undefined && (
        <span class="review-mark">
          <Icon name="copy" size={14} />
          <span>
            <EarlierGrantText grant={latest} />
          </span>
        </span>
      )}
    </>
  );
}
