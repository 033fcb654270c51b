// A bar at the end of the page, while a list has chosen requests: how many are chosen, and the buttons that approve or
// reject them together.

import type { ComponentChildren } from 'preact';
import { Button } from '../../parts/layout/button.tsx';
import { reasonNotSent } from './bulk-vote.tsx';
import type { VoteKind } from './draft.ts';
import type { QueueItem } from './queue-groups.ts';
import './vote-bar.css';

interface VoteBarProps {
  readonly label: string;
  readonly chosen: readonly QueueItem[];
  /** Of how many requests they were chosen; absent where there may be more. */
  readonly of?: number;
  readonly onVote: (vote: VoteKind) => void;
  readonly children?: ComponentChildren;
}

export function VoteBar({ label, chosen, of, onVote, children }: VoteBarProps) {
  const [approvals, rejections] = [countFor(chosen, 'approve'), countFor(chosen, 'reject')];
  return (
    <section class="vote-bar" aria-label={label}>
      <span role="status">
        {chosen.length} {of !== undefined && `of ${of} `}chosen
      </span>
      {approvals > 0 && (
        <Button variant="primary" icon="allow" onClick={() => onVote('approve')}>
          Approve {approvals}…
        </Button>
      )}
      {rejections > 0 && (
        <Button icon="deny" onClick={() => onVote('reject')}>
          Reject {rejections}…
        </Button>
      )}
      {children}
      {approvals < chosen.length && (
        <span class="vote-bar-note">
          {chosen.length - approvals} to approve one by one: letters that may deceive, a high risk or a
          step-up
        </span>
      )}
    </section>
  );
}

function countFor(chosen: readonly QueueItem[], vote: VoteKind): number {
  return chosen.filter((item) => reasonNotSent(item, vote) === null).length;
}
