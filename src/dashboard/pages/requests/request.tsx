// The page of one request: what was asked, what was decided and why, the facts behind the decision, what
// people said, and what can be done now.

import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import type { PageProps } from '../../navigation/page-props.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { DecisionBadge, Risk, StatusBadge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { At } from '../../parts/layout/time.tsx';
import { GroupGaps } from '../../parts/people/group-gap.tsx';
import { ConditionTree, pointsText, type RuleSource } from '../../parts/policy/condition-tree.tsx';
import {
  decidingRule,
  missingText,
  riskContributions,
  type TraceRule,
  traceRules,
  unknownReads,
} from '../../parts/policy/trace.ts';
import { CopyText } from '../../parts/text/copy.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { onBehalfFacts } from '../../parts/text/on-behalf.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { ResolvedTexts } from '../../parts/text/resolved-texts.tsx';
import { Amount, useAmounts } from './amounts.tsx';
import { backToList } from './list-position.ts';
import { OutcomeDialog } from './outcome.tsx';
import './request.css';
import { call } from '../../api/client.ts';
import { useEvents } from '../../api/event-stream.ts';
import { ControlOwner } from './people.tsx';
import { planFacts } from './plan-link.tsx';
import { agentName } from './request-table.tsx';
import { RequestTimeline } from './request-timeline.tsx';
import { StepUpDialog } from './step-up.tsx';
import { SuggestedChanges } from './suggestions.tsx';
import type { RequestDetail } from './timeline-events.ts';
import { WhatWouldChange } from './what-would-change.tsx';

// The texts of some policies' rules, by rule id, from the files of the active policies.

const none: ReadonlyMap<string, RuleSource> = new Map();
/** A page shows rules of few files, so a whole set is never loaded. */
const filesMax = 10;

/** Empty until the texts arrive, and when none are wanted or available. */
export function useRuleSources(policies: readonly string[]): ReadonlyMap<string, RuleSource> {
  const [sources, setSources] = useState(none);
  const [turn, setTurn] = useState(0);
  useEvents(['policies'], () => setTurn(turn + 1));
  const namesJson = JSON.stringify([...new Set(policies)]);
  useEffect(() => {
    const names: readonly string[] = JSON.parse(namesJson);
    if (names.length === 0) return setSources(none);
    const controller = new AbortController();
    readSources(names, controller.signal).then(setSources, () => setSources(none));
    return () => controller.abort();
  }, [namesJson, turn]);
  return sources;
}

async function readSources(
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuleSource>> {
  const { items } = await call('getPolicies', { query: { limit: '200' }, signal });
  const paths = new Set(items.flatMap(({ name, file }) => (names.includes(name) ? [file] : [])));
  const files = await Promise.all(
    [...paths].slice(0, filesMax).map((path) => call('getPolicyFile', { query: { path }, signal })),
  );
  return new Map(files.flatMap(sourcesOf));
}

interface PolicyFile {
  readonly path: string;
  readonly text: string;
  readonly policies: readonly {
    readonly rules: readonly { readonly id: string; readonly line: number; readonly end_line: number }[];
  }[];
}

function sourcesOf({ path, text, policies }: PolicyFile): readonly (readonly [string, RuleSource])[] {
  const lines = text.split(/\r?\n/);
  return policies.flatMap(({ rules }) =>
    rules.map(({ id, line, end_line }) => {
      const own = lines.slice(line - 1, end_line).join('\n');
      return [id, { file: path, line, text: own.trim() }] as const;
    }),
  );
}

export default function RequestPage({ params: { id = '' } }: PageProps) {
  const { data, problem, reload } = useResource('getRequest', { params: { id } }, ['requests', 'approvals']);
  const keys = useShortcuts([{ keys: ['u'], label: 'Back to the list', run: backToList }]);
  if (data !== null) {
    return (
      <>
        <Whole request={data} problem={problem} reload={reload} />
        {keys}
      </>
    );
  }
  return (
    <PageFrame title="Request">
      {problem === null ? <Loading /> : <ProblemNote problem={problem} onRetry={reload} />}
      <div>
        <Button icon="back" onClick={backToList}>
          All requests
        </Button>
      </div>
      {keys}
    </PageFrame>
  );
}

interface WholeProps {
  readonly request: RequestDetail;
  readonly problem: unknown;
  readonly reload: () => void;
}

function Whole({ request, problem, reload }: WholeProps) {
  const { request_id: id, action_key, title, decision, status, reason, matched_policy: policy } = request;
  const explained = useResource('explainRequest', { params: { id } }, ['policies']);
  const amountAt = useAmounts(id);
  const isOwnSet = explained.data?.is_same_set === true;
  const rules = traceRules(request.trace);
  const sources = useRuleSources(isOwnSet ? rules.map((rule) => rule.policy) : []);
  // The active policies may differ from those that decided, and the first decision does not explain a later
  // one.
  const isRefusedByPerson = request.approvals.some(({ is_approved }) => !is_approved);
  const isByOwn = isOwnSet && (explained.data?.decision === decision || isRefusedByPerson);
  const decidedBy =
    (isByOwn ? explained.data?.rule?.id : undefined) ?? decidingRule(rules, { decision, policy });
  return (
    <PageFrame
      title="Request"
      heading={<PlainText text={title === '' ? action_key : title} />}
      beside={
        <>
          <DecisionBadge decision={decision} />
          <StatusBadge status={status} decision={decision} />
        </>
      }
      lead={
        <>
          <PlainText text={reason} />
          {title !== '' && (
            <span class="request-action">
              <PlainText text={action_key} isShort />
            </span>
          )}
        </>
      }
      actions={<Actions request={request} reload={reload} />}
    >
      <ProblemNote problem={problem} />
      <GroupGaps {...request} />
      <div class="request-short">
        <Section title="Summary">
          <RequestFacts request={request} />
        </Section>
      </div>
      <div class="request-columns">
        <div class="request-main">
          <Section title="What was requested">
            <JsonView
              value={request.payload}
              label="Payload"
              beside={(_path, _value, pointer) => <Amount text={amountAt(pointer)} />}
            />
            <ResolvedTexts resolved={request.resolved} />
          </Section>
          <WhatWouldChange explained={explained} decision={decision} matchedPolicy={policy} />
          {mayBeAllowed(request) && <SuggestedChanges id={id} />}
          <Section title="Conditions">
            <ConditionTree
              trace={request.trace}
              others={request.trace_omitted}
              decidedBy={decidedBy}
              sources={sources}
              conditions={isOwnSet ? (explained.data?.conditions ?? []) : []}
            />
          </Section>
        </div>
        <div class="request-aside">
          <Section title="What happened">
            <RequestTimeline request={request} />
          </Section>
          <RiskAndUnknown rules={rules} score={request.risk_score} />
          <Section title="Record">
            <Facts items={recordFacts(request)} />
          </Section>
        </div>
      </div>
      <ShortcutHint />
    </PageFrame>
  );
}

/** Whether a change of the policies could allow the request: rules stopped it, and not its shape. */
function mayBeAllowed({ decision, matched_policy: policy }: RequestDetail): boolean {
  return decision !== 'ALLOW' && policy !== 'invalid_payload' && policy !== 'undeclared_action';
}

function RequestFacts({ request }: { readonly request: RequestDetail }) {
  const { agent, matched_policy: policy, risk_score, created_at, expires_at } = request;
  const mayViewAgents = useGrant('agents.view') !== 'no';
  const name = <PlainText text={agentName(request)} isShort />;
  const about = (value: unknown) => (
    <PlainText text={typeof value === 'string' ? value : 'unknown'} isShort />
  );
  const isLink = mayViewAgents && typeof agent.id === 'string';
  return (
    <Facts
      items={[
        ['Agent', isLink ? <a href={`/agents/${encodeURIComponent(String(agent.id))}`}>{name}</a> : name],
        ['Risk tier', about(agent.risk_tier)],
        ['Control owner', <ControlOwner key="owner" request={request} />],
        ...planFacts(request),
        ...onBehalfFacts(request),
        ['Tags', about(Array.isArray(agent.tags) && agent.tags.length > 0 ? agent.tags.join(', ') : 'none')],
        ['Policy', <PlainText key="policy" text={policy} isShort />],
        ['Risk', <Risk key="risk" score={risk_score} />],
        ['Asked', <At key="asked" at={created_at} />],
        [endLabels[request.status], <At key="ends" at={expires_at} />],
      ]}
    />
  );
}

const endLabels: Readonly<Record<RequestDetail['status'], string>> = {
  pending: 'Deadline',
  rejected: 'Refused until',
  expired: 'Ended',
  auto_approved: 'Grant ends',
  approved: 'Grant ends',
  consumed: 'Grant ends',
  withdrawn: 'Ended',
};

/** The session's text without its prefix, which repeats the enforcement point. */
function sessionText({ session, point }: RequestDetail): string {
  const own = session ?? 'none sent';
  const ofPoint = point === null ? '' : `point:${point.id}/`;
  return ofPoint !== '' && own.startsWith(ofPoint) ? own.slice(ofPoint.length) : own;
}

function CameBy({ point, chain }: Pick<RequestDetail, 'point' | 'chain'>) {
  const mayView = useGrant('points.view') !== 'no';
  if (chain.length > 0) return <Chain chain={chain} />;
  if (point === null) return <>the agent itself</>;
  const name = <PlainText text={point.name} isShort />;
  return mayView ? <a href={`/enforcement-points/${encodeURIComponent(point.id)}`}>{name}</a> : name;
}

/** The delegations by which a sub-agent asked, with what each allows. */
function Chain({ chain }: Pick<RequestDetail, 'chain'>) {
  return (
    <ol>
      {chain.map(({ id, name, actions, when, uses }) => (
        <li key={id}>
          sub-agent <bdi>{name}</bdi>, for <code>{actions.join(', ')}</code>
          {when !== null && (
            <>
              {' '}
              when <code>{when}</code>
            </>
          )}
          {uses !== null && `, ${uses} at most`}
        </li>
      ))}
    </ol>
  );
}

/** The message with its deadline as a time in the reader's own zone. */
function AgentMessage({ message, expires_at: end }: Pick<RequestDetail, 'message' | 'expires_at'>) {
  const [before = '', ...after] = message.split(end);
  return (
    <>
      <PlainText text={before} />
      {after.map((text, index) => (
        <Fragment key={index}>
          <At at={end} />
          <PlainText text={text} />
        </Fragment>
      ))}
    </>
  );
}

function recordFacts(request: RequestDetail) {
  const { request_id, digest, policy_set, message, expires_at: end, point, chain } = request;
  return [
    ['Came by', <CameBy key="point" point={point} chain={chain} />],
    [
      point === null ? 'Session, as the agent says' : 'Session, as the enforcement point says',
      <PlainText key="session" text={sessionText(request)} isShort />,
    ],
    ['Message to the agent', <AgentMessage key="message" message={message} expires_at={end} />],
    ['Request', <CopyText key="id" text={request_id} label="id of the request" />],
    ['Digest of agent, action and payload', <CopyText key="digest" text={digest} label="digest" />],
    ['Policy set', <CopyText key="set" text={policy_set.digest} label="digest of the policy set" />],
    ['Commit', policy_set.commit === null ? 'Not under Git' : <code>{policy_set.commit}</code>],
  ] as const;
}

function Actions({ request, reload }: { readonly request: RequestDetail; readonly reload: () => void }) {
  const [open, setOpen] = useState<'step-up' | 'outcome' | null>(null);
  const { allowed_actions: allowed } = request;
  const isPending = request.status === 'pending';
  const mayApprove = allowed !== null && allowed.approve.length > 0;
  // An open dialog may have become pointless.
  useEffect(() => {
    if (!isPending) setOpen((before) => (before === 'step-up' ? null : before));
  }, [isPending]);
  return (
    <>
      <Button variant="quiet" icon="back" onClick={backToList}>
        All requests
      </Button>
      {allowed?.step_up === true && (
        <Button variant="primary" icon="reauth" onClick={() => setOpen('step-up')}>
          Step up
        </Button>
      )}
      {mayApprove && (
        <ButtonLink href={`/approvals/${request.request_id}`} icon="inbox" variant="primary">
          Decide
        </ButtonLink>
      )}
      {allowed?.reject === true && !mayApprove && (
        <ButtonLink href={`/approvals/${request.request_id}#reject`} icon="deny">
          Reject…
        </ButtonLink>
      )}
      {allowed?.report === true && <Button onClick={() => setOpen('outcome')}>Report the outcome</Button>}
      <ButtonLink href={`/playground?request=${request.request_id}`} icon="try">
        Try in the playground
      </ButtonLink>
      {open === 'step-up' && <StepUpDialog request={request} onClose={() => setOpen(null)} onDone={reload} />}
      {open === 'outcome' && (
        <OutcomeDialog request={request} onClose={() => setOpen(null)} onDone={reload} />
      )}
    </>
  );
}

// What makes up the risk of a request, and which facts were unknown when it was decided.

interface RiskAndUnknownProps {
  readonly rules: readonly TraceRule[];
  readonly score: number;
}

export function RiskAndUnknown({ rules, score }: RiskAndUnknownProps) {
  const contributions = riskContributions(rules);
  const unknown = unknownReads(rules);
  return (
    <>
      <Section title={`Risk: ${score} of 100`}>
        {contributions.length === 0 ? (
          <p>{rules.length === 0 ? 'No rule was evaluated.' : 'No rule added risk.'}</p>
        ) : (
          <ul class="request-risks">
            {contributions.map(({ id, points, truth }) => (
              <li key={id}>
                <span class="request-points">{pointsText(points)}</span>
                <PlainText text={id} isShort />
                {truth === 'unknown' && <span class="request-soft">unknown, so it may count</span>}
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="What was unknown">
        {unknown.length === 0 ? (
          <p>Every value that a rule read was known.</p>
        ) : (
          <ul class="request-unknown">
            {unknown.map(({ read, rules: left }) => (
              <li key={read.path}>
                <code>
                  <PlainText text={read.path} isShort />
                </code>
                : {missingText(read.missing ?? '')}
                <span class="request-soft">read by {left.map(({ id }) => id).join(', ')}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </>
  );
}
