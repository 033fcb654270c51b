// The replicas that serve, each with the set that it decides by, and the standbys of the database.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { Ago } from '../../parts/layout/time.tsx';

type ReplicaReply = Reply<'listReplicas'>;

/** Renders nothing for people who may not see replicas. */
export function Replicas() {
  return useGrant('replicas.view') === 'yes' ? <ReplicaSection /> : null;
}

function ReplicaSection() {
  return (
    <Section title="Replicas">
      <ResourceView
        resource={useResource('listReplicas', {}, ['policies'])}
        loading="The replicas are loading"
      >
        {(serving) => (
          <>
            <ReplicaTable serving={serving} />
            {serving.store === 'postgres' && <Standbys standbys={serving.standbys} />}
          </>
        )}
      </ResourceView>
    </Section>
  );
}

function ReplicaTable({ serving: { items, policies, store } }: { readonly serving: ReplicaReply }) {
  const columns: readonly Column<(typeof items)[number]>[] = [
    {
      head: 'Replica',
      kind: 'row',
      cell: ({ slot, name, is_self: isSelf }) =>
        `${store === 'postgres' ? `${slot} · ` : ''}${name}${isSelf && items.length > 1 ? ' (answers you)' : ''}`,
    },
    {
      head: 'Policies',
      cell: ({ is_ready: isReady }) => (
        <Badge tone={isReady ? 'allow' : 'deny'} icon={isReady ? 'allow' : 'warning'}>
          {isReady ? 'Ready' : 'Not ready'}
        </Badge>
      ),
    },
    {
      head: 'Policy set',
      cell: ({ directory_digest: digest }) => <DigestRead digest={digest} active={policies.digest} />,
    },
    { head: 'Version', cell: ({ version }) => version },
    { head: 'Started', cell: ({ started_at: at }) => <Ago at={at} /> },
    { head: 'Last seen', cell: ({ seen_at: at }) => <Ago at={at} /> },
  ];
  return <DataTable label="List of replicas" columns={columns} rows={items} rowKey={({ slot }) => slot} />;
}

function DigestRead({ digest, active }: { readonly digest: string | null; readonly active: string | null }) {
  if (digest === null) return <span class="policies-never">nothing yet</span>;
  if (digest === active) return <>the active policies</>;
  return (
    <>
      <code title={digest}>{digest.slice(0, 16)}…</code>, which waits for the others
    </>
  );
}

function Standbys({ standbys }: Pick<ReplicaReply, 'standbys'>) {
  if (standbys.length === 0)
    return (
      <p class="policies-never">The database has no standby: what it has acknowledged is on one machine.</p>
    );
  return (
    <ul>
      {standbys.map(({ name, mode, lag_ms: lagMs }, at) => (
        <li key={at}>
          Standby {name}: {mode ?? 'the database user may not see its replication mode'}
          {lagMs !== null && `, ${Math.round(lagMs)} ms behind`}
        </li>
      ))}
    </ul>
  );
}
