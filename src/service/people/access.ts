// People get access in two ways. The first admin uses the link that the service prints at its first start.
// Everybody else uses an invitation, which an operator sends, or makes from an application. INVARIANT: an
// invitation works once and for a week, unless it is withdrawn or its sender may no longer send it; nobody
// gives a role that adds to their own rights.

import { randomUUID } from 'node:crypto';
import { canonicalEmail } from '../../language/value/email.ts';
import { nameProblem, textProblem } from '../../language/value/visible-text.ts';
import { isSameDigest } from '../agents/keys.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import { controlOwnerGroup } from '../store/contract/control-owner-group.ts';
import type { DocumentRow } from '../store/contract/documents.ts';
import type { RetryDelay } from './attempts.ts';
import type { Directory } from './directory.ts';
import { grantOf, type Role, rolesOfAdmins, rolesOfSessions } from './operations.ts';
import { hashPassword, passwordProblem } from './passwords.ts';
import {
  type Actor,
  type Application,
  type Invitation,
  type Person,
  personSummary,
  recordName,
} from './person.ts';
import { createSecret, digestOf } from './secrets.ts';

// Checks the form of a person's roles and groups.

const groupsMax = 50;
const groupForm = /^[a-z][a-z0-9_]{0,99}$/;

/** Returns problems in the form of roles and groups. Whether the giver may give them is checked elsewhere. */
export function rolesProblems({ roles, groups }: RolesAndGroups): FieldProblem[] {
  const isApprover = roles.includes('approver');
  return [
    ...(roles.length === 0 ? [{ field: 'roles', detail: 'name at least one role' }] : []),
    ...(groups.length > groupsMax ? [{ field: 'groups', detail: `name at most ${groupsMax} groups` }] : []),
    ...(groups.every((group) => groupForm.test(group))
      ? []
      : [{ field: 'groups', detail: 'name groups as policies do, such as `finance`' }]),
    ...(groups.includes(controlOwnerGroup)
      ? [{ field: 'groups', detail: '`owner` is no group: it is the control owner of the agent that asks' }]
      : []),
    ...(isApprover && groups.length === 0
      ? [{ field: 'groups', detail: 'name the groups that an approver approves for' }]
      : []),
  ];
}

/** Too many passwords wait to be hashed; the caller may try again in a moment. */
const busy: RetryDelay = { kind: 'wait', waitMs: 1_000 };

const dayMs = 24 * 60 * 60 * 1000;
const invitationMs = 7 * dayMs;
/** The time within which an application is answered. */
const applicationMs = dayMs;

/** A problem of one field, as a sentence in lower case without a final full stop. */
export interface FieldProblem {
  readonly field: string;
  readonly detail: string;
}

export type InvalidInput = { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };
/** Another change came first; read again. */
type Conflict = { readonly kind: 'conflict' };

export interface Newcomer {
  readonly email: string;
  readonly name: string;
}

export interface RolesAndGroups {
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
}

export type JoinResult = { readonly kind: 'joined'; readonly person: Person };

/**
 * Makes the first admin. Returns `no-link` when the secret is wrong or was used, or when there are people
 * already.
 */
export async function setUpFirstAdmin(
  directory: Directory,
  { secret, email, name, password }: Newcomer & { readonly secret: string; readonly password: string },
): Promise<JoinResult | InvalidInput | RetryDelay | { readonly kind: 'no-link' }> {
  const link = await setUpLink(directory);
  const given = digestOf(secret);
  const isLink = link !== null && digestsIn(link).some((digest) => isSameDigest(digest, given));
  if (!isLink || !(await isEmpty(directory))) return { kind: 'no-link' };
  const ofPassword = await passwordProblems(password, { email, name });
  const problems = [...newcomerProblems({ email, name }), ...ofPassword];
  if (problems.length > 0) return { kind: 'invalid', problems };
  // The id is fixed: if two people use the link at once, one finds it taken.
  const person = await newPerson(directory, {
    id: firstAdminId,
    email,
    name,
    password,
    ...rolesOfFirstAdmin,
  });
  if (person === null) return busy;
  const used = { ...linkPlace, seen: link.version, isRemoval: true } as const;
  const who = recordName(person);
  const change = { who, what: 'first-admin-set-up', subject: person.id, before: null };
  const result = await directory.change([directory.people.put(person, 0), used], {
    ...change,
    after: personSummary(person),
  });
  return result === 'changed' ? { kind: 'joined', person } : { kind: 'no-link' };
}

const linkPlace = { kind: 'set-up-link', id: 'first-admin' } as const;
const firstAdminId = 'first-admin';
const rolesOfFirstAdmin: RolesAndGroups = { roles: ['admin'], groups: [] };

async function isEmpty({ people }: Directory): Promise<boolean> {
  return (await people.list({ countMax: 1 })).length === 0;
}

/** How the link of the first admin is made. */
interface SetUpLinkOptions {
  readonly who: string;
  /** With `replace` all earlier links stop working; with `add` the last ones go on. */
  readonly when: 'add' | 'replace';
  /** The secret of the link; a new one by default. Who tries again after an error passes the same. */
  readonly secret?: string;
}

/** How many links work at the same time. Whoever starts the service may hold the link of an earlier start. */
const setUpLinksMax = 5;

/** Makes a link for the first admin and returns its secret; null when there are people. */
export async function createSetUpLink(
  directory: Directory,
  { who, when, secret = createSecret() }: SetUpLinkOptions = { who: 'system', when: 'add' },
): Promise<string | null> {
  if (!(await isEmpty(directory))) return null;
  const present = await setUpLink(directory);
  const before = present === null ? [] : digestsIn(present);
  const digest = digestOf(secret);
  if (before[0] === digest) return secret;
  const earlier = when === 'add' ? before.slice(0, setUpLinksMax - 1) : [];
  const put = {
    ...linkPlace,
    seen: present?.version ?? 0,
    name: null,
    parent: null,
    endsAtMs: null,
    createdAtMs: Math.trunc(directory.clock()),
    json: JSON.stringify({ digest, earlier }),
  };
  const change = { who, what: 'set-up-link-made', subject: linkPlace.id, before: null, after: null };
  return (await directory.change([put], change)) === 'changed' ? secret : null;
}

function setUpLink({ documents }: Directory): Promise<DocumentRow | null> {
  return documents.find(linkPlace.kind, linkPlace.id);
}

/** The digests of the links that work, the latest first. */
function digestsIn({ json }: DocumentRow): readonly string[] {
  const { digest, earlier = [] } = JSON.parse(json) as {
    readonly digest: string;
    readonly earlier?: readonly string[];
  };
  return [digest, ...earlier];
}

export type InviteResult = {
  readonly kind: 'invited';
  readonly invitation: Invitation;
  /** The secret of the link, shown once. */
  readonly secret: string;
};
export type AccessRefusal = { readonly kind: 'not-allowed'; readonly detail: string };

/** Makes an invitation. The caller has checked that the actor may invite. */
export async function invite(
  directory: Directory,
  actor: Actor,
  newcomer: Newcomer & RolesAndGroups,
): Promise<InviteResult | InvalidInput | AccessRefusal> {
  const refused = rolesProblem(actor, newcomer);
  if (refused !== null) return { kind: 'not-allowed', detail: refused };
  const problems = [...newcomerProblems(newcomer), ...rolesProblems(newcomer)];
  if ((await directory.people.findByName(newcomer.email)) !== null) {
    problems.push({ field: 'email', detail: 'there is a person with this address' });
  }
  if (problems.length > 0) return { kind: 'invalid', problems };
  const { invitation, secret } = newInvitation(directory, actor, newcomer);
  const change = { who: recordName(actor.person), what: 'person-invited', subject: newcomer.email };
  const after = { ...rolesAndGroupsValue(newcomer), name: newcomer.name };
  await directory.change([directory.invitations.put(invitation, 0)], { ...change, before: null, after });
  return { kind: 'invited', invitation, secret };
}

function newInvitation(
  { clock }: Directory,
  { person }: Actor,
  { email, name, roles, groups }: Newcomer & RolesAndGroups,
): { readonly invitation: Invitation; readonly secret: string } {
  const secret = createSecret();
  const createdAtMs = Math.trunc(clock());
  const invitation: Invitation = {
    id: randomUUID(),
    digest: digestOf(secret),
    email,
    name,
    roles: [...roles],
    groups: [...groups],
    createdAtMs,
    endsAtMs: createdAtMs + invitationMs,
    invitedBy: person.id,
  };
  return { invitation, secret };
}

/** Whether the invitation's link still works. */
export function isOpen({ endsAtMs }: Invitation, nowMs: number): boolean {
  return nowMs < endsAtMs;
}

/**
 * Withdraws an invitation, so that its link stops working. Returns `unknown` when there is none, or when it
 * was used or has ended. The caller has checked that the actor may invite.
 */
export async function withdrawInvitation(
  directory: Directory,
  actor: Actor,
  id: string,
): Promise<{ readonly kind: 'withdrawn' | 'unknown' } | AccessRefusal> {
  const storedInvitation = await directory.invitations.find(id);
  if (storedInvitation === null || !isOpen(storedInvitation.value, directory.clock()))
    return { kind: 'unknown' };
  const { value: invitation, version } = storedInvitation;
  const above = aboveActor(actor, invitation);
  if (above !== null) {
    return { kind: 'not-allowed', detail: `only an admin can withdraw an invitation with ${above}` };
  }
  const before = { ...rolesAndGroupsValue(invitation), name: invitation.name };
  const result = await directory.change([directory.invitations.remove(invitation, version)], {
    who: recordName(actor.person),
    what: 'invitation-withdrawn',
    subject: invitation.email,
    before,
    after: null,
  });
  // An invitation is never changed, only used or withdrawn: if another call came first, it is gone.
  return { kind: result === 'changed' ? 'withdrawn' : 'unknown' };
}

export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly inviter: Person;
}

interface VersionedInvitation extends OpenInvitation {
  readonly version: number;
  readonly inviterVersion: number;
}

/**
 * Returns the invitation of a link; null when there is none, or when it was used, was withdrawn or has ended.
 */
export async function lookAtInvitation(
  directory: Directory,
  secret: string,
): Promise<VersionedInvitation | null> {
  const storedInvitation = await directory.invitations.findByName(digestOf(secret));
  if (storedInvitation === null || !isOpen(storedInvitation.value, directory.clock())) return null;
  const inviter = await backerOf(directory, storedInvitation.value);
  if (inviter === null) return null;
  const { value: invitation, version } = storedInvitation;
  return { invitation, version, inviter: inviter.value, inviterVersion: inviter.version };
}

/**
 * Turns an invitation into a person. Returns `no-invitation` when there is none, or when it was used, was
 * withdrawn or has ended.
 */
export async function acceptInvitation(
  directory: Directory,
  { secret, password }: { readonly secret: string; readonly password: string },
): Promise<JoinResult | InvalidInput | RetryDelay | { readonly kind: 'no-invitation' }> {
  const invitation = await lookAtInvitation(directory, secret);
  if (invitation === null) return { kind: 'no-invitation' };
  const { email, name, roles, groups } = invitation.invitation;
  const problems = await passwordProblems(password, { email, name });
  if (problems.length > 0) return { kind: 'invalid', problems };
  const person = await newPerson(directory, { id: randomUUID(), email, name, roles, groups, password });
  if (person === null) return busy;
  // Judged again after the password was hashed, and again whenever the sender has changed meanwhile.
  for (let tries = 0; tries < acceptTriesMax; tries += 1) {
    const seen = await lookAtInvitation(directory, secret);
    if (seen === null) return { kind: 'no-invitation' };
    if ((await join(directory, seen, person)) === 'changed') return { kind: 'joined', person };
  }
  return { kind: 'no-invitation' };
}

const acceptTriesMax = 5;

/** Makes the person if the invitation is still there and its sender is as they were seen. */
function join(directory: Directory, seen: VersionedInvitation, person: Person) {
  const { invitations, people } = directory;
  const writes = [
    invitations.remove(seen.invitation, seen.version),
    // Written as it is: the write conflicts with any change of the sender since they were seen.
    people.put(seen.inviter, seen.inviterVersion),
    people.put(person, 0),
  ];
  const change = { who: recordName(person), what: 'invitation-accepted', subject: person.id, before: null };
  return directory.change(writes, { ...change, after: personSummary(person) });
}

/**
 * Takes an application for access. The result does not reveal who is known to the service, since anybody may
 * apply.
 */
export async function apply(
  directory: Directory,
  { email, name, reason }: Newcomer & { readonly reason: string },
): Promise<{ readonly kind: 'applied'; readonly application: Application } | InvalidInput> {
  const problems = [...newcomerProblems({ email, name }), ...reasonProblems(reason)];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const createdAtMs = Math.trunc(directory.clock());
  const application: Application = {
    id: randomUUID(),
    email,
    name,
    reason,
    createdAtMs,
    dueAtMs: createdAtMs + applicationMs,
    status: 'open',
    decidedAtMs: null,
    decidedBy: null,
    answer: null,
  };
  const change = { who: 'anybody', what: 'access-applied-for', subject: application.id, before: null };
  await directory.change([directory.applications.put(application, 0)], {
    ...change,
    after: { email, name, reason },
  });
  return { kind: 'applied', application };
}

/** Grants an application, which becomes an invitation. */
export async function grantApplication(
  directory: Directory,
  actor: Actor,
  { id, ...rolesAndGroups }: RolesAndGroups & { readonly id: string },
): Promise<InviteResult | InvalidInput | AccessRefusal | Conflict | { readonly kind: 'not-open' }> {
  const refused = rolesProblem(actor, rolesAndGroups);
  if (refused !== null) return { kind: 'not-allowed', detail: refused };
  const problems = rolesProblems(rolesAndGroups);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const storedApplication = await directory.applications.find(id);
  if (storedApplication === null || storedApplication.value.status !== 'open') return { kind: 'not-open' };
  const { invitation, secret } = newInvitation(directory, actor, {
    ...storedApplication.value,
    ...rolesAndGroups,
  });
  const writes = [
    directory.applications.put(
      decided(storedApplication.value, directory, actor, 'granted'),
      storedApplication.version,
    ),
    directory.invitations.put(invitation, 0),
  ];
  const change = { who: recordName(actor.person), what: 'access-granted', subject: id };
  const result = await directory.change(writes, {
    ...change,
    before: { status: 'open' },
    after: { status: 'granted', ...rolesAndGroupsValue(rolesAndGroups) },
  });
  return result === 'changed' ? { kind: 'invited', invitation, secret } : { kind: 'conflict' };
}

/** Declines an application, with a reason for the applicant. */
export async function declineApplication(
  directory: Directory,
  actor: Actor,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<
  | { readonly kind: 'declined'; readonly application: Application }
  | InvalidInput
  | Conflict
  | { readonly kind: 'not-open' }
> {
  const problems = reasonProblems(reason);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const storedApplication = await directory.applications.find(id);
  if (storedApplication === null || storedApplication.value.status !== 'open') return { kind: 'not-open' };
  const application = { ...decided(storedApplication.value, directory, actor, 'declined'), answer: reason };
  const change = { who: recordName(actor.person), what: 'access-declined', subject: id };
  const result = await directory.change(
    [directory.applications.put(application, storedApplication.version)],
    {
      ...change,
      before: { status: 'open' },
      after: { status: 'declined', reason },
    },
  );
  return result === 'changed' ? { kind: 'declined', application } : { kind: 'conflict' };
}

function decided(
  application: Application,
  { clock }: Directory,
  { person }: Actor,
  status: 'granted' | 'declined',
): Application {
  return { ...application, status, decidedAtMs: Math.trunc(clock()), decidedBy: person.id };
}

/** Returns null when too many passwords wait to be hashed. */
async function newPerson(
  { clock }: Directory,
  { password, ...person }: Newcomer & RolesAndGroups & { readonly id: string; readonly password: string },
): Promise<Person | null> {
  const nowMs = Math.trunc(clock());
  const passwordHash = await hashPassword(password);
  if (passwordHash === null) return null;
  return {
    ...person,
    roles: [...person.roles],
    groups: [...person.groups],
    status: 'active',
    passwordHash,
    totp: null,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
}

/** Returns why the actor may not give these roles and groups; null when the actor may. */
export function rolesProblem(actor: Actor, rolesAndGroups: RolesAndGroups): string | null {
  const above = aboveActor(actor, rolesAndGroups);
  if (above !== null) return `only an admin can assign ${above}`;
  const ofSession = rolesAndGroups.roles.find((role) => rolesOfSessions.includes(role));
  if (actor.isToken !== true || ofSession === undefined) return null;
  return `the role \`${ofSession}\` is assigned in the dashboard, not with a token`;
}

/** Names what the actor may not give or withdraw; null when the actor may give and withdraw all of it. */
function aboveActor({ roles }: Pick<Actor, 'roles'>, rolesAndGroups: RolesAndGroups): string | null {
  if (grantOf(roles, 'people.change') === 'yes') return null;
  const role = rolesAndGroups.roles.find((one) => rolesOfAdmins.includes(one));
  if (role !== undefined) return `the role \`${role}\``;
  return rolesAndGroups.groups.length > 0 ? 'approval groups' : null;
}

/** The sender of the invitation, if still active and allowed to send it now; null otherwise. */
async function backerOf(
  { people }: Directory,
  { invitedBy, ...rolesAndGroups }: Invitation,
): Promise<ReadDocument<Person> | null> {
  const storedPerson = await people.find(invitedBy);
  const inviter = storedPerson?.value;
  if (inviter?.status !== 'active' || grantOf(inviter.roles, 'people.invite') !== 'yes') return null;
  return aboveActor(inviter, rolesAndGroups) === null ? storedPerson : null;
}

function rolesAndGroupsValue({ roles, groups }: RolesAndGroups) {
  return { roles: [...roles], groups: [...groups] };
}

const nameLengthMax = 100;
const reasonLengthMax = 2_000;

function newcomerProblems({ email, name }: Newcomer): FieldProblem[] {
  // The invitation itself shows whether mail arrives. The check of the form makes sure that mail goes to this
  // address alone.
  const ofEmail = { field: 'email', detail: 'write an address such as `ann@example.com`' };
  return [...(canonicalEmail(email) !== null ? [] : [ofEmail]), ...nameProblems(name)];
}

export function nameProblems(name: string): FieldProblem[] {
  const detail = nameProblem(name, nameLengthMax);
  return detail === null ? [] : [{ field: 'name', detail: `the name ${detail}` }];
}

function reasonProblems(reason: string): FieldProblem[] {
  const detail = textProblem(reason, reasonLengthMax);
  return detail === null ? [] : [{ field: 'reason', detail: `the reason ${detail}` }];
}

async function passwordProblems(password: string, owner: Newcomer): Promise<FieldProblem[]> {
  const detail = await passwordProblem(password, owner);
  return detail === null ? [] : [{ field: 'password', detail }];
}
