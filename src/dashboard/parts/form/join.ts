// Coming in for the first time: what a link made is signed in with at once, and where that does not work the person is
// told that they may sign in themselves.

import { call } from '../../api/client.ts';
import { useSession } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';

export interface Joining {
  readonly email: string;
  readonly password: string;
  /** Where they go on. */
  readonly next: string;
}

/** The function returned signs in. */
export function useJoin(): (joining: Joining) => Promise<void> {
  const { take } = useSession();
  return async ({ email, password, next }) => {
    const session = await call('signIn', { body: { email, password }, isQuiet: true });
    take(session);
    go(next, { replace: true });
  };
}
