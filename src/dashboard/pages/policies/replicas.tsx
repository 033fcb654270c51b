// The replicas that serve, each with the set that it decides by, and the standbys of the database.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';

type ReplicaReply = Reply<'listReplicas'>;

/** Renders nothing for people who may not see replicas. */
export function Replicas() {
  return useGrant('replicas.view') === 'yes' ? <WhoServes /> : null;
}

function WhoServes() {
  const { data, problem, reload } = useResource('listReplicas', {}, ['policies']);
  return (
    <Section title="Who serves">
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null ? (
        problem === null && <Loading label="The replicas are loading" />
      ) : (
        <>
          <ReplicaTable serving={data} />
          {data.store === 'postgres' && <Standbys standbys={data.standbys} />}
        </>
      )}
    </Section>
  );
}

function ReplicaTable({ serving: { items, policies, store } }: { readonly serving: ReplicaReply }) {
  return (
    <TableScroll label="List of replicas">
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Replica</th>
            <th scope="col">Policies</th>
            <th scope="col">Has read</th>
            <th scope="col">Version</th>
            <th scope="col">Serves since</th>
            <th scope="col">Heard of</th>
          </tr>
        </thead>
        <tbody>
          {items.map((replica) => (
            <tr key={replica.slot}>
              <td>
                {store === 'postgres' && `${replica.slot} · `}
                {replica.name}
                {replica.is_self && items.length > 1 && ' (answers you)'}
              </td>
              <td data-label="Policies">
                {replica.is_ready ? (
                  <Badge tone="allow" icon="allow">
                    Ready
                  </Badge>
                ) : (
                  <Badge tone="deny" icon="warning">
                    Not ready
                  </Badge>
                )}
              </td>
              <td data-label="Has read">
                <DigestRead digest={replica.directory_digest} active={policies.digest} />
              </td>
              <td data-label="Version">{replica.version}</td>
              <td data-label="Serves since">
                <Ago at={replica.started_at} />
              </td>
              <td data-label="Heard of">
                <Ago at={replica.seen_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
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
          Standby {name}: {mode ?? 'the database user may not see how it follows'}
          {lagMs !== null && `, ${Math.round(lagMs)} ms behind`}
        </li>
      ))}
    </ul>
  );
}
