// The page of policies, in tabs: what each policy is for and which set is active, the files, what the policies do
// in sentences, how often rules decide, and the sets that were active before.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useEvents } from '../../api/event-stream.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { Tabs } from '../../parts/layout/tabs.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { FailureNote, FailurePlaces } from './failure.tsx';
import { History } from './history.tsx';
import './policies.css';
import { fileHref } from './links.ts';
import { Replicas } from './replicas.tsx';
import { RuleTable, ShadowEffects } from './rules.tsx';
import { Names, SetFacts } from './set-facts.tsx';
import { Summary } from './summary.tsx';

type PolicySet = Reply<'getPolicies'>;

/** The most policies that one reply holds. */
const pageSize = '200';
/** Milliseconds between two reloads of the hits, because requests arrive faster than people read. */
const hitsPauseMs = 5_000;

export default function Policies() {
  const { data, problem, reload } = useResource('getPolicies', { query: { limit: pageSize } }, ['policies']);
  const isStale = data?.state.status === 'stale';
  return (
    <PageFrame
      title="Policies"
      beside={data !== null && <StateBadge isStale={isStale} />}
      lead="What agents may do, and who is asked. The files in the policy directory decide; a change begins as a draft in the playground."
      actions={<Actions onReload={reload} />}
    >
      <ProblemNote problem={problem} onRetry={reload} />
      <p role="status" class="visually-hidden">
        {data === null
          ? ''
          : isStale
            ? 'The last reload failed; the previous set still decides.'
            : 'The policies are active.'}
      </p>
      {data === null ? (
        problem === null && <Loading label="The policies are loading" />
      ) : (
        <>
          {data.state.failure !== null && <FailureNote failure={data.state.failure} />}
          {data.state.failure !== null && data.state.failure.diagnostics.length > 0 && (
            <Section title="Problems">
              <FailurePlaces failure={data.state.failure} />
            </Section>
          )}
          {data.state.gaps.length > 0 && (
            <Note tone="escalate" icon="warning">
              <strong>Conditions that cannot be satisfied here</strong>
              <ul>
                {data.state.gaps.map((gap) => (
                  <li key={gap}>
                    <PlainText text={gap} />
                  </li>
                ))}
              </ul>
            </Note>
          )}
          <Tabs label="Parts of the policies" tabs={tabs}>
            {(tab) => <TabContent tab={tab} set={data} />}
          </Tabs>
        </>
      )}
    </PageFrame>
  );
}

const tabs = [
  ['policies', 'Policies'],
  ['files', 'Files'],
  ['sentences', 'Sentences'],
  ['hits', 'Hits'],
  ['history', 'History'],
] as const;

function TabContent({ tab, set }: { readonly tab: string; readonly set: PolicySet }) {
  switch (tab) {
    case 'files':
      return (
        <Section title="Files">
          <Files digest={set.state.digest} />
        </Section>
      );
    case 'sentences':
      return (
        <Section title="In sentences">
          <Summary digest={set.state.digest} />
        </Section>
      );
    case 'hits':
      return <HitsTab />;
    case 'history':
      return (
        <Section
          title="History"
          actions={
            <ButtonLink href="/diff" icon="list">
              Diff of sets
            </ButtonLink>
          }
        >
          <History />
        </Section>
      );
    default:
      return <PoliciesTab set={set} />;
  }
}

function PoliciesTab({ set }: { readonly set: PolicySet }) {
  const hits = useHits();
  const more = useMorePolicies(set);
  return (
    <>
      <Section title="Policies">
        <PolicyTable items={[...set.items, ...more.items]} rules={hits.data?.items ?? []} />
        <ProblemNote problem={more.problem} />
        {more.hasMore && (
          <div>
            <Button onClick={more.load}>Show more policies</Button>
          </div>
        )}
      </Section>
      <Section title="The active policies">
        <SetFacts state={set.state} />
      </Section>
      <Names set={set} />
      <Replicas />
    </>
  );
}

function HitsTab() {
  const hits = useHits();
  const rules = hits.data?.items ?? [];
  return (
    <>
      <Section title="Rules" actions={hits.data !== null && <Since at={hits.data.since} />}>
        <ResourceView resource={hits}>{() => <RuleTable rules={rules} />}</ResourceView>
      </Section>
      {rules.some(({ shadow_changed: changed }) => changed !== null) && (
        <Section title="What the rules in shadow would change">
          <ShadowEffects rules={rules} />
        </Section>
      )}
    </>
  );
}

function Since({ at }: { readonly at: string }) {
  return (
    <span class="policies-never">
      counted since <Ago at={at} />
    </span>
  );
}

/** The hits of rules: reloaded every few seconds while requests arrive, and at once when policies change. */
function useHits() {
  const resource = useResource('getPolicyHits', {}, ['policies']);
  const [isDue, setDue] = useState(false);
  useEvents(['requests'], () => setDue(true));
  const { reload } = resource;
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(() => {
      setDue(false);
      reload();
    }, hitsPauseMs);
    return () => clearTimeout(timer);
  }, [isDue, reload]);
  return resource;
}

/** The policies after the first page; pages of another set are dropped. */
function useMorePolicies(first: PolicySet) {
  const { digest } = first.state;
  const [page, setPage] = useState<{ digest: string; items: PolicySet['items']; next: string | null } | null>(
    null,
  );
  const { problem, run } = useSending();
  const isOfNow = page?.digest === digest;
  const next = isOfNow ? page.next : first.next_cursor;
  const items = isOfNow ? page.items : [];
  const load = (): Promise<void> =>
    run(async () => {
      if (next === null) return;
      const reply = await call('getPolicies', { query: { limit: pageSize, cursor: next } });
      setPage({ digest, items: [...items, ...reply.items], next: reply.next_cursor });
    });
  return { items, hasMore: next !== null, problem, load };
}

function StateBadge({ isStale }: { readonly isStale: boolean }) {
  return isStale ? (
    <Badge tone="deny" icon="warning">
      Last reload failed
    </Badge>
  ) : (
    <Badge tone="allow" icon="allow">
      Active
    </Badge>
  );
}

function Actions({ onReload }: { readonly onReload: () => void }) {
  const mayReload = useGrant('policies.reload') !== 'no';
  const mayTry = useGrant('policies.try') !== 'no';
  const { problem, isBusy, run } = useSending();
  const reload = (): Promise<void> =>
    run(async () => {
      const { status } = await call('reloadPolicies');
      onReload();
      showToast(
        status === 'current'
          ? 'The policies are reloaded and active'
          : 'Reloaded, but the files still have errors',
      );
    });
  return (
    <>
      {mayReload && (
        <Button icon="refresh" onClick={reload} isBusy={isBusy}>
          Reload
        </Button>
      )}
      {mayTry && (
        <ButtonLink href="/playground" icon="try" variant="primary">
          Try a change
        </ButtonLink>
      )}
      <ProblemNote problem={problem} />
    </>
  );
}

/** The list of files that the active policies were made from. */
export function Files({ digest }: { readonly digest: string }) {
  return (
    <ResourceView resource={useResource('listPolicyFiles', {}, ['policies'])} lines={3}>
      {(files) => (
        <DataTable
          label="List of files"
          columns={fileColumns}
          rows={files.items}
          rowKey={({ path }) => path}
          isOld={files.digest !== digest}
        />
      )}
    </ResourceView>
  );
}

const fileColumns: readonly Column<Reply<'listPolicyFiles'>['items'][number]>[] = [
  {
    head: 'File',
    kind: 'row',
    cell: ({ path }) => (
      <a href={fileHref({ path })}>
        <PlainText text={path} isShort />
      </a>
    ),
  },
  { head: 'Kind', cell: ({ kind }) => (kind === 'policy' ? 'Policies' : 'List') },
  { head: 'Size', kind: 'number', cell: ({ bytes }) => sizeText(bytes) },
];

function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_024 ** 2 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_024 ** 2).toFixed(1)} MiB`;
}

// The policies, each with its purpose, its owner, and how often it has decided.

type PolicyItem = Reply<'getPolicies'>['items'][number];

interface PolicyTableProps {
  readonly items: readonly PolicyItem[];
  readonly rules: Reply<'getPolicyHits'>['items'];
}

export function PolicyTable({ items, rules }: PolicyTableProps) {
  if (items.length === 0)
    return (
      <Empty icon="policy" title="There is no policy: every request is refused">
        <p>
          Nothing passes unless some <code>allow</code> is definitely true. Begin with a file in the policy
          directory, or try one in the <a href="/playground">playground</a>.
        </p>
      </Empty>
    );
  const decided = new Map<string, number>();
  const isAnyTold = items.some(({ doc }) => doc !== null);
  for (const rule of rules) decided.set(rule.policy, (decided.get(rule.policy) ?? 0) + rule.decided);
  const columns: readonly (Column<PolicyItem> | false)[] = [
    {
      head: 'Policy',
      kind: 'row',
      cell: ({ name, file }) => <a href={fileHref({ path: file, policy: name })}>{name}</a>,
    },
    isAnyTold && {
      head: 'Purpose',
      label: 'For',
      class: 'policies-doc',
      cell: ({ doc }) => <Doc text={doc} />,
    },
    {
      head: 'Owner',
      class: 'policies-owner',
      cell: ({ owner }) =>
        owner === null ? <span class="policies-never">nobody</span> : <PlainText text={owner} isShort />,
    },
    { head: 'Rules', kind: 'number', cell: ({ rules: count }) => count },
    {
      head: 'Decided',
      kind: 'number',
      cell: ({ name }) => (decided.get(name) ?? 0).toLocaleString(),
    },
  ];
  return (
    <DataTable
      label="List of policies"
      columns={columns}
      rows={items}
      rowKey={({ name }) => name}
      class="policies-table"
    />
  );
}

/** The documentation of a policy, as its author wrote it. */
function Doc({ text }: { readonly text: string | null }) {
  return text === null ? <span class="policies-never">no documentation</span> : <PlainText text={text} />;
}
