// Turns a group of SCIM (RFC 7643, section 4.2) into what is kept of it, and back. Members are users.

import type { ProvisionedGroup } from '../../../people/person.ts';
import type { GroupDraft } from '../../../people/sso/provision.ts';
import { invalidValue, ScimError } from './scim-error.ts';
import { type Assignment, equalTo } from './scim-patch.ts';
import { memberOf, objectOf, requiredText, type ScimObject, scimList, scimText } from './scim-values.ts';

export const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group';

const membersMax = 10_000;

/** Reads a whole group; an attribute that is absent counts as empty. */
export function readGroup(body: unknown): GroupDraft {
  const group = objectOf(body, 'the body');
  return {
    displayName: requiredText(memberOf(group, 'displayName'), 'displayName'),
    externalId: scimText(memberOf(group, 'externalId'), 'externalId'),
    memberIds: bounded(idsIn(memberOf(group, 'members'))),
  };
}

function idsIn(value: unknown): readonly string[] {
  return scimList(value).map((one) =>
    requiredText(memberOf(objectOf(one, 'a member'), 'value'), 'members.value'),
  );
}

function bounded(ids: readonly string[]): readonly string[] {
  const distinct = [...new Set(ids)];
  if (distinct.length <= membersMax) return distinct;
  throw invalidValue(`a group has at most ${membersMax} members`);
}

export function patchGroup(before: GroupDraft, assignments: readonly Assignment[]): GroupDraft {
  return assignments.reduce(assign, before);
}

function assign(group: GroupDraft, { op, path, filter, value }: Assignment): GroupDraft {
  switch (path) {
    case 'displayname':
      return { ...group, displayName: requiredText(op === 'remove' ? null : value, 'displayName') };
    case 'externalid':
      return { ...group, externalId: scimText(op === 'remove' ? null : value, 'externalId') };
    case 'members':
      return { ...group, memberIds: membersAfter(group.memberIds, { op, path, filter, value }) };
    default:
      return group;
  }
}

function membersAfter(before: readonly string[], { op, filter, value }: Assignment): readonly string[] {
  if (filter !== null) {
    const filterTerm = equalTo(filter);
    if (op !== 'remove' || filterTerm?.name !== 'value') {
      throw new ScimError(400, 'members are removed by `members[value eq "ID"]`', 'invalidPath');
    }
    return before.filter((id) => id !== filterTerm.value);
  }
  const ids = idsIn(value);
  if (op === 'add') return bounded([...before, ...ids]);
  if (op === 'replace') return bounded(ids);
  return value === undefined || value === null ? [] : before.filter((id) => !ids.includes(id));
}

/** A test for the groups that a filter finds; null when the filter is not supported. */
export function groupFilter(filter: string): ((group: ProvisionedGroup) => boolean) | null {
  const filterTerm = equalTo(filter);
  switch (filterTerm?.name) {
    case 'displayname':
      return ({ displayName }) => displayName.toLowerCase() === filterTerm.value.toLowerCase();
    case 'externalid':
      return ({ externalId }) => externalId === filterTerm.value;
    case 'id':
      return ({ id }) => id === filterTerm.value;
    case 'members':
    case 'members.value':
      return ({ memberIds }) => memberIds.includes(filterTerm.value);
    default:
      return null;
  }
}

export function scimGroup(group: ProvisionedGroup, base: string): ScimObject {
  const { id, displayName, externalId, memberIds, createdAtMs, changedAtMs } = group;
  return {
    schemas: [groupUrn],
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName,
    members: memberIds.map((value) => ({ value, type: 'User', $ref: `${base}/Users/${value}` })),
    meta: {
      resourceType: 'Group',
      created: new Date(createdAtMs).toISOString(),
      lastModified: new Date(changedAtMs).toISOString(),
      location: `${base}/Groups/${id}`,
    },
  };
}
