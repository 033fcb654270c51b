// Turns a user of SCIM (RFC 7643, section 4.1) into what is kept of a person, and back. Attributes that are
// not kept are ignored, as the standard allows.

import type { ProvisionedGroup, ProvisionedPerson } from '../../../people/person.ts';
import type { PersonDraft } from '../../../people/sso/provision.ts';
import { invalidValue } from './scim-error.ts';
import { type Assignment, equalTo } from './scim-patch.ts';
import {
  booleanOf,
  memberOf,
  objectOf,
  requiredText,
  type ScimObject,
  scimList,
  scimText,
} from './scim-values.ts';

export const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';

/**
 * Reads a whole user; an attribute that is absent counts as empty. Only `active` then stays as it is, so that
 * leaving it out lets nobody in again; a new user is active.
 */
export function readUser(body: unknown, before: PersonDraft | null): PersonDraft {
  const user = objectOf(body, 'the body');
  const name = objectOf(memberOf(user, 'name') ?? {}, '`name`');
  const active = memberOf(user, 'active');
  return {
    userName: requiredText(memberOf(user, 'userName'), 'userName'),
    externalId: scimText(memberOf(user, 'externalId'), 'externalId'),
    displayName: scimText(memberOf(user, 'displayName'), 'displayName'),
    formattedName: scimText(memberOf(name, 'formatted'), 'name.formatted'),
    givenName: scimText(memberOf(name, 'givenName'), 'name.givenName'),
    familyName: scimText(memberOf(name, 'familyName'), 'name.familyName'),
    email: mainEmail(memberOf(user, 'emails')),
    isActive:
      active === undefined || active === null ? (before?.isActive ?? true) : booleanOf(active, 'active'),
  };
}

/** The primary e-mail address, or else the first; null when there is none. */
function mainEmail(value: unknown): string | null {
  const emails = scimList(value).map((one) =>
    typeof one === 'string' ? { value: one } : objectOf(one, 'an e-mail address'),
  );
  const primary = emails.find((one) => String(memberOf(one, 'primary')).toLowerCase() === 'true');
  return scimText(memberOf(primary ?? emails[0] ?? {}, 'value'), 'emails.value');
}

export function patchUser(before: PersonDraft, assignments: readonly Assignment[]): PersonDraft {
  return assignments.reduce(assign, before);
}

function assign(user: PersonDraft, { op, path, value: given }: Assignment): PersonDraft {
  const value = op === 'remove' ? null : given;
  switch (path) {
    case 'username':
      return { ...user, userName: requiredText(value, 'userName') };
    case 'active':
      if (op === 'remove') throw invalidValue('`active` cannot be removed: replace it');
      return { ...user, isActive: booleanOf(value, 'active') };
    case 'externalid':
      return { ...user, externalId: scimText(value, 'externalId') };
    case 'displayname':
      return { ...user, displayName: scimText(value, 'displayName') };
    case 'name.formatted':
      return { ...user, formattedName: scimText(value, 'name.formatted') };
    case 'name.givenname':
      return { ...user, givenName: scimText(value, 'name.givenName') };
    case 'name.familyname':
      return { ...user, familyName: scimText(value, 'name.familyName') };
    case 'name':
      return assignName(
        user,
        objectOf(value ?? { formatted: null, givenName: null, familyName: null }, '`name`'),
      );
    case 'emails':
      return { ...user, email: mainEmail(value) };
    case 'emails.value':
      return { ...user, email: scimText(value, 'emails.value') };
    default:
      return user;
  }
}

function assignName(user: PersonDraft, name: ScimObject): PersonDraft {
  return Object.entries(name).reduce(
    (so, [part, value]) =>
      assign(so, { op: 'replace', path: `name.${part.toLowerCase()}`, filter: null, value }),
    user,
  );
}

/** A test for the people that a filter finds; null when the filter is not supported. */
export function userFilter(filter: string): ((person: ProvisionedPerson) => boolean) | null {
  const filterTerm = equalTo(filter);
  if (filterTerm === null) return null;
  const folded = filterTerm.value.toLowerCase();
  switch (filterTerm.name) {
    case 'username':
      return ({ userName }) => userName.toLowerCase() === folded;
    case 'externalid':
      return ({ externalId }) => externalId === filterTerm.value;
    case 'id':
      return ({ id }) => id === filterTerm.value;
    case 'displayname':
      return ({ displayName }) => displayName?.toLowerCase() === folded;
    case 'emails':
    case 'emails.value':
    case 'emails[type eq "work"].value':
      return ({ email }) => email?.toLowerCase() === folded;
    default:
      return null;
  }
}

interface UserContext {
  readonly groups: Iterable<ProvisionedGroup>;
  /** The base address of SCIM, as clients reach the service. */
  readonly base: string;
}

export function scimUser(person: ProvisionedPerson, { groups, base }: UserContext): ScimObject {
  const { id, userName, externalId, displayName, email, isActive, createdAtMs, changedAtMs } = person;
  const name = {
    ...(person.formattedName === null ? {} : { formatted: person.formattedName }),
    ...(person.givenName === null ? {} : { givenName: person.givenName }),
    ...(person.familyName === null ? {} : { familyName: person.familyName }),
  };
  const mine = [...groups].filter(({ memberIds }) => memberIds.includes(id));
  return {
    schemas: [userUrn],
    id,
    ...(externalId === null ? {} : { externalId }),
    userName,
    ...(Object.keys(name).length === 0 ? {} : { name }),
    ...(displayName === null ? {} : { displayName }),
    ...(email === null ? {} : { emails: [{ value: email, type: 'work', primary: true }] }),
    active: isActive,
    groups: mine.map((group) => ({
      value: group.id,
      display: group.displayName,
      $ref: `${base}/Groups/${group.id}`,
    })),
    meta: {
      resourceType: 'User',
      created: new Date(createdAtMs).toISOString(),
      lastModified: new Date(changedAtMs).toISOString(),
      location: `${base}/Users/${id}`,
    },
  };
}
