// Approves or rejects several requests of the inbox with one reason. Each request is shown with its title, decided by
// itself, and then shown with its result. INVARIANT: what may deceive, is of high risk or cannot be approved is not sent;
// the service refuses it as well.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { Dialog, useCloseGuard } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { PlainPieces, PlainText } from '../../parts/text/plain-text.tsx';
import { groupLabel } from '../requests/person-name.ts';
import { agentName } from '../requests/request-table.tsx';
import type { VoteKind } from './draft.ts';
import type { QueueItem } from './queue-groups.ts';
import { titleOf } from './queue-table.tsx';
import './bulk-vote.css';

interface BulkVoteProps {
  readonly vote: VoteKind;
  readonly items: readonly QueueItem[];
  /** Called with the ids of the requests that need no further vote. */
  readonly onEnd: (settled: readonly string[]) => void;
}

type VoteResult = Reply<'voteOnRequests'>['items'][number];
type VoteResults = ReadonlyMap<string, VoteResult>;

const commentLengthMax = 2_000;

export function BulkVote({ vote, items, onEnd }: BulkVoteProps) {
  const [results, setResults] = useState<VoteResults>(new Map());
  const close = (): void => onEnd([...results.keys()]);
  return (
    <Dialog title={titleFor(vote, items, results)} onClose={close}>
      <BulkForm
        vote={vote}
        items={items}
        results={results}
        onResults={(given) => setResults(new Map(given.map((one) => [one.request_id, one])))}
        onClose={close}
      />
    </Dialog>
  );
}

function titleFor(vote: VoteKind, items: readonly QueueItem[], results: VoteResults): string {
  if (results.size > 0) return `${recordedCount(results)} of ${items.length} recorded`;
  const count = items.filter((item) => reasonNotSent(item, vote) === null).length;
  return `${vote === 'approve' ? 'Approve' : 'Reject'} ${count} ${count === 1 ? 'request' : 'requests'}`;
}

function recordedCount(results: VoteResults): number {
  return [...results.values()].filter(({ refusal }) => refusal === null).length;
}

interface BulkFormProps {
  readonly vote: VoteKind;
  readonly items: readonly QueueItem[];
  readonly results: VoteResults;
  readonly onResults: (results: readonly VoteResult[]) => void;
  readonly onClose: () => void;
}

function BulkForm({ vote, items, results, onResults, onClose }: BulkFormProps) {
  const [comment, setComment] = useState('');
  const [groups, setGroups] = useState<Readonly<Record<string, string>>>({});
  const { isBusy, problem, run } = useSending();
  const isApproval = vote === 'approve';
  const toSend = items.filter((item) => reasonNotSent(item, vote) === null);
  const isSent = results.size > 0;
  useCloseGuard(
    isBusy ? 'The votes are being sent.' : comment !== '' && !isSent ? 'The votes are not sent.' : null,
  );
  const send = (): Promise<void> =>
    run(async () => {
      const requests = toSend.map(({ request_id: id, allowed_actions: allowed }) => {
        const group = isApproval && allowed.approve.length > 1 ? groups[id] : undefined;
        return { id, ...(group === undefined ? {} : { group }) };
      });
      const { items: given } = await call('voteOnRequests', {
        body: { vote, comment: comment.trim(), requests },
      });
      onResults(given);
    });
  return (
    <FormFrame problem={problem} onSend={send}>
      <ul class="bulk-list">
        {items.map((item) => (
          <BulkItem
            key={item.request_id}
            item={item}
            vote={vote}
            result={results.get(item.request_id)}
            group={groups[item.request_id] ?? ''}
            onGroup={(group) => setGroups((before) => ({ ...before, [item.request_id]: group }))}
          />
        ))}
      </ul>
      <p role="status" class="visually-hidden">
        {isSent && `${recordedCount(results)} of ${items.length} recorded`}
      </p>
      {!isSent && toSend.length > 0 && (
        <Field
          label={isApproval ? 'Why you approve' : 'Why you reject'}
          help={
            isApproval
              ? 'Recorded with your name for each. Each approval covers the whole payload, which the page of the request shows.'
              : 'Recorded with your name for each request. A rejection is permanent.'
          }
          isOptional={isApproval}
          name="comment"
        >
          <textarea
            data-first
            required={!isApproval}
            maxLength={commentLengthMax}
            value={comment}
            onInput={({ currentTarget }) => setComment(currentTarget.value)}
          />
        </Field>
      )}
      <div class="form-actions">
        {!isSent && toSend.length > 0 && (
          <Button
            type="submit"
            variant={isApproval ? 'primary' : 'danger'}
            icon={isApproval ? 'allow' : 'deny'}
            isBusy={isBusy}
          >
            {isApproval ? `Approve ${toSend.length}` : `Reject ${toSend.length} permanently`}
          </Button>
        )}
        <Button variant={!isSent && toSend.length > 0 ? 'quiet' : 'primary'} onClick={onClose}>
          {isSent || toSend.length === 0 ? 'Close' : 'Cancel'}
        </Button>
      </div>
    </FormFrame>
  );
}

interface BulkItemProps {
  readonly item: QueueItem;
  readonly vote: VoteKind;
  readonly result: VoteResult | undefined;
  readonly group: string;
  readonly onGroup: (group: string) => void;
}

function BulkItem({ item, vote, result, group, onGroup }: BulkItemProps) {
  const { request_id: id, reason, allowed_actions: allowed } = item;
  const notSent = reasonNotSent(item, vote);
  return (
    <li>
      <a href={`/approvals/${id}`} target="_blank" rel="noopener">
        <PlainPieces text={titleOf(item)} />
      </a>
      <span class="bulk-reason">
        <PlainText text={agentName(item)} isShort /> · <PlainText text={reason} isShort />
      </span>
      {vote === 'approve' && notSent === null && allowed.approve.length > 1 && result === undefined && (
        <label class="bulk-group">
          For which group
          <select required value={group} onChange={({ currentTarget }) => onGroup(currentTarget.value)}>
            <option value="">Choose</option>
            {allowed.approve.map((one) => (
              <option key={one} value={one}>
                {groupLabel(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {result !== undefined ? (
        <strong class="bulk-result">
          <Icon name={result.refusal === null ? 'check' : 'deny'} /> {resultText(vote, result)}
        </strong>
      ) : (
        notSent !== null && (
          <strong class="bulk-result">
            <Icon name="warning" /> Open it: {notSent}
          </strong>
        )
      )}
    </li>
  );
}

/** Why the request is not sent together with others, as words after a colon; null if it is. */
export function reasonNotSent(
  { allowed_actions: allowed, requires, review }: QueueItem,
  vote: VoteKind,
): string | null {
  if (vote === 'reject') return allowed.reject ? null : 'you cannot reject it';
  if (allowed.approve.length === 0)
    return requires?.step_up === true ? 'it needs a step-up' : (allowed.reason ?? 'you cannot approve it');
  if (review.warnings.includes('deceptive_letters')) return 'letters that may deceive';
  return review.warnings.includes('high_risk') ? 'its risk is high' : null;
}

function resultText(vote: VoteKind, { status, refusal }: VoteResult): string {
  if (refusal !== null) return `Not recorded: ${refusal.detail}`;
  if (vote === 'reject') return 'Rejected';
  if (status === 'pending') return 'Your approval is recorded; pending for others';
  return status === 'rejected' ? 'The active policies refuse it' : 'Approved';
}
