// The number of requests that wait for the person, in the menu, in the bar on a phone and in the title of the
// tab, kept up to date.

import { useEffect } from 'preact/hooks';
import { useResource } from '../api/resource.ts';
import { useGrant } from '../api/session.tsx';
import { usePlace } from '../navigation/navigation.ts';
import { Icon } from '../parts/layout/icon.tsx';
import { setTitleCount } from '../parts/layout/page-title.ts';

/** Returns null when the person approves nothing. Call only once, because it sets the title. */
export function useWaitingCount(): number | null {
  const mayApprove = useGrant('requests.approve') !== 'no';
  const { data } = useResource('listApprovals', mayApprove ? { query: { limit: '1' } } : null, ['approvals']);
  const count = data?.count ?? 0;
  useEffect(() => setTitleCount(count), [count]);
  useEffect(() => () => setTitleCount(0), []);
  return mayApprove ? count : null;
}

export function WaitingCount({ count }: { readonly count: number | null }) {
  if (count === null || count === 0) return null;
  return (
    <span class="menu-count">
      {count}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}

/** Shown in the bar on a phone, where the menu is folded. */
export function InboxLink({ count }: { readonly count: number | null }) {
  const { path } = usePlace();
  if (count === null) return null;
  return (
    <a class="bar-inbox" href="/approvals" aria-current={path === '/approvals' ? 'page' : undefined}>
      <Icon name="inbox" />
      <span class="visually-hidden">Inbox</span>
      <WaitingCount count={count} />
    </a>
  );
}
