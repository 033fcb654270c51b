// Signs a person in with the account that a link has just created; where that fails, the person is told to sign in
// themselves.

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
