// Sessions give a person who has signed in a cookie, and find the person for a cookie. INVARIANT: each
// sign-in makes a session of its own, only the SHA-256 of its cookie is stored, and a person can see and end
// all of their sessions.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import type { Collection } from '../store/contract/collection.ts';
import type { DocumentRemoval } from '../store/contract/documents.ts';
import type { Directory } from './directory.ts';
import { type Actor, type Person, passwordDigestOf, recordName, type Session } from './person.ts';
import { createSecret, digestOf } from './secrets.ts';

const hourMs = 60 * 60 * 1000;
/** How long a session lasts at most, however much it is used. */
const sessionMs = 12 * hourMs;
/** How long a session lasts without use. */
const idleMs = hourMs;
/** The last use is stored to the minute. */
const seenMs = 60_000;
const endedAtOnceMax = 1_000;
/** How long the provider's confirmation counts. */
const signOnFreshMs = 5 * 60 * 1000;

export interface SessionDeps {
  readonly directory: Directory;
  /** The service's master key. */
  readonly masterKey: Uint8Array;
}

export type SignedIn = {
  readonly kind: 'signed-in';
  readonly person: Person;
  /** The cookie's value. */
  readonly secret: string;
  readonly session: Session;
};

/** Starts a session for a person whose sign-in was checked. */
export async function startSession(
  { directory }: Pick<SessionDeps, 'directory'>,
  person: Person,
  { address, way }: Pick<Session, 'address' | 'way'>,
): Promise<SignedIn> {
  const secret = createSecret();
  const nowMs = Math.trunc(directory.clock());
  const session: Session = {
    id: digestOf(secret),
    personId: person.id,
    address,
    way,
    passwordDigest: passwordDigestOf(person),
    createdAtMs: nowMs,
    seenAtMs: nowMs,
    endsAtMs: nowMs + sessionMs,
  };
  await directory.change([directory.sessions.put(session, 0)], {
    who: recordName(person),
    what: 'signed-in',
    subject: person.id,
    before: null,
    after: { address, way },
  });
  return { kind: 'signed-in', person, secret, session };
}

/**
 * Returns the person and session of a cookie; null when the session is over, or when its person is no longer
 * active. Counts as a use of the session.
 */
export async function whoseSession(
  deps: SessionDeps,
  secret: string,
): Promise<(Actor & { readonly session: Session }) | null> {
  const sessionState = await lookAtSession(deps, secret);
  if (sessionState === null) return null;
  const { version, ...actor } = sessionState;
  const { directory } = deps;
  const nowMs = Math.trunc(directory.clock());
  if (nowMs - actor.session.seenAtMs >= seenMs) {
    const seen = { ...actor.session, seenAtMs: nowMs };
    // It does not matter if another request of the same session has stored its use first.
    await directory.documents.write([directory.sessions.put(seen, version)], null);
  }
  return actor;
}

/** Like `whoseSession`, but does not count as a use: the session still ends when it is not used otherwise. */
export async function lookAtSession(
  { directory }: SessionDeps,
  secret: string,
): Promise<(Actor & { readonly session: Session; readonly version: number }) | null> {
  const storedSession = await directory.sessions.find(digestOf(secret));
  if (storedSession === null) return null;
  const { value: session, version } = storedSession;
  if (!isOpen(session, directory.clock())) return null;
  const person = (await directory.people.find(session.personId))?.value;
  if (person === undefined || person.status !== 'active') return null;
  if (session.passwordDigest !== passwordDigestOf(person)) return null;
  if (!(await isVouchedFor(directory, session))) return null;
  return { person, roles: person.roles, session, version };
}

/** A session by single sign-on counts only while the provider's last confirmation is recent enough. */
async function isVouchedFor({ signOns, clock }: Directory, { id, way }: Session): Promise<boolean> {
  if (way !== 'single-sign-on') return true;
  const storedSignOn = await signOns.find(id);
  return storedSignOn !== null && clock() - storedSignOn.value.checkedAtMs < signOnFreshMs;
}

function isOpen({ endsAtMs, seenAtMs }: Session, nowMs: number): boolean {
  return nowMs < endsAtMs && nowMs - seenAtMs < idleMs;
}

export async function signOut({ directory }: SessionDeps, session: Session): Promise<void> {
  const storedSession = await directory.sessions.find(session.id);
  if (storedSession === null) return;
  await directory.documents.write(
    [directory.sessions.remove(storedSession.value, storedSession.version)],
    null,
  );
}

/** Returns the open sessions of a person, the latest first. */
export async function openSessions(
  { sessions, clock }: Directory,
  person: Person,
): Promise<readonly Session[]> {
  const storedSessions = await sessions.list({ parent: person.id, countMax: endedAtOnceMax });
  return storedSessions.map(({ value }) => value).filter((session) => isOpen(session, clock()));
}

/** Returns the name of a session in lists; the id under which it is stored is not shown. */
export function sessionReference({ id }: Session): string {
  return digestOf(`session ${id}`).slice(0, 16);
}

/**
 * Ends a session of a person. The caller is that person, or an admin who has been checked to be allowed to.
 */
export async function endSession(
  directory: Directory,
  { person: by }: Actor,
  { personId, shownId }: { readonly personId: string; readonly shownId: string },
): Promise<'ended' | 'unknown'> {
  const storedSessions = await directory.sessions.list({ parent: personId, countMax: endedAtOnceMax });
  const one = storedSessions.find(({ value }) => sessionReference(value) === shownId);
  if (one === undefined) return 'unknown';
  // The session's last use may have been stored in between; the next try finds the session or not.
  const result = await directory.change([directory.sessions.remove(one.value, one.version)], {
    who: recordName(by),
    what: 'session-ended',
    subject: personId,
    before: { address: one.value.address, way: one.value.way },
    after: null,
  });
  if (result === 'changed') return 'ended';
  return await endSession(directory, { person: by, roles: [] }, { personId, shownId });
}

/**
 * Ends all sessions of a person; their tokens stay. The caller has checked that the actor, an admin, may do
 * so.
 */
export async function endAllSessions(
  directory: Directory,
  { person: by }: Actor,
  personId: string,
): Promise<'ended' | 'unknown' | 'conflict'> {
  if ((await directory.people.find(personId)) === null) return 'unknown';
  const removals = await sessionEndings(directory, personId);
  const result = await directory.change(removals, {
    who: recordName(by),
    what: 'sessions-ended',
    subject: personId,
    before: { sessions: removals.length },
    after: null,
  });
  return result === 'changed' ? 'ended' : 'conflict';
}

/** Returns the removals of every session of a person. */
export async function sessionEndings(
  { sessions }: Directory,
  personId: string,
): Promise<readonly DocumentRemoval[]> {
  const storedSessions = await sessions.list({ parent: personId, countMax: endedAtOnceMax });
  return storedSessions.map(({ value, version }) => sessions.remove(value, version));
}

/** Returns the removals of every session, token and linked chat account of a person. */
export async function endings(directory: Directory, personId: string): Promise<readonly DocumentRemoval[]> {
  const tokens = await directory.tokens.list({ parent: personId, countMax: endedAtOnceMax });
  return [
    ...(await sessionEndings(directory, personId)),
    ...tokens.map(({ value, version }) => directory.tokens.remove(value, version)),
    ...(await ofChat(directory.chatLinks, personId)),
    ...(await ofChat(directory.chatLinkDrafts, personId)),
  ];
}

async function ofChat<T>(
  collection: Pick<Collection<T>, 'list' | 'remove'>,
  parent: string,
): Promise<readonly DocumentRemoval[]> {
  const stored = await collection.list({ parent, countMax: endedAtOnceMax });
  return stored.map(({ value, version }) => collection.remove(value, version));
}

/** Returns the token that a change by cookie must carry in a header; another site's page cannot read it. */
export function csrfToken({ masterKey }: Pick<SessionDeps, 'masterKey'>, session: Session): string {
  return createHmac('sha256', deriveKey(masterKey, 'cross-site requests'))
    .update(session.id)
    .digest('base64url');
}

export function isCsrfToken(deps: Pick<SessionDeps, 'masterKey'>, session: Session, token: string): boolean {
  const [right, sent] = [Buffer.from(csrfToken(deps, session)), Buffer.from(token)];
  return right.length === sent.length && timingSafeEqual(right, sent);
}
