// Signs a person in with the account that a link has just created. If that fails, the caller tells the person
// to try again.

import { call } from '../../api/client.ts';
import { useSession } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';

export interface JoinForm {
  readonly email: string;
  readonly password: string;
  /** The address to go to after the sign-in. */
  readonly next: string;
}

/** Returns a function that signs the person in. */
export function useJoin(): (joining: JoinForm) => Promise<void> {
  const { take } = useSession();
  return async ({ email, password, next }) => {
    const session = await call('signIn', { body: { email, password }, isQuiet: true });
    take(session);
    go(next, { replace: true });
  };
}
