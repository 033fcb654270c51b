// One-time codes of a person: offered, set up by the first code, and removed. INVARIANT: the caller has had
// the person prove who they are; the person is notified of the change.

import { deriveKey, seal } from '../agents/sealing.ts';
import type { DocumentWrite } from '../store/contract/documents.ts';
import { asProved, type Directory } from './directory.ts';
import { type NoticeKind, newNotice } from './notices.ts';
import { passkeysMax } from './passkeys.ts';
import { type Actor, type Person, recordName } from './person.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { sessionEndings } from './sessions.ts';
import { type SignInDeps, totpPurpose } from './sign-in.ts';
import { acceptTotp, createTotpSecret, totpUri } from './totp.ts';

/**
 * Returns a secret for an authenticator app. The secret counts once a code made from it has been sent; the
 * service stores nothing before.
 */
export function offerTotp(person: Person): { readonly secret: string; readonly uri: string } {
  const secret = createTotpSecret();
  return { secret, uri: totpUri(secret, { issuer: 'Writ', account: person.email }) };
}

export type CodeSetupResult =
  /** The recovery codes are shown only this once. */
  | { readonly kind: 'set-up'; readonly recoveryCodes: readonly string[] }
  | { readonly kind: 'wrong' | 'conflict' };

/** Sets one-time codes up, by the first code, and makes recovery codes. */
export async function confirmTotp(
  deps: SignInDeps,
  person: Person,
  { secret, code }: { readonly secret: string; readonly code: string },
): Promise<CodeSetupResult> {
  const { directory, masterKey } = deps;
  const isSecret = /^[A-Z2-7]{32}$/.test(secret);
  const nowMs = directory.clock();
  const step = isSecret ? acceptTotp(code, { secret, lastStep: null, nowMs }) : 'wrong';
  if (typeof step !== 'number') return { kind: 'wrong' };
  const storedPerson = await asProved(directory, person);
  // Codes that are already set up have to be removed first, with one of them as proof.
  if (storedPerson === null || storedPerson.value.totp !== null) return { kind: 'conflict' };
  const sealedSecret = seal(deriveKey(masterKey, totpPurpose), person.id, secret);
  const totp = { sealedSecret, lastStep: step, setUpAtMs: Math.trunc(nowMs) };
  const { codes: recoveryCodes, put } = await newRecoveryCodes(deps, person.id);
  const result = await changeTotp(deps, {
    actor: { person, roles: person.roles },
    storedPerson,
    totp,
    what: 'codes-set-up',
    more: [put],
  });
  return result ? { kind: 'set-up', recoveryCodes } : { kind: 'conflict' };
}

/** Removes the person's own one-time codes. */
export async function removeTotp(deps: SignInDeps, actor: Actor): Promise<'removed' | 'conflict'> {
  const storedPerson = await asProved(deps.directory, actor.person);
  if (storedPerson === null) return 'conflict';
  const more = await recoveryRemovals(deps.directory, actor.person.id);
  const change = { actor, storedPerson, totp: null, what: 'codes-removed', more } as const;
  return (await changeTotp(deps, change)) ? 'removed' : 'conflict';
}

/** An admin helps a person who has lost their second factors: removes all of them, and ends all sessions. */
export async function resetFactors(
  deps: SignInDeps,
  actor: Actor,
  personId: string,
): Promise<'removed' | 'unknown' | 'conflict'> {
  const { directory } = deps;
  const storedPerson = await directory.people.find(personId);
  if (storedPerson === null) return 'unknown';
  const more = [
    ...(await factorRemovals(directory, personId)),
    ...(await sessionEndings(directory, personId)),
  ];
  const isDone = await changeTotp(deps, {
    actor,
    storedPerson,
    totp: null,
    what: 'factors-reset',
    more,
  });
  return isDone ? 'removed' : 'conflict';
}

/** Returns the removals of passkeys and recovery codes; one-time codes are part of the person. */
export async function factorRemovals(
  directory: Directory,
  personId: string,
): Promise<readonly DocumentWrite[]> {
  const passkeys = await directory.passkeys.list({ parent: personId, countMax: passkeysMax });
  return [
    ...passkeys.map(({ value, version }) => directory.passkeys.remove(value, version)),
    ...(await recoveryRemovals(directory, personId)),
  ];
}

async function recoveryRemovals(
  { recoveryCodes }: Directory,
  personId: string,
): Promise<readonly DocumentWrite[]> {
  const storedRecoveryCodes = await recoveryCodes.find(personId);
  return storedRecoveryCodes === null
    ? []
    : [recoveryCodes.remove(storedRecoveryCodes.value, storedRecoveryCodes.version)];
}

interface TotpChange {
  readonly actor: Actor;
  readonly storedPerson: { readonly value: Person; readonly version: number };
  readonly totp: Person['totp'];
  readonly what: NoticeKind;
  readonly more: readonly DocumentWrite[];
}

async function changeTotp(
  { directory, notify }: SignInDeps,
  { actor, storedPerson: found, totp, what, more }: TotpChange,
): Promise<boolean> {
  const { value: person, version } = found;
  const notice = newNotice(directory, person, { what });
  const put = directory.people.put({ ...person, totp }, version);
  const result = await directory.change([put, directory.notices.put(notice, 0), ...more], {
    who: recordName(actor.person),
    what,
    subject: person.id,
    before: { has_totp: person.totp !== null },
    after: { has_totp: totp !== null },
  });
  if (result === 'changed') notify(notice, person);
  return result === 'changed';
}
