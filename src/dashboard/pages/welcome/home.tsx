// The start page: leads to the page of the person's work.

import { useEffect } from 'preact/hooks';
import { useSession } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import { Loading } from '../../parts/layout/note.tsx';

const order = [
  ['overview.view', '/overview'],
  ['requests.approve', '/approvals'],
  ['requests.view', '/requests'],
] as const;

export default function Home() {
  const { session } = useSession();
  useEffect(() => {
    const [, address] = order.find(([operation]) => session !== null && operation in session.permissions) ?? [
      null,
      '/account',
    ];
    go(address, { replace: true });
  }, [session]);
  return <Loading />;
}
