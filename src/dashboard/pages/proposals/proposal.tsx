// One proposal: what it means for decisions, guarantees and tests, what it changes in the files, and what the person
// may do about it. INVARIANT: an acceptance names the two sets that are shown.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import type { PageProps } from '../../navigation/page-props.ts';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { shortDigest } from '../../parts/diff/activations.ts';
import { ChangedFiles, SentenceList } from '../../parts/diff/changed-texts.tsx';
import { countsText } from '../../parts/diff/diff-labels.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { ClassificationBadge, meaningOf } from '../../parts/policy/classification.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { keepDraft, readDraft } from '../playground/draft-files.ts';
import './proposal.css';
import { AcceptDialog, RejectDialog } from './settle-dialogs.tsx';
import { statusWords } from './status-words.ts';

export type ProposalDetail = Reply<'getProposal'>;
type Report = NonNullable<ProposalDetail['report']>;

export default function ProposalPage({ params }: PageProps) {
  const id = params.id ?? '';
  const resource = useResource('getProposal', { params: { id } }, ['policies']);
  return (
    <ResourceView resource={resource} loading="The proposal is loading">
      {(proposal) => <ProposalView proposal={proposal} reload={resource.reload} />}
    </ResourceView>
  );
}

interface ProposalProps {
  readonly proposal: ProposalDetail;
  readonly reload: () => void;
}

function ProposalView({ proposal, reload }: ProposalProps) {
  const { reason, status, classification, report } = proposal;
  const { word, tone } = statusWords[status];
  return (
    <PageFrame
      title="Proposal"
      heading={<PlainText text={reason} />}
      beside={
        <>
          <ClassificationBadge of={classification} />
          <Badge tone={tone}>{word}</Badge>
        </>
      }
      actions={<Actions proposal={proposal} reload={reload} />}
    >
      <div class="proposal">
        <Section title="What it means">
          <Meaning proposal={proposal} />
        </Section>
        <Section title="About">
          <About proposal={proposal} />
        </Section>
        {report !== null && <DiffOfReport report={report} />}
        {proposal.changed_files.length > 0 && (
          <Section title="Files">
            <ChangedFiles
              files={proposal.changed_files.map(({ path, before, after }) => ({
                path,
                old: before,
                new: after,
                is_complete: true,
              }))}
            />
            <details open={proposal.delivery === 'patch'}>
              <summary>Patch for Git</summary>
              <CopyText text={proposal.patch} label="the patch" />
            </details>
          </Section>
        )}
      </div>
    </PageFrame>
  );
}

type Dialog = 'accept' | 'reject' | 'withdraw';

function Actions({ proposal, reload }: ProposalProps) {
  const [open, setOpen] = useState<Dialog | null>(null);
  const { accept, reject, withdraw } = proposal.allowed_actions;
  const dialog = { proposal, onDone: reload, onClose: () => setOpen(null) };
  return (
    <>
      <ButtonLink href="/proposals">All proposals</ButtonLink>
      {withdraw && <Button onClick={() => setOpen('withdraw')}>Withdraw…</Button>}
      {reject && <Button onClick={() => setOpen('reject')}>Reject…</Button>}
      {accept && (
        <Button variant="primary" onClick={() => setOpen('accept')}>
          Accept…
        </Button>
      )}
      {open === 'accept' && <AcceptDialog {...dialog} />}
      {open === 'reject' && <RejectDialog {...dialog} />}
      {open === 'withdraw' && (
        <ConfirmDialog
          title="Withdraw the proposal?"
          word="Withdraw"
          variant="danger"
          done="The proposal is withdrawn"
          work={() => call('withdrawProposal', { params: { id: proposal.id } })}
          onDone={reload}
          onClose={dialog.onClose}
        >
          It stays in the list, and can no longer be accepted.
        </ConfirmDialog>
      )}
    </>
  );
}

function Meaning({ proposal }: Pick<ProposalProps, 'proposal'>) {
  const { classification, problem, broken_guarantees: broken, notes, tests, status } = proposal;
  return (
    <>
      <p>{meaningOf(classification)}</p>
      {status === 'pending' && !proposal.is_current && (
        <Note icon="clock">Other policies are active by now: it is being judged again.</Note>
      )}
      {problem !== null && (
        <Note tone="deny" icon="warning">
          <PlainText text={problem} />
        </Note>
      )}
      {broken.length > 0 && (
        <Note tone="deny" icon="warning">
          <Sentences label="Broken guarantees" items={broken} />
        </Note>
      )}
      {notes.length > 0 && (
        <Note icon="warning">
          <Sentences label="Also changes" items={notes} />
        </Note>
      )}
      <p>{testsText(tests)}</p>
    </>
  );
}

function Sentences({ label, items }: { readonly label: string; readonly items: readonly string[] }) {
  return (
    <>
      <p>{label}:</p>
      <ul aria-label={label}>
        {items.map((text) => (
          <li key={text}>
            <MessageText text={text} />
          </li>
        ))}
      </ul>
    </>
  );
}

function testsText(tests: ProposalDetail['tests']): string {
  if (tests === null) return 'No tests were run.';
  const { passed, failed, newly_failed: fresh } = tests;
  if (passed + failed === 0) return 'The policies have no tests.';
  if (failed === 0) return `All ${passed} tests pass.`;
  return `${failed} of ${passed + failed} tests fail, ${fresh} of which pass with the active policies.`;
}

function About({ proposal }: Pick<ProposalProps, 'proposal'>) {
  const { proposed_by: by, created_at: at, request_id: request, settled, delivery } = proposal;
  const facts: [string, ComponentChildren][] = [
    [
      'Proposed by',
      <PlainText key="by" text={by.kind === 'person' ? by.name : `${by.kind} ${by.name}`} isShort />,
    ],
    ['When', <Ago key="at" at={at} />],
  ];
  if (request !== null)
    facts.push([
      'Request',
      <a key="request" href={`/requests/${request}`}>
        {request}
      </a>,
    ]);
  facts.push([
    'Policies',
    `${shortDigest(proposal.active_digest)} → ${proposal.proposed_digest === null ? 'none' : shortDigest(proposal.proposed_digest)}`,
  ]);
  if (settled !== null)
    facts.push([
      statusWords[proposal.status].word,
      <span key="settled">
        <Ago at={settled.at} /> by <PlainText text={settled.by.name} isShort />
        {settled.comment !== '' && (
          <>
            : <PlainText text={settled.comment} />
          </>
        )}
      </span>,
    ]);
  return (
    <>
      <Facts items={facts} />
      {delivery !== null && <DeliveryNote proposal={proposal} />}
    </>
  );
}

function DeliveryNote({ proposal: { active_at: activeAt, delivery } }: Pick<ProposalProps, 'proposal'>) {
  if (activeAt !== null)
    return (
      <Note tone="allow" icon="check">
        The proposed policies became active <Ago at={activeAt} />.
      </Note>
    );
  return (
    <Note icon="clock">
      {delivery === 'patch'
        ? 'Accepted, and not active yet: apply the patch below where the policies come from.'
        : 'Accepted, and not active yet: the service is writing the files.'}
    </Note>
  );
}

const sides = { old: 'Active', new: 'Proposed' } as const;

function DiffOfReport({ report: { diff, requests, sentences, tests } }: { readonly report: Report }) {
  const person = usePerson();
  const onTry = (request: object): void => {
    const storage = window.sessionStorage;
    const draft = readDraft(storage, person.id);
    keepDraft(storage, person.id, { ...draft, request: `${JSON.stringify(request, null, 2)}\n` });
    go('/playground');
  };
  const failed = tests?.failed ?? [];
  return (
    <>
      <Section title="Decisions that differ">
        <p role="status">{countsText(diff)}</p>
        <DiffResult diff={diff} requests={requests} ways={{ sides, onTry }} />
      </Section>
      {sentences.length > 0 && (
        <Section title="In sentences">
          <SentenceList items={sentences} />
        </Section>
      )}
      {failed.length > 0 && (
        <Section title="Failing tests">
          <ul>
            {failed.map(({ file, name, is_new: isNew }, index) => (
              <li key={index}>
                <code>{file}</code>: <PlainText text={name ?? 'could not be run'} isShort />
                {!isNew && ' (fails with the active policies, too)'}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
