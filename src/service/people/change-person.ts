// An admin changes another person: roles, groups, status. INVARIANT: at least one active admin is always
// left, and a person who is disabled loses access at once.

import type { DocumentWrite } from '../store/contract/documents.ts';
import {
  type AccessRefusal,
  type FieldProblem,
  type InvalidInput,
  nameProblems,
  type RolesAndGroups,
  rolesProblem,
  rolesProblems,
} from './access.ts';
import type { Directory } from './directory.ts';
import type { Role } from './operations.ts';
import { type Actor, type Person, personSummary, recordName } from './person.ts';
import { endings } from './sessions.ts';

export interface PersonChange {
  readonly name?: string;
  readonly roles?: readonly Role[];
  readonly groups?: readonly string[];
  readonly status?: Person['status'];
}

export type PersonChangeResult =
  | { readonly kind: 'changed'; readonly person: Person }
  | InvalidInput
  | AccessRefusal
  | { readonly kind: 'unknown' | 'conflict' };

export async function changePerson(
  directory: Directory,
  actor: Actor,
  { id, ...change }: PersonChange & { readonly id: string },
): Promise<PersonChangeResult> {
  const storedPerson = await directory.people.find(id);
  if (storedPerson === null) return { kind: 'unknown' };
  const { value: before, version } = storedPerson;
  const after: Person = { ...before, ...change, changedAtMs: Math.trunc(directory.clock()) };
  const refused = rolesProblem(actor, given(before, after));
  if (refused !== null) return { kind: 'not-allowed', detail: refused };
  const problems: readonly FieldProblem[] = [
    ...(change.name === undefined ? [] : nameProblems(change.name)),
    ...rolesProblems(after),
  ];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const isAdminLess = isAdmin(before) && !isAdmin(after);
  const guard = isAdminLess ? await adminGuard(directory) : [];
  if (isAdminLess && !(await isAnotherAdmin(directory, new Set([id])))) {
    return { kind: 'not-allowed', detail: 'this is the last active admin' };
  }
  const isOut = after.status === 'disabled' && before.status === 'active';
  const writes = [
    ...guard,
    directory.people.put(after, version),
    ...(isOut ? await endings(directory, id) : []),
  ];
  const result = await directory.change(writes, {
    who: recordName(actor.person),
    what: 'person-changed',
    subject: id,
    before: personSummary(before),
    after: personSummary(after),
  });
  return result === 'changed' ? { kind: 'changed', person: after } : { kind: 'conflict' };
}

/** The roles and groups that the change adds. */
function given(before: Person, after: Person): RolesAndGroups {
  return {
    roles: after.roles.filter((role) => !before.roles.includes(role)),
    groups: after.groups.filter((group) => !before.groups.includes(group)),
  };
}

function isAdmin({ roles, status }: Person): boolean {
  return status === 'active' && roles.includes('admin');
}

/**
 * Returns the write of a document that changes whenever an admin is removed, so that when two admins remove
 * each other, one of them gets a conflict.
 */
export function adminGuard(directory: Directory): Promise<readonly DocumentWrite[]> {
  return guardOf(directory, 'admins');
}

/**
 * Returns the write of a guard document: of two changes that write the same guard, one that has not seen the
 * other gets a conflict.
 */
export async function guardOf(
  { documents, clock }: Directory,
  id: 'admins' | 'provisioning',
): Promise<readonly DocumentWrite[]> {
  const row = await documents.find('guard', id);
  const fixed = { kind: 'guard', id, name: null, parent: null, endsAtMs: null, json: '{}' };
  return [{ ...fixed, seen: row?.version ?? 0, createdAtMs: row?.createdAtMs ?? Math.trunc(clock()) }];
}

const peopleAtOnce = 200;

/** Whether there is an active admin other than these people. */
export async function isAnotherAdmin({ people }: Directory, ids: ReadonlySet<string>): Promise<boolean> {
  let after: Person | null = null;
  for (;;) {
    const admins = await people.list({ countMax: peopleAtOnce, after });
    if (admins.some(({ value }) => !ids.has(value.id) && isAdmin(value))) return true;
    if (admins.length < peopleAtOnce) return false;
    after = admins.at(-1)?.value ?? null;
  }
}
