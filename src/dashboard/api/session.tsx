// Keeps who is signed in and what they may do. A session that has ended does not take the page away: the
// person signs in over it, and pending calls go on. Another person who signs in gets a fresh page.

import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../api/operations.ts';
import { call, setCsrfToken, setHooks } from './client.ts';
import { closeEventStream, openEventStream } from './event-stream.ts';
import { ApiProblem } from './problem.ts';
import { forgetResources } from './resource.ts';

export type Session = Reply<'getSession'>;

export interface SessionState {
  /** Null when nobody is signed in. */
  readonly session: Session | null;
  /** While true, the sign-in dialog covers the page. */
  readonly isAskedAgain: boolean;
  readonly take: (session: Session) => void;
  readonly signOut: () => Promise<void>;
  /** Gives up the calls that waited for a new sign-in. */
  readonly leave: () => void;
}

const context = createContext<SessionState | null>(null);

export function useSession(): SessionState {
  const state = useContext(context);
  if (state === null) throw new Error('no session provider around this component');
  return state;
}

/**
 * Returns the person who is signed in. Throws when nobody is, so only pages behind the sign-in may use it.
 */
export function usePerson(): Session['person'] {
  const { session } = useSession();
  if (session === null) throw new Error('nobody is signed in');
  return session.person;
}

/**
 * Returns a function that loads the session again, for use after a person has changed something of their own.
 */
export function useReloadSession(): () => Promise<void> {
  const { take } = useSession();
  return async () => take(await call('getSession'));
}

/** What the table of roles grants; `own`: only what belongs to the person. */
export function useGrant(operation: string): 'yes' | 'own' | 'no' {
  const { session } = useSession();
  return session?.permissions[operation] ?? 'no';
}

export function SessionProvider({
  children,
  whileLooking,
  failed,
}: {
  readonly children: ComponentChildren;
  readonly whileLooking: ComponentChildren;
  /** Shown when the service does not tell whether somebody is signed in. */
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
    closeEventStream();
    forgetResources();
    setSession(null);
    answer(false);
  }, [answer]);

  const hold = useCallback(
    (next: Session) => {
      const isOther = current.current !== null && current.current.person.id !== next.person.id;
      if (isOther) {
        // Another person must not see what was on the screen, and no unsaved-changes question may appear.
        end();
        setSession('looking');
        setTimeout(() => window.location.assign('/'));
        return;
      }
      current.current = next;
      setCsrfToken(next.csrf_token);
      setSession(next);
      openEventStream();
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

  const reloadSession = useCallback(() => {
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
        closeEventStream();
        setAskedAgain(true);
        return new Promise((resolve) => waiting.current.push(resolve));
      },
      lookAgain,
    });
    reloadSession();
    // All windows share one cookie, so a sign-in in another window counts here too.
    return onOtherWindows(() => {
      if (current.current !== null) void lookAgain();
    });
  }, [hold, reloadSession]);

  const value = useMemo(() => {
    const known = session === 'looking' || session instanceof ApiProblem ? null : session;
    return { session: known, isAskedAgain, take, signOut, leave: end };
  }, [session, isAskedAgain, take, signOut, end]);
  const shown =
    session === 'looking'
      ? whileLooking
      : session instanceof ApiProblem
        ? failed(session, reloadSession)
        : children;
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
