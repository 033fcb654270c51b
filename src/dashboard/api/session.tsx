// Who is signed in, and what they may do. A session that has ended does not take the page away: one signs in over it
// and what was under way goes on; somebody else who signs in gets a page of their own.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { closeChangeFeed, openChangeFeed } from './change-feed.ts';
import { call, type Reply, setCsrfToken, setHooks } from './client.ts';
import { ApiProblem } from './problem.ts';
import { forgetResources } from './resource.ts';

export type Session = Reply<'getSession'>;

export interface SessionState {
  /** Null where nobody is signed in. */
  readonly session: Session | null;
  /** While true the sign-in dialog covers the page. */
  readonly isAskedAgain: boolean;
  readonly take: (session: Session) => void;
  readonly signOut: () => Promise<void>;
  /** Gives up what waited for signing in again. */
  readonly leave: () => void;
}

const context = createContext<SessionState | null>(null);

export function useSession(): SessionState {
  const state = useContext(context);
  if (state === null) throw new Error('there is no session provider above');
  return state;
}

/** Who is signed in, on a page that is shown to nobody else. */
export function usePerson(): Session['person'] {
  const { session } = useSession();
  if (session === null) throw new Error('this page is for people who are signed in');
  return session.person;
}

/** The function returned looks again at who is signed in, after something of theirs was changed. */
export function useSessionAnew(): () => Promise<void> {
  const { take } = useSession();
  return async () => take(await call('getSession'));
}

/** What the table of roles grants: `own` what belongs to the person alone. */
export function useGrant(operation: string): 'yes' | 'own' | 'no' {
  const { session } = useSession();
  return session?.may[operation] ?? 'no';
}

export function SessionProvider({
  children,
  whileLooking,
  failed,
}: {
  readonly children: ComponentChildren;
  readonly whileLooking: ComponentChildren;
  /** Where it cannot be told whether somebody is signed in. */
  readonly failed: (problem: ApiProblem, retry: () => void) => ComponentChildren;
}) {
  const [session, setSession] = useState<Session | null | 'looking' | ApiProblem>('looking');
  const [isAskedAgain, setAskedAgain] = useState(false);
  const waiting = useRef<((isBack: boolean) => void)[]>([]);
  const current = useRef<Session | null>(null);

  const answer = useCallback((isBack: boolean) => {
    setAskedAgain(false);
    for (const resolve of waiting.current.splice(0)) resolve(isBack);
  }, []);

  const end = useCallback(() => {
    current.current = null;
    setCsrfToken(null);
    closeChangeFeed();
    forgetResources();
    setSession(null);
    answer(false);
  }, [answer]);

  const hold = useCallback(
    (next: Session) => {
      const isOther = current.current !== null && current.current.person.id !== next.person.id;
      if (isOther) {
        // Another person must not see what was on the screen, and nothing of it asks whether to stay.
        end();
        setSession('looking');
        setTimeout(() => window.location.assign('/'));
        return;
      }
      current.current = next;
      setCsrfToken(next.csrf_token);
      setSession(next);
      openChangeFeed();
      answer(true);
    },
    [answer, end],
  );

  const take = useCallback(
    (next: Session) => {
      hold(next);
      tellOtherWindows();
    },
    [hold],
  );

  const signOut = useCallback(async () => {
    await call('signOut', { isQuiet: true }).catch((problem: unknown) => {
      if (!(problem instanceof ApiProblem) || problem.code !== 'not_signed_in') throw problem;
    });
    end();
  }, [end]);

  const look = useCallback(() => {
    setSession('looking');
    call('getSession', { isQuiet: true }).then(hold, (problem: unknown) => {
      const isKnown = problem instanceof ApiProblem && problem.code !== 'not_signed_in';
      setSession(isKnown ? problem : null);
    });
  }, [hold]);

  useEffect(() => {
    const lookAgain = (): Promise<boolean> =>
      call('getSession', { isQuiet: true })
        .then(hold, () => undefined)
        .then(() => true);
    setHooks({
      signInAgain: () => {
        if (current.current === null) return Promise.resolve(false);
        closeChangeFeed();
        setAskedAgain(true);
        return new Promise((resolve) => waiting.current.push(resolve));
      },
      lookAgain,
    });
    look();
    // The cookie is one for all windows: somebody has signed in in another.
    return onOtherWindows(() => {
      if (current.current !== null) void lookAgain();
    });
  }, [hold, look]);

  const value = useMemo(() => {
    const known = session === 'looking' || session instanceof ApiProblem ? null : session;
    return { session: known, isAskedAgain, take, signOut, leave: end };
  }, [session, isAskedAgain, take, signOut, end]);
  const shown =
    session === 'looking' ? whileLooking : session instanceof ApiProblem ? failed(session, look) : children;
  return <context.Provider value={value}>{shown}</context.Provider>;
}

const windows = new BroadcastChannel('writ.session');

function tellOtherWindows(): void {
  windows.postMessage(null);
}

function onOtherWindows(listener: () => void): () => void {
  windows.addEventListener('message', listener);
  return () => windows.removeEventListener('message', listener);
}
