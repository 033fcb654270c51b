// The applications for access. Waiting ones come first, the most urgent at the top, each with the time left
// of its 24 hours; answered ones follow.

import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { Ago, useNow } from '../../parts/layout/time.tsx';
import { CollapsibleText } from '../../parts/text/collapsible-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { type Application, DeclineDialog, GrantDialog } from './application-dialogs.tsx';

interface OpenDialog {
  readonly kind: 'grant' | 'decline';
  readonly application: Application;
}

export function Applications() {
  const { query } = useAddress();
  const pageQuery = { limit: '200', cursor: query.get('cursor') ?? undefined };
  const list = useResource('listApplications', { query: pageQuery }, ['people']);
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const items = list.data?.items ?? [];
  const waiting = items
    .filter(({ status }) => status === 'open')
    .toSorted((a, b) => a.due_at.localeCompare(b.due_at));
  const answered = items.filter(({ status }) => status !== 'open');
  const dialog = { onChange: list.reload, onClose: () => setOpen(null) };
  return (
    <>
      <ListSection
        title="Open applications"
        list={{ ...list, data: list.data && { ...list.data, items: waiting } }}
        empty={
          <Empty icon="inbox" title="No open applications">
            <p>
              Anyone can apply at <a href="/apply">{`${window.location.host}/apply`}</a> and gets an answer
              within 24 hours.
            </p>
          </Empty>
        }
      >
        {() => (
          <ul class="access-applications">
            {waiting.map((application) => (
              <Waiting key={application.id} application={application} onOpen={setOpen} />
            ))}
          </ul>
        )}
      </ListSection>
      {answered.length > 0 && (
        <Section title="Answered">
          <DataTable
            label="Answered applications"
            columns={answeredColumns}
            rows={answered}
            rowKey={({ id }) => id}
          />
        </Section>
      )}
      {open?.kind === 'grant' && <GrantDialog application={open.application} {...dialog} />}
      {open?.kind === 'decline' && <DeclineDialog application={open.application} {...dialog} />}
    </>
  );
}

function Waiting({
  application,
  onOpen,
}: {
  readonly application: Application;
  readonly onOpen: (open: OpenDialog) => void;
}) {
  const mayDecide = useGrant('applications.decide') === 'yes';
  const { name, email, reason, created_at: at } = application;
  return (
    <li>
      <div class="access-application">
        <p class="access-application-head">
          <strong>
            <PlainText text={name} isShort />
          </strong>
          <PlainText text={email} isShort />
          <Due at={application.due_at} />
        </p>
        <CollapsibleText text={reason} />
        <p class="access-soft">
          Applied <Ago at={at} />
        </p>
      </div>
      {mayDecide && (
        <div class="form-actions">
          <Button variant="primary" onClick={() => onOpen({ kind: 'grant', application })}>
            Grant…<span class="visually-hidden"> {email}</span>
          </Button>
          <Button onClick={() => onOpen({ kind: 'decline', application })}>
            Decline…<span class="visually-hidden"> {email}</span>
          </Button>
        </div>
      )}
    </li>
  );
}

/** The time left of the 24 hours, or for how long the answer is overdue. */
function Due({ at }: { readonly at: string }) {
  const leftMs = Date.parse(at) - useNow();
  if (leftMs < 0) {
    return (
      <Badge tone="deny" icon="warning">
        {`Overdue for ${spanText(-leftMs)}`}
      </Badge>
    );
  }
  const isSoon = leftMs < 4 * 3_600_000;
  return (
    <Badge tone={isSoon ? 'escalate' : 'unknown'} icon="clock">
      {`${spanText(leftMs)} left`}
    </Badge>
  );
}

const answeredColumns: readonly Column<Application>[] = [
  {
    head: 'Who',
    kind: 'row',
    cell: ({ name, email }) => (
      <>
        <PlainText text={name} isShort /> <span class="access-soft">{email}</span>
      </>
    ),
  },
  {
    head: 'Answer',
    cell: ({ status }) =>
      status === 'granted' ? <Badge tone="allow">Granted</Badge> : <Badge tone="deny">Declined</Badge>,
  },
  { head: 'Reason given', cell: ({ answer }) => answer !== null && <CollapsibleText text={answer} /> },
  { head: 'When', class: 'table-when', cell: ({ decided_at: at }) => at !== null && <Ago at={at} /> },
];
