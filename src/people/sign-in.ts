// From a password and a one-time code, or a passkey, to a session, and from a session's cookie to who acts.
// INVARIANT: each sign-in makes a session of its own, a password change ends all of them, and whether an address is
// known shows neither in the answer nor in how long it takes.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey, seal, unseal } from '../agents/sealing.ts';
import type { Attempts } from './attempts.ts';
import type { Read } from './collection.ts';
import type { Directory } from './directory.ts';
import { checkPassword, hashPassword, passwordProblem } from './passwords.ts';
import { type Actor, type Person, recordName, type Session } from './person.ts';
import { createSecret, digestOf } from './secrets.ts';
import { acceptTotp, createTotpSecret, totpUri } from './totp.ts';

export interface SignInDeps {
  readonly directory: Directory;
  readonly attempts: Attempts;
  /** The service's. */
  readonly masterKey: Uint8Array;
}

const hourMs = 60 * 60 * 1000;
/** A session ends after this time, however much it is used, */
const sessionMs = 12 * hourMs;
/** and when nobody has used it for this long. */
const idleMs = hourMs;
/** The last use is stored to the minute. */
const seenMs = 60_000;

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The six digits; null where none were sent. */
  readonly code: string | null;
  /** The client's, against guessing. */
  readonly address: string;
}

/** `wrong`: address, password or code are. `code-needed`: the password is right, and the person has set codes up. */
export type Refused =
  | { readonly kind: 'wrong' }
  | { readonly kind: 'code-needed' }
  | { readonly kind: 'wait'; readonly waitMs: number };

export type SignedIn = {
  readonly kind: 'signed-in';
  readonly person: Person;
  /** The cookie's value. */
  readonly secret: string;
  readonly session: Session;
};

export async function signIn(deps: SignInDeps, credentials: Credentials): Promise<SignedIn | Refused> {
  const found = await deps.directory.people.findByName(credentials.email);
  const checked = await checkCredentials(deps, found, credentials);
  return checked.kind === 'right' ? await startSession(deps, checked.person, credentials.address) : checked;
}

/** Whether it is this person again, here and now: what a step-up asks. */
export async function reauthenticate(
  deps: SignInDeps,
  person: Person,
  { password, code, address }: Omit<Credentials, 'email'>,
): Promise<
  | { readonly kind: 'right'; readonly person: Person }
  | Refused
  | { readonly kind: 'second-factor-not-set-up' }
> {
  const found = await deps.directory.people.find(person.id);
  const checked = await checkCredentials(deps, found, { email: person.email, password, code, address });
  // A password alone may have been stolen with the session.
  if (checked.kind === 'right' && checked.person.totp === null) return { kind: 'second-factor-not-set-up' };
  return checked;
}

async function checkCredentials(
  deps: SignInDeps,
  found: Read<Person> | null,
  { email, password, code, address }: Credentials,
): Promise<{ readonly kind: 'right'; readonly person: Person } | Refused> {
  const { directory, attempts } = deps;
  const nowMs = directory.clock();
  const subjects = [`account ${email.toLowerCase()}`, `address ${address}`];
  const waitMs = attempts.waitMs(subjects, nowMs);
  if (waitMs > 0) return { kind: 'wait', waitMs };
  const wrong = (): Refused => {
    attempts.failed(subjects, nowMs);
    return { kind: 'wrong' };
  };
  const isPassword = await checkPassword(password, found?.value.passwordHash ?? null);
  if (found === null || !isPassword || found.value.status !== 'active') return wrong();
  const { value: person } = found;
  if (person.totp !== null) {
    if (code === null) return { kind: 'code-needed' };
    const step = acceptTotp(code, { ...openTotp(deps, person.id, person.totp), nowMs });
    if (step === null) return wrong();
    const used: Person = { ...person, totp: { ...person.totp, lastStep: step } };
    // Of two who send the same code at once, one finds another version, and the code used.
    const put = directory.people.put(used, found.version);
    if ((await directory.documents.write([put], null)) !== 'changed') return wrong();
  }
  attempts.succeeded(subjects[0] ?? '');
  return { kind: 'right', person };
}

function openTotp(
  { masterKey }: SignInDeps,
  personId: string,
  { sealedSecret, lastStep }: NonNullable<Person['totp']>,
) {
  const secret = unseal(deriveKey(masterKey, totpPurpose), personId, sealedSecret);
  if (secret === null) throw new Error('a one-time code secret that this service sealed must open');
  return { secret, lastStep };
}

const totpPurpose = 'one-time codes';

/** A new session of somebody who has shown who they are. */
export async function startSession(
  { directory }: SignInDeps,
  person: Person,
  address: string,
): Promise<SignedIn> {
  const secret = createSecret();
  const nowMs = Math.trunc(directory.clock());
  const session: Session = {
    ...{ id: digestOf(secret), personId: person.id, address },
    ...{ createdAtMs: nowMs, seenAtMs: nowMs, endsAtMs: nowMs + sessionMs },
  };
  await directory.change([directory.sessions.put(session, 0)], {
    ...{ who: recordName(person), what: 'signed-in', subject: person.id },
    ...{ before: null, after: { address } },
  });
  return { kind: 'signed-in', person, secret, session };
}

/** Whose cookie this is; null where the session is over, or its person may not come in any more. */
export async function whoseSession(
  deps: SignInDeps,
  secret: string,
): Promise<(Actor & { readonly session: Session }) | null> {
  const found = await lookAtSession(deps, secret);
  if (found === null) return null;
  const { version, ...actor } = found;
  const { directory } = deps;
  const nowMs = Math.trunc(directory.clock());
  if (nowMs - actor.session.seenAtMs >= seenMs) {
    const seen = { ...actor.session, seenAtMs: nowMs };
    // Whether another request of the same session was faster does not matter.
    await directory.documents.write([directory.sessions.put(seen, version)], null);
  }
  return actor;
}

/** As `whoseSession`, but a look is no use of the session, which goes on towards its end. */
export async function lookAtSession(
  { directory }: SignInDeps,
  secret: string,
): Promise<(Actor & { readonly session: Session; readonly version: number }) | null> {
  const found = await directory.sessions.find(digestOf(secret));
  if (found === null) return null;
  const { value: session, version } = found;
  const nowMs = Math.trunc(directory.clock());
  if (nowMs >= session.endsAtMs || nowMs - session.seenAtMs >= idleMs) return null;
  const person = (await directory.people.find(session.personId))?.value;
  if (person === undefined || person.status !== 'active') return null;
  return { person, roles: person.roles, session, version };
}

export async function signOut({ directory }: SignInDeps, session: Session): Promise<void> {
  const found = await directory.sessions.find(session.id);
  if (found === null) return;
  await directory.documents.write([directory.sessions.remove(found.value, found.version)], null);
}

/** The token that a change by cookie must carry in a header, which another site's page cannot read. */
export function csrfToken({ masterKey }: SignInDeps, session: Session): string {
  return createHmac('sha256', deriveKey(masterKey, 'cross-site requests'))
    .update(session.id)
    .digest('base64url');
}

export function isCsrfToken(deps: SignInDeps, session: Session, token: string): boolean {
  const [right, sent] = [Buffer.from(csrfToken(deps, session)), Buffer.from(token)];
  return right.length === sent.length && timingSafeEqual(right, sent);
}

export type PasswordChanged =
  | { readonly kind: 'changed'; readonly person: Person }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'conflict' }
  | Refused;

/** Sets a new password, and ends all sessions and tokens of the person: whoever knew the old one is out. */
export async function changePassword(
  deps: SignInDeps,
  person: Person,
  {
    password,
    newPassword,
    address,
  }: { readonly password: string; readonly newPassword: string; readonly address: string },
): Promise<PasswordChanged> {
  const { directory } = deps;
  const found = await directory.people.find(person.id);
  const nowMs = Math.trunc(directory.clock());
  const subjects = [`account ${person.email.toLowerCase()}`, `address ${address}`];
  const waitMs = deps.attempts.waitMs(subjects, nowMs);
  if (waitMs > 0) return { kind: 'wait', waitMs };
  if (found === null || !(await checkPassword(password, found.value.passwordHash))) {
    deps.attempts.failed(subjects, nowMs);
    return { kind: 'wrong' };
  }
  const detail = passwordProblem(newPassword, [person.email, person.name]);
  if (detail !== null) return { kind: 'invalid', detail };
  const changed: Person = {
    ...found.value,
    passwordHash: await hashPassword(newPassword),
    changedAtMs: nowMs,
  };
  const result = await directory.change(
    [directory.people.put(changed, found.version), ...(await endings(directory, person.id))],
    { who: recordName(person), what: 'password-changed', subject: person.id, before: null, after: null },
  );
  return result === 'changed' ? { kind: 'changed', person: changed } : { kind: 'conflict' };
}

const endedAtOnceMax = 1_000;

/** Ends every session and token of a person. */
export async function endings({ sessions, tokens }: Directory, personId: string) {
  const page = { parent: personId, countMax: endedAtOnceMax };
  return [
    ...(await sessions.list(page)).map(({ value, version }) => sessions.remove(value, version)),
    ...(await tokens.list(page)).map(({ value, version }) => tokens.remove(value, version)),
  ];
}

/** A secret to be put into an app; it counts once a code of it has been sent. The service keeps nothing of it till then. */
export function offerTotp(person: Person): { readonly secret: string; readonly uri: string } {
  const secret = createTotpSecret();
  return { secret, uri: totpUri(secret, { issuer: 'Writ', account: person.email }) };
}

/** Sets codes up, by the first one. */
export async function confirmTotp(
  { directory, masterKey }: SignInDeps,
  person: Person,
  { secret, code }: { readonly secret: string; readonly code: string },
): Promise<'set-up' | 'wrong' | 'conflict'> {
  const isSecret = /^[A-Z2-7]{32}$/.test(secret);
  const step = isSecret ? acceptTotp(code, { secret, lastStep: null, nowMs: directory.clock() }) : null;
  const found = await directory.people.find(person.id);
  if (step === null || found === null) return 'wrong';
  // Who holds a session must not put a code of their own in the place of the person's.
  if (found.value.totp !== null) return 'conflict';
  const sealedSecret = seal(deriveKey(masterKey, totpPurpose), person.id, secret);
  const changed: Person = { ...found.value, totp: { sealedSecret, lastStep: step } };
  const result = await directory.change([directory.people.put(changed, found.version)], {
    ...{ who: recordName(person), what: 'codes-set-up', subject: person.id },
    ...{ before: { has_totp: false }, after: { has_totp: true } },
  });
  return result === 'changed' ? 'set-up' : 'conflict';
}

/** Gives codes up; the caller has asked for the person to re-authenticate, or is an admin helping somebody out. */
export async function removeTotp(
  directory: Directory,
  actor: Actor,
  personId: string,
): Promise<'removed' | 'conflict'> {
  const found = await directory.people.find(personId);
  if (found === null) return 'conflict';
  const result = await directory.change(
    [directory.people.put({ ...found.value, totp: null }, found.version)],
    {
      ...{ who: recordName(actor.person), what: 'codes-removed', subject: personId },
      ...{ before: { has_totp: found.value.totp !== null }, after: { has_totp: false } },
    },
  );
  return result === 'changed' ? 'removed' : 'conflict';
}
