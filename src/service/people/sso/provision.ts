// Applies what the provider sends by SCIM to people here. A provisioned person gets the roles of their groups
// as soon as they are active and in a group that `sso.roles` names, and is disabled when they are not.
// INVARIANT: a change is stored with all that follows from it, or not at all; an admin who disabled somebody
// is not overruled; one active admin is always left.

import { randomUUID } from 'node:crypto';
import { canonicalEmail } from '../../../language/value/email.ts';
import { nameProblem } from '../../../language/value/visible-text.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { Collection, ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentWrite } from '../../store/contract/documents.ts';
import type { RolesAndGroups } from '../access.ts';
import { adminGuard, guardOf, isAnotherAdmin } from '../change-person.ts';
import { factorRemovals } from '../codes.ts';
import type { Directory } from '../directory.ts';
import {
  createPersonFromProvider,
  type Person,
  type ProvisionedGroup,
  type ProvisionedPerson,
  personSummary,
} from '../person.ts';
import { endings } from '../sessions.ts';
import { mapGroups, type RoleRule } from './mapping.ts';

export interface ProvisionDeps {
  readonly directory: Directory;
  readonly rules: readonly RoleRule[];
}

/** A person's data as the provider sends it, without what follows from it. */
export type PersonDraft = Pick<
  ProvisionedPerson,
  | 'userName'
  | 'externalId'
  | 'displayName'
  | 'formattedName'
  | 'givenName'
  | 'familyName'
  | 'email'
  | 'isActive'
>;

export type GroupDraft = Pick<ProvisionedGroup, 'displayName' | 'externalId' | 'memberIds'>;

/** Why nothing was changed; `detail` is a sentence in lower case without a final full stop. */
export interface ProvisionRefusal {
  readonly kind: 'invalid' | 'taken' | 'unknown' | 'conflict';
  readonly detail: string;
}

export type ProvisionResult<T> = { readonly kind: 'done'; readonly value: T } | ProvisionRefusal;

/** All provisioned people and groups, as they are stored now. */
export interface DirectoryState {
  readonly people: ReadonlyMap<string, ReadDocument<ProvisionedPerson>>;
  readonly groups: ReadonlyMap<string, ReadDocument<ProvisionedGroup>>;
}

const who = 'provisioning';
const readAtOnce = 200;
const triesMax = 5;
const nameLengthMax = 100;

/** Reads all provisioned people and groups; deleted people are left out. */
export async function readDirectoryState({
  provisioned,
  provisionedGroups,
}: Directory): Promise<DirectoryState> {
  const [people, groups] = [await readAll(provisioned), await readAll(provisionedGroups)];
  return {
    people: new Map(people.filter(({ value }) => !value.isDeleted).map((one) => [one.value.id, one])),
    groups: new Map(groups.map((one) => [one.value.id, one])),
  };
}

/** Returns the names of a provisioned person's groups. */
export function groupNamesOf(groups: DirectoryState['groups'], id: string): readonly string[] {
  return [...groups.values()]
    .filter(({ value }) => value.memberIds.includes(id))
    .map(({ value }) => value.displayName);
}

async function readAll<T extends { readonly id: string; readonly createdAtMs: number }>(
  collection: Collection<T>,
): Promise<readonly ReadDocument<T>[]> {
  const all: ReadDocument<T>[] = [];
  for (;;) {
    const page = await collection.list({ countMax: readAtOnce, after: all.at(-1)?.value ?? null });
    all.push(...page);
    if (page.length < readAtOnce) return all;
  }
}

/** A change by the provider: the people and groups that it concerns, as they are to be. */
interface DirectoryChange<T> {
  readonly what: string;
  readonly directoryState: DirectoryState;
  /** The people whose data or groups change, with their new data. */
  readonly people: readonly ReadDocument<ProvisionedPerson>[];
  readonly groups: readonly ReadDocument<ProvisionedGroup>[];
  readonly removedGroups: readonly ReadDocument<ProvisionedGroup>[];
  readonly value: T;
}

/** Adds a person, or brings back a deleted one. */
export function addProvisioned(
  deps: ProvisionDeps,
  draft: PersonDraft,
): Promise<ProvisionResult<ProvisionedPerson>> {
  return provision(deps, async (directoryState, nowMs) => {
    const before = await deps.directory.provisioned.findByName(draft.userName);
    if (before !== null && !before.value.isDeleted) return takenName(draft.userName);
    const base = before?.value ?? {
      id: randomUUID(),
      personId: null,
      hasAccess: false,
      createdAtMs: nowMs,
    };
    const value = { ...base, ...draft, isDeleted: false, changedAtMs: nowMs };
    const people = [{ value, version: before?.version ?? 0 }];
    return { what: 'person-provisioned', directoryState, people, groups: [], removedGroups: [], value };
  });
}

/** Changes a person; `change` makes the new data from the old. If `change` throws, nothing is stored. */
export function changeProvisioned(
  deps: ProvisionDeps,
  id: string,
  change: (before: PersonDraft) => PersonDraft,
): Promise<ProvisionResult<ProvisionedPerson>> {
  return provision(deps, async (directoryState, nowMs) => {
    const before = directoryState.people.get(id);
    if (before === undefined) return unknown('user');
    const value = { ...before.value, ...change(before.value), changedAtMs: nowMs };
    const namesake = await deps.directory.provisioned.findByName(value.userName);
    if (namesake !== null && namesake.value.id !== id) return takenName(value.userName);
    const people = [{ value, version: before.version }];
    return { what: 'provisioning-changed', directoryState, people, groups: [], removedGroups: [], value };
  });
}

/** Removes a person, who is then disabled and in no group. */
export function removeProvisioned(deps: ProvisionDeps, id: string): Promise<ProvisionResult<null>> {
  return provision(deps, async (directoryState, nowMs) => {
    const before = directoryState.people.get(id);
    if (before === undefined) return unknown('user');
    const gone = { ...before.value, isActive: false, isDeleted: true, changedAtMs: nowMs };
    const groups = [...directoryState.groups.values()]
      .filter(({ value }) => value.memberIds.includes(id))
      .map(({ value, version }) => ({
        value: { ...value, memberIds: value.memberIds.filter((one) => one !== id), changedAtMs: nowMs },
        version,
      }));
    const people = [{ value: gone, version: before.version }];
    return { what: 'provisioning-ended', directoryState, people, groups, removedGroups: [], value: null };
  });
}

export function addGroup(deps: ProvisionDeps, draft: GroupDraft): Promise<ProvisionResult<ProvisionedGroup>> {
  return provision(deps, async (directoryState, nowMs) => {
    const value = { ...draft, id: randomUUID(), createdAtMs: nowMs, changedAtMs: nowMs };
    return groupChange(directoryState, { what: 'group-provisioned', before: [], value, version: 0 });
  });
}

/** Changes a group; `change` makes the new data from the old. If `change` throws, nothing is stored. */
export function changeGroup(
  deps: ProvisionDeps,
  id: string,
  change: (before: GroupDraft) => GroupDraft,
): Promise<ProvisionResult<ProvisionedGroup>> {
  return provision(deps, async (directoryState, nowMs) => {
    const storedProvisionedGroup = directoryState.groups.get(id);
    if (storedProvisionedGroup === undefined) return unknown('group');
    const value = {
      ...storedProvisionedGroup.value,
      ...change(storedProvisionedGroup.value),
      changedAtMs: nowMs,
    };
    const before = storedProvisionedGroup.value.memberIds;
    return groupChange(directoryState, {
      what: 'group-changed',
      before,
      value,
      version: storedProvisionedGroup.version,
    });
  });
}

export function removeGroup(deps: ProvisionDeps, id: string): Promise<ProvisionResult<null>> {
  return provision(deps, async (directoryState) => {
    const storedProvisionedGroup = directoryState.groups.get(id);
    if (storedProvisionedGroup === undefined) return unknown('group');
    const people = membersOf(directoryState, storedProvisionedGroup.value.memberIds);
    return {
      what: 'group-removed',
      directoryState,
      people,
      groups: [],
      removedGroups: [storedProvisionedGroup],
      value: null,
    };
  });
}

interface GroupChange {
  readonly what: string;
  /** The ids of the members before the change. */
  readonly before: readonly string[];
  readonly value: ProvisionedGroup;
  readonly version: number;
}

function groupChange(
  directoryState: DirectoryState,
  { what, before, value, version }: GroupChange,
): DirectoryChange<ProvisionedGroup> | ProvisionRefusal {
  const isTaken = [...directoryState.groups.values()].some(
    (one) =>
      one.value.id !== value.id && one.value.displayName.toLowerCase() === value.displayName.toLowerCase(),
  );
  if (isTaken) return { kind: 'taken', detail: `there is a group \`${value.displayName}\`` };
  const stranger = value.memberIds.find((id) => !directoryState.people.has(id));
  if (stranger !== undefined) return { kind: 'invalid', detail: `there is no user \`${stranger}\`` };
  const people = membersOf(directoryState, new Set([...before, ...value.memberIds]));
  return { what, directoryState, people, groups: [{ value, version }], removedGroups: [], value };
}

function membersOf(
  { people }: DirectoryState,
  ids: Iterable<string>,
): readonly ReadDocument<ProvisionedPerson>[] {
  return [...ids].map((id) => people.get(id)).filter((one) => one !== undefined);
}

function takenName(userName: string): ProvisionRefusal {
  return { kind: 'taken', detail: `there is a user \`${userName}\`` };
}

function unknown(what: 'user' | 'group'): ProvisionRefusal {
  return { kind: 'unknown', detail: `there is no such ${what}` };
}

type PlanChange<T> = (
  directoryState: DirectoryState,
  nowMs: number,
) => Promise<DirectoryChange<T> | ProvisionRefusal>;

/**
 * Reads everything that is provisioned, and stores a change with all that follows from it; tries again when
 * another change came between.
 */
async function provision<T>(deps: ProvisionDeps, planChange: PlanChange<T>): Promise<ProvisionResult<T>> {
  const { directory } = deps;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const guard = await guardOf(directory, 'provisioning');
    const nowMs = Math.trunc(directory.clock());
    const change = await planChange(await readDirectoryState(directory), nowMs);
    if ('kind' in change) return change;
    const following = await follow(deps, change, nowMs);
    if ('kind' in following) return following;
    const result = await directory.change([...guard, ...following.writes], {
      who,
      what: change.what,
      subject: subjectOf(change),
      before: following.before,
      after: following.after,
    });
    if (result === 'changed') return { kind: 'done', value: change.value };
  }
  return { kind: 'conflict', detail: 'another request changes the same resource: send it again' };
}

function subjectOf({ people, groups, removedGroups, what }: DirectoryChange<unknown>): string {
  const ofGroup = what.startsWith('group-') ? (groups[0] ?? removedGroups[0]) : undefined;
  return (ofGroup ?? people[0])?.value.id ?? '';
}

interface ChangeEffects {
  readonly writes: readonly DocumentWrite[];
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

async function follow(
  { directory, rules }: ProvisionDeps,
  { directoryState, people, groups, removedGroups }: DirectoryChange<unknown>,
  nowMs: number,
): Promise<ChangeEffects | ProvisionRefusal> {
  const groupsNow = new Map(directoryState.groups);
  for (const one of groups) groupsNow.set(one.value.id, one);
  for (const one of removedGroups) groupsNow.delete(one.value.id);
  const outcomes: Outcome[] = [];
  for (const one of people) {
    const given = mapGroups(rules, groupNamesOf(groupsNow, one.value.id));
    const outcome = await outcomeOf(directory, one, { given, nowMs });
    if ('kind' in outcome) return outcome;
    outcomes.push(outcome);
  }
  const leaving = outcomes.filter(({ before, after }) => isAdmin(before) && !isAdmin(after));
  const leavingIds = new Set(leaving.map(({ before }) => before?.id ?? ''));
  if (leaving.length > 0 && !(await isAnotherAdmin(directory, leavingIds))) {
    return { kind: 'conflict', detail: 'this would leave no active admin' };
  }
  const scimGroup = ({ value }: ReadDocument<ProvisionedGroup>) => ({
    name: value.displayName,
    members: [...value.memberIds],
  });
  const groupsBefore = [...groups, ...removedGroups]
    .map(({ value }) => directoryState.groups.get(value.id))
    .filter((one) => one !== undefined);
  return {
    writes: [
      ...(leaving.length > 0 ? await adminGuard(directory) : []),
      ...groups.map(({ value, version }) => directory.provisionedGroups.put(value, version)),
      ...removedGroups.map(({ value, version }) => directory.provisionedGroups.remove(value, version)),
      ...outcomes.flatMap(({ writes }) => writes),
    ],
    before: { groups: groupsBefore.map(scimGroup), people: toLspDiagnostic(outcomes, 'before') },
    after: { groups: groups.map(scimGroup), people: toLspDiagnostic(outcomes, 'after') },
  };
}

/** The people who change, as they were or as they will be. */
function toLspDiagnostic(outcomes: readonly Outcome[], which: 'before' | 'after') {
  return outcomes
    .filter(({ before, after }) => before !== after)
    .flatMap((one) => (one[which] === null ? [] : [personSummary(one[which])]));
}

function isAdmin(person: Person | null): boolean {
  return person?.status === 'active' && person.roles.includes('admin');
}

/**
 * The person here that belongs to a provisioned person, before and after a change; the same object when
 * nothing changes.
 */
interface Outcome {
  readonly before: Person | null;
  readonly after: Person | null;
  readonly writes: readonly DocumentWrite[];
}

interface GroupAccess {
  /** The roles and groups that the person's provider groups give; null when no rule names any of them. */
  readonly given: RolesAndGroups | null;
  readonly nowMs: number;
}

async function outcomeOf(
  directory: Directory,
  storedPerson: ReadDocument<ProvisionedPerson>,
  groupAccess: GroupAccess,
): Promise<Outcome | ProvisionRefusal> {
  const { value } = storedPerson;
  const hasAccess = value.isActive && !value.isDeleted && groupAccess.given !== null;
  const email = canonicalEmail(value.email ?? value.userName);
  if (email === null) {
    return { kind: 'invalid', detail: 'a user needs an e-mail address, in `emails` or as `userName`' };
  }
  const keep = (personId: string | null) =>
    directory.provisioned.put({ ...value, hasAccess, personId }, storedPerson.version);
  const person = value.personId === null ? null : await directory.people.find(value.personId);
  if (person !== null)
    return await changed(directory, person, { provisioned: value, keep, hasAccess, ...groupAccess });
  const present = await directory.people.findByName(email);
  if (present === null) {
    if (!hasAccess || groupAccess.given === null) return { before: null, after: null, writes: [keep(null)] };
    const after = createPersonFromProvider({
      email,
      name: nameOf(value),
      given: groupAccess.given,
      nowMs: groupAccess.nowMs,
    });
    return { before: null, after, writes: [keep(after.id), directory.people.put(after, 0)] };
  }
  const others = await directory.provisioned.list({ parent: present.value.id, countMax: readAtOnce });
  if (others.some((one) => !one.value.isDeleted)) {
    return { kind: 'taken', detail: `the address ${email} belongs to another user` };
  }
  if (present.value.roles.includes('admin') && present.value.passwordHash !== null) {
    return { kind: 'taken', detail: `the address ${email} belongs to a local admin, who stays local` };
  }
  // Until the provider lets them in, a person who already has an account here keeps it unchanged.
  if (!hasAccess) return { before: null, after: null, writes: [keep(null)] };
  // A person who was disabled before the provider named them was disabled by an admin here.
  const first = { ...value, hasAccess: others.length === 0 };
  const outcome = await changed(directory, present, { provisioned: first, keep, hasAccess, ...groupAccess });
  const removals = others.map((one) => directory.provisioned.remove(one.value, one.version));
  return { ...outcome, writes: [...outcome.writes, ...removals] };
}

interface Change extends GroupAccess {
  readonly provisioned: ProvisionedPerson;
  readonly keep: (personId: string) => DocumentWrite;
  readonly hasAccess: boolean;
}

/**
 * Applies the provider's data to a person. The first data ends the person's password, second factors and
 * tokens, as single sign-on does.
 */
async function changed(
  directory: Directory,
  { value: before, version }: ReadDocument<Person>,
  { provisioned, keep, hasAccess, given, nowMs }: Change,
): Promise<Outcome> {
  const status = hasAccess ? (provisioned.hasAccess ? before.status : 'active') : 'disabled';
  const isLocal = before.passwordHash !== null || before.totp !== null;
  const after: Person = {
    ...before,
    ...(hasAccess && given !== null ? { roles: [...given.roles], groups: [...given.groups] } : {}),
    name: nameOf(provisioned) ?? before.name,
    status,
    passwordHash: null,
    totp: null,
    changedAtMs: nowMs,
  };
  const isSame = !isLocal && JSON.stringify(personSummary(before)) === JSON.stringify(personSummary(after));
  if (isSame) return { before, after: before, writes: [keep(before.id)] };
  const isOut = status === 'disabled' && before.status === 'active';
  return {
    before,
    after,
    writes: [
      keep(before.id),
      directory.people.put(after, version),
      ...(isLocal ? await factorRemovals(directory, before.id) : []),
      ...(isLocal || isOut ? await endings(directory, before.id) : []),
    ],
  };
}

/** A name that can be shown to people; null when the provider gives none. */
function nameOf({ displayName, formattedName, givenName, familyName }: ProvisionedPerson): string | null {
  const parts = [givenName, familyName].filter((part) => part !== null).join(' ');
  const name = [displayName, formattedName, parts].find((one) => one !== null && one !== '') ?? null;
  return name !== null && nameProblem(name, nameLengthMax) === null ? name : null;
}
