// Finds the person that the provider names at a sign-in, when people are provisioned by SCIM. INVARIANT:
// nobody signs in, or gets an account, without having been provisioned; an account is matched by the id that
// both SCIM and the sign-in give, or by an address that the provider has verified.

import { canonicalEmail } from '../../../language/value/email.ts';
import type { RolesAndGroups } from '../access.ts';
import type { Directory } from '../directory.ts';
import { type Person, type ProvisionedPerson, recordName } from '../person.ts';
import { mapGroups } from './mapping.ts';
import type { Claims } from './provider.ts';
import { changeProvisioned, groupNamesOf, type ProvisionDeps, readDirectoryState } from './provision.ts';

export type LookupRefusal = 'not-provisioned' | 'no-role' | 'disabled' | 'address-taken' | 'conflict';

/** Returns the person, or why there is none. `identityId` is the digest of issuer and subject. */
export async function findProvisioned(
  deps: ProvisionDeps,
  { claims, identityId }: { readonly claims: Claims; readonly identityId: string },
): Promise<Person | LookupRefusal> {
  const { directory, rules } = deps;
  const identity = await directory.identities.find(identityId);
  const { people, groups } = await readDirectoryState(directory);
  const provisioned = await namedBy(
    directory,
    [...people.values()].map(({ value }) => value),
    {
      claims,
      personId: identity?.value.personId ?? null,
    },
  );
  if (provisioned === null) return identity === null ? 'not-provisioned' : 'disabled';
  if (!provisioned.isActive) return 'disabled';
  const given = mapGroups(rules, groupNamesOf(groups, provisioned.id));
  const person = await settled(deps, provisioned, given);
  if (typeof person === 'string') return person;
  if (person.status !== 'active') return 'disabled';
  return identity === null ? await link(directory, person, identityId) : person;
}

/**
 * Returns the person, after they have been given what their groups give; `sso.roles` and the person may have
 * changed since the last provisioning.
 */
async function settled(
  deps: ProvisionDeps,
  provisioned: ProvisionedPerson,
  given: RolesAndGroups | null,
): Promise<Person | 'no-role' | 'conflict'> {
  const find = async (personId: string | null) =>
    personId === null ? null : ((await deps.directory.people.find(personId))?.value ?? null);
  const person = await find(provisioned.personId);
  const isSettled =
    given === null
      ? !provisioned.hasAccess
      : provisioned.hasAccess &&
        String(person?.roles) === String(given.roles) &&
        String(person?.groups) === String(given.groups);
  if (!isSettled) {
    const result = await changeProvisioned(deps, provisioned.id, (before) => before);
    if (result.kind !== 'done') return 'conflict';
  }
  if (given === null) return 'no-role';
  const personId = (await deps.directory.provisioned.find(provisioned.id))?.value.personId ?? null;
  return (isSettled ? person : await find(personId)) ?? 'conflict';
}

interface ClaimedPerson {
  readonly claims: Claims;
  /** The person that the subject is linked to; null when there is no link. */
  readonly personId: string | null;
}

async function namedBy(
  directory: Directory,
  all: readonly ProvisionedPerson[],
  { claims, personId: known }: ClaimedPerson,
): Promise<ProvisionedPerson | null> {
  if (known !== null) return all.find(({ personId }) => personId === known) ?? null;
  const ofId = all.filter(({ externalId }) => externalId !== null && externalId === claims.externalId);
  // An id that two people share identifies neither of them.
  if (ofId.length > 0) return ofId.length === 1 ? (ofId[0] ?? null) : null;
  const email = claims.email === null || !claims.isEmailVerified ? null : canonicalEmail(claims.email);
  if (email === null) return null;
  const person = await directory.people.findByName(email);
  return all.find(({ personId }) => personId !== null && personId === person?.value.id) ?? null;
}

/**
 * Links the provider's subject to a person. A person has one subject only: a second subject with the same
 * address is somebody else.
 */
async function link(
  directory: Directory,
  person: Person,
  identityId: string,
): Promise<Person | 'address-taken' | 'conflict'> {
  const others = await directory.identities.list({ parent: person.id, countMax: 1 });
  if (others.length > 0) return 'address-taken';
  const createdAtMs = Math.trunc(directory.clock());
  const identity = { id: identityId, personId: person.id, createdAtMs };
  const result = await directory.change([directory.identities.put(identity, 0)], {
    who: 'single sign-on',
    what: 'person-linked',
    subject: person.id,
    before: null,
    after: { person: recordName(person) },
  });
  return result === 'changed' ? person : 'conflict';
}
