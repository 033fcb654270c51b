// From the provider's answer to a person and a session here. INVARIANT: a person is created or let in only if
// the mapping gives them a role at that moment; their roles and groups here follow the provider at each
// check; an account is made or taken over only by an address that the provider says it has verified, and an
// admin's account is never taken over.

import { createHash } from 'node:crypto';
import { canonicalEmail } from '../../../language/value/email.ts';
import { nameProblem } from '../../../language/value/visible-text.ts';
import { deriveKey, seal, unseal } from '../../agents/sealing.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { RolesAndGroups } from '../access.ts';
import { adminGuard, isAnotherAdmin } from '../change-person.ts';
import { factorRemovals } from '../codes.ts';
import type { Directory } from '../directory.ts';
import { createPersonFromProvider, type Person, personSummary, recordName, type SignOn } from '../person.ts';
import { endings, type SignedIn, startSession } from '../sessions.ts';
import { findProvisioned } from './find-provisioned.ts';
import { mapGroups } from './mapping.ts';
import type { Claims, SsoSettings } from './provider.ts';

export interface SsoDeps {
  readonly directory: Directory;
  /** The service's master key. */
  readonly masterKey: Uint8Array;
  readonly settings: SsoSettings;
}

/** Why a person whom the provider knows is not let in. */
export type SignOnRefusal =
  | 'no-role'
  /** People are provisioned by SCIM, and this person has not been. */
  | 'not-provisioned'
  /** The provider gives no address, an invalid one, or one of which it does not say that it has verified it. */
  | 'no-address'
  | 'disabled'
  /** An account here has this address, and the person may not take it over. */
  | 'address-taken'
  | 'last-admin'
  | 'conflict';

export type SsoEntry = SignedIn | { readonly kind: 'no-access'; readonly why: SignOnRefusal };

const who = 'single sign-on';
const nameLengthMax = 100;

/** Lets in a person whom the provider has just named. */
export async function enter(
  deps: SsoDeps,
  { claims, refreshToken }: { readonly claims: Claims; readonly refreshToken: string | null },
  address: string,
): Promise<SsoEntry> {
  const person = await personOf(deps, claims);
  if (typeof person === 'string') return { kind: 'no-access', why: person };
  const started = await startSession(deps, person, { address, way: 'single-sign-on' });
  const { directory, masterKey } = deps;
  const signOn: SignOn = {
    id: started.session.id,
    personId: person.id,
    subject: claims.subject,
    sealedRefreshToken: refreshToken === null ? null : sealToken(masterKey, started.session.id, refreshToken),
    checkedAtMs: started.session.createdAtMs,
    claimedAtMs: started.session.createdAtMs,
    createdAtMs: started.session.createdAtMs,
    endsAtMs: started.session.endsAtMs,
  };
  // A session by single sign-on without this document lets nobody in.
  await directory.documents.write([directory.signOns.put(signOn, 0)], null);
  return started;
}

/** Returns the person for the provider's subject, by its latest answer; or why there is none. */
export async function personOf(
  { directory, settings }: SsoDeps,
  claims: Claims,
): Promise<Person | SignOnRefusal> {
  const given = mapGroups(settings.rules, claims.groups);
  const identityId = identityOf(settings.issuer, claims.subject);
  if (settings.scimToken !== null) {
    return await findProvisioned({ directory, rules: settings.rules }, { claims, identityId });
  }
  const identity = await directory.identities.find(identityId);
  if (identity !== null) {
    const storedPerson = await directory.people.find(identity.value.personId);
    if (storedPerson === null || storedPerson.value.status !== 'active') return 'disabled';
    return given === null ? 'no-role' : await follow(directory, storedPerson, { claims, given });
  }
  if (given === null) return 'no-role';
  const email = claims.email === null ? null : canonicalEmail(claims.email);
  if (email === null) return 'no-address';
  const present = await directory.people.findByName(email);
  // An agent names its control owner by address, so nobody may become one by an address that they only claim
  // to have.
  if (present === null && !claims.isEmailVerified) return 'no-address';
  if (present === null) return await create(directory, { email, claims, given, identityId });
  return await takeOver(directory, present, { claims, given, identityId });
}

interface MappedClaims {
  readonly claims: Claims;
  readonly given: RolesAndGroups;
}

async function create(
  directory: Directory,
  {
    email,
    claims,
    given,
    identityId,
  }: MappedClaims & { readonly email: string; readonly identityId: string },
): Promise<Person | SignOnRefusal> {
  const nowMs = Math.trunc(directory.clock());
  const person = createPersonFromProvider({ email, name: nameOf(claims), given, nowMs });
  const identity = { id: identityId, personId: person.id, createdAtMs: nowMs };
  const writes = [directory.people.put(person, 0), directory.identities.put(identity, 0)];
  const change = {
    who,
    what: 'person-signed-on',
    subject: person.id,
    before: null,
    after: personSummary(person),
  };
  return (await directory.change(writes, change)) === 'changed' ? person : 'conflict';
}

/**
 * Takes over a local account. Its password, second factors and tokens end, so that a person who is removed at
 * the provider has no other way in.
 */
async function takeOver(
  directory: Directory,
  { value: before, version }: ReadDocument<Person>,
  { claims, given, identityId }: MappedClaims & { readonly identityId: string },
): Promise<Person | SignOnRefusal> {
  if (before.status !== 'active') return 'disabled';
  if (!claims.isEmailVerified || before.roles.includes('admin')) return 'address-taken';
  const nowMs = Math.trunc(directory.clock());
  const after: Person = {
    ...before,
    roles: [...given.roles],
    groups: [...given.groups],
    passwordHash: null,
    totp: null,
    changedAtMs: nowMs,
  };
  const writes = [
    directory.people.put(after, version),
    directory.identities.put({ id: identityId, personId: before.id, createdAtMs: nowMs }, 0),
    ...(await factorRemovals(directory, before.id)),
    ...(await endings(directory, before.id)),
  ];
  const change = { who, what: 'person-taken-over', subject: before.id };
  const result = await directory.change(writes, {
    ...change,
    before: personSummary(before),
    after: personSummary(after),
  });
  return result === 'changed' ? after : 'conflict';
}

/** Gives the person the name, roles and groups that follow from the provider's answer. */
async function follow(
  directory: Directory,
  { value: before, version }: ReadDocument<Person>,
  { claims, given }: MappedClaims,
): Promise<Person | SignOnRefusal> {
  const after: Person = {
    ...before,
    name: nameOf(claims) ?? before.name,
    roles: [...given.roles],
    groups: [...given.groups],
  };
  const [old, next] = [JSON.stringify(personSummary(before)), JSON.stringify(personSummary(after))];
  if (old === next) return before;
  const isAdminLess = before.roles.includes('admin') && !after.roles.includes('admin');
  if (isAdminLess && !(await isAnotherAdmin(directory, new Set([before.id])))) return 'last-admin';
  const changed = { ...after, changedAtMs: Math.trunc(directory.clock()) };
  const writes = [
    ...(isAdminLess ? await adminGuard(directory) : []),
    directory.people.put(changed, version),
  ];
  const result = await directory.change(writes, {
    who,
    what: 'person-changed',
    subject: before.id,
    before: personSummary(before),
    after: personSummary(changed),
  });
  return result === 'changed' ? changed : 'conflict';
}

/** A name that can be shown to people; null when the provider gives none. */
function nameOf({ name }: Claims): string | null {
  return name !== null && nameProblem(name, nameLengthMax) === null ? name : null;
}

function identityOf(issuer: string, subject: string): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex');
}

const tokenPurpose = 'refresh tokens';

export function sealToken(masterKey: Uint8Array, sessionId: string, token: string): string {
  return seal(deriveKey(masterKey, tokenPurpose), sessionId, token);
}

export function openToken(masterKey: Uint8Array, { id, sealedRefreshToken }: SignOn): string | null {
  if (sealedRefreshToken === null) return null;
  return unseal(deriveKey(masterKey, tokenPurpose), id, sealedRefreshToken);
}

/** Ends a session that the provider no longer confirms. */
export async function endSignOn(
  directory: Directory,
  signOn: ReadDocument<SignOn>,
  reason: string,
): Promise<void> {
  const session = await directory.sessions.find(signOn.value.id);
  const person = await directory.people.find(signOn.value.personId);
  const removal = directory.signOns.remove(signOn.value, signOn.version);
  if (session === null) return void (await directory.documents.write([removal], null));
  await directory.change([removal, directory.sessions.remove(session.value, session.version)], {
    who: person === null ? who : `${who} of ${recordName(person.value)}`,
    what: 'session-ended',
    subject: signOn.value.personId,
    before: { address: session.value.address, way: session.value.way },
    after: { reason },
  });
}
