// The columns of the list of approvals: who approved or rejected what, for whom, and why.

import type { Reply } from '../../../api/operations.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import type { Column } from '../../parts/layout/data-table.tsx';
import { At } from '../../parts/layout/time.tsx';
import { chatServiceNames } from '../../parts/people/chat-services.ts';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Vote = Reply<'listApprovalLog'>['items'][number];

const votes = {
  approved: ['allow', 'Approved'],
  rejected: ['deny', 'Rejected'],
  taken_back: ['unknown', 'Taken back'],
} as const;

export const approvalColumns: readonly Column<Vote>[] = [
  { head: 'When', class: 'table-when', cell: ({ at }) => <At at={at} /> },
  {
    head: 'Who',
    cell: ({ person: { name, email } }) => (
      <div>
        <PlainText text={name === '' ? email : name} isShort />
        {name !== '' && (
          <div class="audit-subject">
            <PlainText text={email} isShort />
          </div>
        )}
      </div>
    ),
  },
  {
    head: 'Vote',
    cell: ({ vote, chat }) => {
      const [tone, word] = votes[vote];
      return (
        <div>
          <Badge tone={tone}>{word}</Badge>
          {chat !== null && <div class="audit-subject">in {chatServiceNames[chat.service]}</div>}
        </div>
      );
    },
  },
  {
    head: 'Request',
    cell: ({ request_id: id, title, action_key: action, agent }) => (
      <div>
        <a href={`/requests/${encodeURIComponent(id)}`}>
          <PlainText text={title === '' ? action : title} isShort />
        </a>
        <div class="audit-subject">
          <PlainText text={agent.name} isShort />
        </div>
      </div>
    ),
  },
  {
    head: 'For',
    cell: ({ group, stands_in_for: absent }) => (
      <div>
        <PlainText text={group ?? 'the control owner'} isShort />
        {absent !== null && (
          <div class="audit-subject">
            in the place of <PlainText text={absent} isShort />
          </div>
        )}
      </div>
    ),
  },
  { head: 'Comment', cell: ({ comment }) => <PlainText text={comment} /> },
];
