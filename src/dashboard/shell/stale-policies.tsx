// A policy directory that no longer loads, on every page of people who may see policies: a change that is not active
// must not go unseen.

import { useResource } from '../api/resource.ts';
import { useGrant } from '../api/session.tsx';
import { usePlace } from '../navigation/navigation.ts';
import { Note } from '../parts/layout/note.tsx';
import { Ago } from '../parts/layout/time.tsx';

/** When the directory last failed to load, as an ISO time; null while it is active, and for people who may not know. */
export function useStaleSince(): string | null {
  const mayView = useGrant('policies.view') !== 'no';
  const { data } = useResource('getPolicyState', mayView ? {} : null, ['policies']);
  return data?.failure?.at ?? null;
}

/** The page of policies tells more. */
export function StalePolicies({ since }: { readonly since: string | null }) {
  const { path } = usePlace();
  return (
    <div role="status">
      {since !== null && path !== '/policies' && (
        <Note tone="deny" icon="warning">
          <p>
            The policies on disk are not active: they failed to load <Ago at={since} />. The last good set
            decides. <a href="/policies">See what is wrong</a>
          </p>
        </Note>
      )}
    </div>
  );
}
