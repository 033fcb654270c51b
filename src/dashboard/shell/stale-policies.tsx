// Warns people who may see policies, on every page, that the policy directory failed to load: a change that
// is not active must be noticed.

import { useResource } from '../api/resource.ts';
import { useGrant } from '../api/session.tsx';
import { usePlace } from '../navigation/navigation.ts';
import { Note } from '../parts/layout/note.tsx';
import { Ago } from '../parts/layout/time.tsx';

/**
 * When the directory last failed to load, as an ISO time; null while its policies are active, and for people
 * who may not know.
 */
export function useStaleSince(): string | null {
  const mayView = useGrant('policies.view') !== 'no';
  const { data } = useResource('getPolicyState', mayView ? {} : null, ['policies']);
  return data?.failure?.at ?? null;
}

/** Not shown on the page of policies, which tells more. */
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
