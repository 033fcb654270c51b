// Approves or rejects several requests of the inbox with one reason. Each request is shown with its title,
// sent by itself, and then shown with its result. A failed one keeps its reason and can be sent again.
// INVARIANT: no request is approved here that was not checked for what may deceive a reader, or that failed the check.

import { useState } from 'preact/hooks';
import { Dialog, useCloseGuard } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { FormFrame } from '../../parts/form/form-frame.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Icon, type IconName } from '../../parts/layout/icon.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { agentName } from '../requests/request-table.tsx';
import { groupWords } from '../requests/timeline-events.ts';
import { type Deception, useDeceptionChecks } from './deception-check.ts';
import type { VoteKind } from './draft.ts';
import { type QueueItem, titleOf } from './queue-table.tsx';
import { sendVote, type VoteResult } from './send-vote.ts';

interface BulkVoteProps {
  readonly vote: VoteKind;
  readonly items: readonly QueueItem[];
  /** Called with the ids of the requests that need no further vote. */
  readonly onEnd: (settled: readonly string[]) => void;
}

const commentLengthMax = 2_000;

export function BulkVote({ vote, items, onEnd }: BulkVoteProps) {
  const [results, setResults] = useState<ReadonlyMap<string, VoteResult>>(new Map());
  const settled = [...results].filter(([, { kind }]) => kind !== 'open').map(([id]) => id);
  const close = (): void => onEnd(settled);
  const noun = items.length === 1 ? 'request' : 'requests';
  return (
    <Dialog title={`${vote === 'approve' ? 'Approve' : 'Reject'} ${items.length} ${noun}`} onClose={close}>
      <BulkForm
        vote={vote}
        items={items}
        results={results}
        onResult={(id, result) => setResults((before) => new Map(before).set(id, result))}
        onClose={close}
      />
    </Dialog>
  );
}

interface BulkFormProps {
  readonly vote: VoteKind;
  readonly items: readonly QueueItem[];
  readonly results: ReadonlyMap<string, VoteResult>;
  readonly onResult: (id: string, result: VoteResult) => void;
  readonly onClose: () => void;
}

function BulkForm({ vote, items, results, onResult, onClose }: BulkFormProps) {
  const [comment, setComment] = useState('');
  const [groups, setGroups] = useState<Readonly<Record<string, string>>>({});
  const { isBusy, run } = useSending();
  const isApproval = vote === 'approve';
  const checks = useDeceptionChecks(items);
  const isChecking = isApproval && items.some(({ request_id }) => !checks.has(request_id));
  const whyNot = (item: QueueItem): string | null =>
    whyNotSent(item, vote, checks.get(item.request_id) ?? 'clear');
  const open = items.filter(
    (item) => whyNot(item) === null && (results.get(item.request_id)?.kind ?? 'open') === 'open',
  );
  useCloseGuard(
    isBusy ? 'Some are still being sent.' : comment !== '' && open.length > 0 ? 'Not all is sent.' : null,
  );
  const send = (): Promise<void> =>
    run(async () => {
      if (isChecking) return;
      for (const { request_id: id, allowed_actions: allowed } of open) {
        const group = isApproval && allowed.approve.length > 1 ? (groups[id] ?? null) : null;
        const result = await sendVote({ id, vote, comment: comment.trim(), group });
        onResult(id, result);
        if (result.isCutOff) return;
      }
    });
  return (
    <FormFrame problem={null} onSend={send}>
      <ul class="bulk-list">
        {items.map((item) => (
          <BulkItem
            key={item.request_id}
            item={item}
            vote={vote}
            result={results.get(item.request_id)}
            whyNot={whyNot(item)}
            group={groups[item.request_id] ?? ''}
            onGroup={(group) => setGroups((before) => ({ ...before, [item.request_id]: group }))}
          />
        ))}
      </ul>
      <p role="status" class="bulk-status">
        {isChecking
          ? 'Checking for letters that may deceive…'
          : results.size > 0 && summary(results, open.length)}
      </p>
      {open.length > 0 && (
        <Field
          label={isApproval ? 'Why you approve' : 'Why you reject'}
          help={
            isApproval
              ? 'Recorded with your name for each. Each approval covers the whole payload, which the page of the request shows.'
              : 'Recorded with your name for each. A rejection is for good.'
          }
          isOptional={isApproval}
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
        {open.length > 0 && (
          <Button
            type="submit"
            look={isApproval ? 'primary' : 'danger'}
            icon={isApproval ? 'allow' : 'deny'}
            isBusy={isBusy || isChecking}
          >
            {sendWords(vote, open.length, results.size > 0)}
          </Button>
        )}
        <Button look={open.length > 0 ? 'quiet' : 'primary'} onClick={onClose}>
          {results.size > 0 || open.length === 0 ? 'Close' : 'Cancel'}
        </Button>
      </div>
    </FormFrame>
  );
}

interface BulkItemProps {
  readonly item: QueueItem;
  readonly vote: VoteKind;
  readonly result: VoteResult | undefined;
  /** Why the vote cannot be sent; null when it can. */
  readonly whyNot: string | null;
  readonly group: string;
  readonly onGroup: (group: string) => void;
}

function BulkItem({ item, vote, result, whyNot, group, onGroup }: BulkItemProps) {
  const { request_id: id, reason, allowed_actions: allowed } = item;
  return (
    <li>
      <a href={`/approvals/${id}`} target="_blank" rel="noopener">
        <PlainText text={titleOf(item)} isShort />
      </a>
      <span class="approvals-beneath">
        <PlainText text={agentName(item)} isShort /> · <PlainText text={reason} isShort />
      </span>
      {vote === 'approve' && allowed.approve.length > 1 && result === undefined && (
        <label class="bulk-group">
          For which group
          <select required value={group} onChange={({ currentTarget }) => onGroup(currentTarget.value)}>
            <option value="">Choose</option>
            {allowed.approve.map((one) => (
              <option key={one} value={one}>
                {groupWords(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {(result !== undefined || whyNot !== null) && (
        <strong class="bulk-result">
          <Icon name={result === undefined ? 'warning' : signs[result.kind]} /> {result?.words ?? whyNot}
        </strong>
      )}
    </li>
  );
}

const signs: Readonly<Record<VoteResult['kind'], IconName>> = {
  done: 'check',
  lost: 'deny',
  'not allowed': 'locked',
  open: 'warning',
};

/** Why the vote on a request cannot be sent; null when it can. */
function whyNotSent(
  { allowed_actions: allowed, requires }: QueueItem,
  vote: VoteKind,
  deception: Deception,
): string | null {
  if (vote === 'reject') return allowed.reject ? null : 'Not sent: you cannot reject it';
  if (allowed.approve.length === 0)
    return requires?.step_up === true
      ? 'Not sent: it needs a step-up, on its own page'
      : `Not sent: ${allowed.reason ?? 'you cannot approve it'}`;
  return whyNotClear[deception];
}

const whyNotClear: Readonly<Record<Deception, string | null>> = {
  clear: null,
  deceptive: 'Not sent: it contains letters that may deceive; decide on its own page',
  unchecked: 'Not sent: the check for letters that may deceive failed; decide on its own page',
};

function sendWords(vote: VoteKind, count: number, isAgain: boolean): string {
  if (isAgain) return `Send the other ${count} again`;
  return vote === 'approve' ? `Approve ${count}` : `Reject ${count} for good`;
}

function summary(results: ReadonlyMap<string, VoteResult>, openCount: number): string {
  const kinds = [...results.values()].map(({ kind }) => kind);
  const done = kinds.filter((kind) => kind === 'done').length;
  const failed = kinds.filter((kind) => kind === 'lost' || kind === 'not allowed').length;
  return [
    `${done} recorded`,
    ...(failed > 0 ? [`${failed} not`] : []),
    ...(openCount > 0 ? [`${openCount} still to send`] : []),
  ].join(', ');
}
