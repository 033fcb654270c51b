// The way back in for a person who has lost their password: a link by which they set a new one, made by an
// admin, or on the machine itself for an admin. INVARIANT: a link works once and for a day, only while its
// maker may make it and while the password it replaces is the present one; it removes second factors only if
// its maker has chosen so.

import { randomUUID } from 'node:crypto';
import type { InvalidInput } from '../access.ts';
import type { RetryDelay } from '../attempts.ts';
import { factorRemovals } from '../codes.ts';
import type { Directory } from '../directory.ts';
import { newNotice } from '../notices.ts';
import { grantOf } from '../operations.ts';
import { hashPassword, passwordProblem } from '../passwords.ts';
import { type Actor, type Person, passwordDigestOf, type ResetLink, recordName } from '../person.ts';
import { createSecret, digestOf } from '../secrets.ts';
import { endings } from '../sessions.ts';
import type { SignInDeps } from '../sign-in.ts';

const resetLinkMs = 24 * 60 * 60 * 1000;
const linksMax = 20;
const peopleAtOnce = 200;

/** The maker of a link: a person in a session, or the user of the machine that holds the store. */
export type LinkMaker =
  | { readonly kind: 'person'; readonly actor: Actor }
  | { readonly kind: 'machine'; readonly user: string };

export interface ResetLinkDraft {
  readonly personId: string;
  /** Whether the link also removes one-time codes, recovery codes and passkeys. */
  readonly removesFactors: boolean;
}

export type NewResetLink =
  | {
      readonly kind: 'made';
      readonly person: Person;
      readonly link: ResetLink;
      /** The secret of the link, shown once. */
      readonly secret: string;
    }
  /** `signs-on`: the person signs in by single sign-on, and the provider identifies them. */
  | { readonly kind: 'unknown' | 'disabled' | 'signs-on' | 'conflict' };

/**
 * Makes a link; the person's earlier link stops working. The caller has checked that the maker may make it.
 */
export async function makeResetLink(
  directory: Directory,
  maker: LinkMaker,
  { personId, removesFactors }: ResetLinkDraft,
): Promise<NewResetLink> {
  const storedPerson = await directory.people.find(personId);
  if (storedPerson === null) return { kind: 'unknown' };
  const { value: person, version } = storedPerson;
  if (person.status !== 'active') return { kind: 'disabled' };
  const identities = await directory.identities.list({ parent: personId, countMax: 1 });
  if (maker.kind === 'person' && identities.length > 0) return { kind: 'signs-on' };
  const secret = createSecret();
  const createdAtMs = Math.trunc(directory.clock());
  const link: ResetLink = {
    id: randomUUID(),
    digest: digestOf(secret),
    personId,
    removesFactors,
    passwordDigest: passwordDigestOf(person),
    madeBy: maker.kind === 'person' ? maker.actor.person.id : null,
    createdAtMs,
    endsAtMs: createdAtMs + resetLinkMs,
  };
  const notice = newNotice(directory, person, { what: 'reset-link-made' });
  const writes = [
    ...(await linkRemovals(directory, personId)),
    directory.resetLinks.put(link, 0),
    directory.notices.put(notice, 0),
    // The person is written, too, so that of two links made at once, one is refused.
    directory.people.put(person, version),
  ];
  const result = await directory.change(writes, {
    who: maker.kind === 'person' ? recordName(maker.actor.person) : maker.user,
    what: 'reset-link-made',
    subject: personId,
    before: null,
    after: { ends_at_ms: link.endsAtMs, removes_second_factors: removesFactors },
  });
  return result === 'changed' ? { kind: 'made', person, link, secret } : { kind: 'conflict' };
}

/** Returns the active admins, who can be let in again on the machine itself. */
export async function activeAdmins({ people }: Directory): Promise<readonly Person[]> {
  const admins: Person[] = [];
  for (let after: Person | null = null; ; ) {
    const page: readonly Person[] = (await people.list({ countMax: peopleAtOnce, after })).map(
      ({ value }) => value,
    );
    admins.push(...page.filter(({ status, roles }) => status === 'active' && roles.includes('admin')));
    if (page.length < peopleAtOnce) return admins;
    after = page.at(-1) ?? null;
  }
}

async function linkRemovals({ resetLinks }: Directory, personId: string) {
  const earlier = await resetLinks.list({ parent: personId, countMax: linksMax });
  return earlier.map(({ value, version }) => resetLinks.remove(value, version));
}

/**
 * Returns a link and its person; null when there is no such link, when it was used or has ended, or when its
 * person or its maker has lost access.
 */
export async function lookAtResetLink(directory: Directory, secret: string) {
  const link = await directory.resetLinks.findByName(digestOf(secret));
  if (link === null || directory.clock() >= link.value.endsAtMs) return null;
  const storedPerson = await directory.people.find(link.value.personId);
  if (storedPerson?.value.status !== 'active') return null;
  if (passwordDigestOf(storedPerson.value) !== link.value.passwordDigest) return null;
  return (await isBacked(directory, link.value)) ? { link, person: storedPerson } : null;
}

async function isBacked({ people }: Directory, { madeBy }: ResetLink): Promise<boolean> {
  if (madeBy === null) return true;
  const maker = (await people.find(madeBy))?.value;
  return maker?.status === 'active' && grantOf(maker.roles, 'people.change') === 'yes';
}

export type PasswordReset =
  | { readonly kind: 'reset'; readonly person: Person }
  | InvalidInput
  | RetryDelay
  | { readonly kind: 'no-link' };

/** Sets a new password by a link, and ends all sessions and tokens of the person. */
export async function resetPassword(
  { directory, notify }: SignInDeps,
  { secret, password }: { readonly secret: string; readonly password: string },
): Promise<PasswordReset> {
  const resetLink = await lookAtResetLink(directory, secret);
  if (resetLink === null) return { kind: 'no-link' };
  const { link, person } = resetLink;
  const detail = await passwordProblem(password, person.value);
  if (detail !== null) return { kind: 'invalid', problems: [{ field: 'password', detail }] };
  const passwordHash = await hashPassword(password);
  if (passwordHash === null) return { kind: 'wait', waitMs: 1_000 };
  const { removesFactors } = link.value;
  const changed: Person = {
    ...person.value,
    passwordHash,
    totp: removesFactors ? null : person.value.totp,
    changedAtMs: Math.trunc(directory.clock()),
  };
  const notice = newNotice(directory, person.value, { what: 'password-reset' });
  const writes = [
    directory.people.put(changed, person.version),
    directory.resetLinks.remove(link.value, link.version),
    directory.notices.put(notice, 0),
    ...(removesFactors ? await factorRemovals(directory, changed.id) : []),
    ...(await endings(directory, changed.id)),
  ];
  const result = await directory.change(writes, {
    who: recordName(person.value),
    what: 'password-reset',
    subject: changed.id,
    before: { has_totp: person.value.totp !== null },
    after: { has_totp: changed.totp !== null, link_made_by: link.value.madeBy ?? 'the command line' },
  });
  // Another call has used the link, or the person has changed meanwhile; a link that is still valid can be
  // used again.
  if (result !== 'changed') return { kind: 'no-link' };
  notify(notice, changed);
  return { kind: 'reset', person: changed };
}
