// Stand-ins: a person names somebody who may vote in their place for one approval group until a date. INVARIANT: a
// stand-in counts only after an admin has confirmed it, as for a membership of the group, and only while its time lasts,
// both people are active approvers, and the person who named it is a member of the group and the stand-in is not. A
// stand-in is named by a member alone, so nobody passes on what they have as a stand-in.

import { randomUUID } from 'node:crypto';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { AccessRefusal, InvalidInput } from './access.ts';
import type { Directory } from './directory.ts';
import { grantOf, grantScopeOf } from './operations.ts';
import { type AbsentPerson, type Actor, type Person, recordName, type StandIn } from './person.ts';

const dayMs = 24 * 60 * 60 * 1000;
export const standInDaysMax = 90;
/** More stand-ins than an installation has at one time. */
const standInsMax = 1_000;

/** The people of a stand-in as they are now; null for a person who no longer exists. */
interface BothPeople {
  readonly person: Person | null;
  readonly standIn: Person | null;
}

/** Why a stand-in has ended, as a sentence without its full stop; null while it has not. */
function endedReason(
  { group, endsAtMs }: StandIn,
  { person, standIn }: BothPeople,
  nowMs: number,
): string | null {
  if (nowMs >= endsAtMs) return 'Its time is over';
  for (const one of [person, standIn]) {
    if (one?.status !== 'active') return `${one?.email ?? 'One of the two'} is disabled`;
    if (!isApprover(one)) return `${one.email} is no longer an approver`;
  }
  if (person?.groups.includes(group) !== true) return `${person?.email} has left the group`;
  return standIn?.groups.includes(group) === true ? `${standIn.email} is a member of the group` : null;
}

function isApprover({ roles }: Pick<Person, 'roles'>): boolean {
  return grantScopeOf(roles, 'requests.approve').asked;
}

async function bothOf(
  { people }: Pick<Directory, 'people'>,
  { personId, standInId }: StandIn,
): Promise<{ readonly [Who in keyof BothPeople]: ReadDocument<Person> | null }> {
  return { person: await people.find(personId), standIn: await people.find(standInId) };
}

type ReadDirectory = Pick<Directory, 'people' | 'standIns' | 'clock'>;

/** For whom the person may vote now, the latest first. */
export async function absentPeople(
  directory: ReadDirectory,
  person: Pick<Person, 'id' | 'roles'>,
): Promise<readonly AbsentPerson[]> {
  if (!isApprover(person)) return [];
  const named = await directory.standIns.list({ parent: person.id, countMax: standInsMax });
  return (await Promise.all(named.map((one) => absentNow(directory, one)))).flat();
}

/** For whom each stand-in may vote now, by the id of the stand-in. */
export async function allAbsentPeople(
  directory: ReadDirectory,
): Promise<ReadonlyMap<string, readonly AbsentPerson[]>> {
  const found = new Map<string, readonly AbsentPerson[]>();
  for (const one of await directory.standIns.list({ countMax: standInsMax })) {
    const { standInId } = one.value;
    found.set(standInId, [...(found.get(standInId) ?? []), ...(await absentNow(directory, one))]);
  }
  return found;
}

/** The person of a stand-in, if it counts now. */
async function absentNow(
  directory: ReadDirectory,
  { value, version }: ReadDocument<StandIn>,
): Promise<readonly AbsentPerson[]> {
  if (value.confirmed === null) return [];
  const both = await bothOf(directory, value);
  if (endedReason(value, valuesOf(both), directory.clock()) !== null || both.person === null) return [];
  const { id, email, name } = both.person.value;
  const documents = [
    { kind: 'stand-in', id: value.id, version },
    { kind: 'person', id, version: both.person.version },
  ];
  return [{ group: value.group, person: { id, email, name }, documents }];
}

function valuesOf({ person, standIn }: Awaited<ReturnType<typeof bothOf>>): BothPeople {
  return { person: person?.value ?? null, standIn: standIn?.value ?? null };
}

export interface StandInDraft {
  /** The id or the e-mail address of the stand-in. */
  readonly standIn: string;
  readonly group: string;
  readonly untilMs: number;
}

export type StandInResult = { readonly kind: 'changed'; readonly standIn: StandIn };
export type StandInConflict = { readonly kind: 'conflict'; readonly detail: string };

/** Names a stand-in for one of the actor's own groups. It counts for nothing until it is confirmed. */
export async function nameStandIn(
  directory: Directory,
  actor: Actor,
  draft: StandInDraft,
): Promise<StandInResult | StandInConflict | InvalidInput> {
  const named =
    (await directory.people.find(draft.standIn)) ?? (await directory.people.findByName(draft.standIn));
  const nowMs = Math.trunc(directory.clock());
  const { person } = actor;
  const problems = [
    ...groupProblems(actor, draft),
    ...personProblems(person, draft, named?.value ?? null),
    ...(draft.untilMs > nowMs && draft.untilMs <= nowMs + standInDaysMax * dayMs
      ? []
      : [{ field: 'until', detail: `name a time within the next ${standInDaysMax} days` }]),
  ];
  if (problems.length > 0 || named === null) return { kind: 'invalid', problems };
  const standIn: StandIn = {
    id: randomUUID(),
    personId: person.id,
    standInId: named.value.id,
    group: draft.group,
    createdAtMs: nowMs,
    endsAtMs: draft.untilMs,
    confirmed: null,
  };
  await endOver(directory, await directory.standIns.findByName(`${person.id} ${draft.group}`));
  const result = await directory.change([directory.standIns.put(standIn, 0)], {
    who: recordName(person),
    what: 'stand-in-named',
    subject: standIn.id,
    before: null,
    after: standInSummary(standIn),
  });
  if (result === 'changed') return { kind: 'changed', standIn };
  return { kind: 'conflict', detail: `you have a stand-in for \`${draft.group}\`: end it first` };
}

function groupProblems({ person, roles }: Actor, { group }: StandInDraft) {
  const isMember = isApprover({ roles }) && person.groups.includes(group);
  return isMember ? [] : [{ field: 'group', detail: 'you do not approve for this group' }];
}

function personProblems(own: Person, { group }: StandInDraft, named: Person | null) {
  const problem = (detail: string) => [{ field: 'stand_in', detail }];
  if (named?.status !== 'active' || !isApprover(named))
    return problem('name the e-mail address or id of an active approver');
  if (named.id === own.id) return problem('you cannot stand in for yourself');
  return named.groups.includes(group) ? problem('this person approves for the group already') : [];
}

/** Confirms a stand-in, which counts from then on. The caller has checked that the actor may change people. */
export async function confirmStandIn(
  directory: Directory,
  { person: by }: Actor,
  id: string,
): Promise<StandInResult | StandInConflict | { readonly kind: 'unknown' }> {
  const read = await directory.standIns.find(id);
  if (read === null) return { kind: 'unknown' };
  const { value, version } = read;
  if (value.confirmed !== null) return { kind: 'changed', standIn: value };
  const nowMs = Math.trunc(directory.clock());
  const both = await bothOf(directory, value);
  const ended = endedReason(value, valuesOf(both), nowMs);
  if (ended !== null) return { kind: 'conflict', detail: `this stand-in has ended: ${ended}` };
  const standIn: StandIn = { ...value, confirmed: { who: recordName(by), atMs: nowMs } };
  const result = await directory.change([directory.standIns.put(standIn, version)], {
    who: recordName(by),
    what: 'stand-in-confirmed',
    subject: id,
    before: standInSummary(value),
    after: standInSummary(standIn),
  });
  return result === 'changed'
    ? { kind: 'changed', standIn }
    : { kind: 'conflict', detail: 'somebody has changed this stand-in: read it again' };
}

/** Ends a stand-in: by either of the two, or by an admin. Its votes on pending requests no longer count. */
export async function endStandIn(
  directory: Directory,
  actor: Actor,
  id: string,
): Promise<StandInResult | { readonly kind: 'unknown' } | AccessRefusal> {
  const read = await directory.standIns.find(id);
  if (read === null || !maySee(actor, read.value)) return { kind: 'unknown' };
  if (!mayEnd(actor, read.value))
    return { kind: 'not-allowed', detail: 'only the two people and an admin can end a stand-in' };
  const isEnded = await end(directory, read, { who: recordName(actor.person), reason: null });
  // Somebody has confirmed or ended it meanwhile: the next try finds out.
  return isEnded ? { kind: 'changed', standIn: read.value } : await endStandIn(directory, actor, id);
}

function mayEnd({ person: { id }, roles }: Actor, { personId, standInId }: StandIn): boolean {
  return id === personId || id === standInId || grantOf(roles, 'people.change') === 'yes';
}

function maySee(actor: Actor, standIn: StandIn): boolean {
  return mayEnd(actor, standIn) || grantOf(actor.roles, 'people.view') === 'yes';
}

async function end(
  { standIns, change }: Directory,
  { value, version }: ReadDocument<StandIn>,
  { who, reason }: { readonly who: string; readonly reason: string | null },
): Promise<boolean> {
  const result = await change([standIns.remove(value, version)], {
    who,
    what: 'stand-in-ended',
    subject: value.id,
    before: standInSummary(value),
    after: reason === null ? null : { reason },
  });
  return result === 'changed';
}

/** Ends a stand-in that is over by itself; returns whether it was ended here. */
async function endOver(directory: Directory, read: ReadDocument<StandIn> | null): Promise<boolean> {
  if (read === null) return false;
  const both = await bothOf(directory, read.value);
  const reason = endedReason(read.value, valuesOf(both), directory.clock());
  return reason !== null && (await end(directory, read, { who: 'system', reason }));
}

/** Ends all stand-ins that are over by themselves, each with a record, and those of groups that are gone. */
export async function endStandInsOver(
  directory: Directory,
  isGroup: (group: string) => boolean,
): Promise<void> {
  for (const read of await directory.standIns.list({ countMax: standInsMax })) {
    if (isGroup(read.value.group)) await endOver(directory, read);
    else await end(directory, read, { who: 'system', reason: 'The policies no longer have the group' });
  }
}

/** A stand-in with the names of its people. */
export interface ShownStandIn {
  readonly value: StandIn;
  readonly person: Person;
  readonly standIn: Person;
}

/** The stand-ins that the actor may see, the latest first, without those that are over. */
export async function standInsFor(directory: Directory, actor: Actor): Promise<readonly ShownStandIn[]> {
  const nowMs = directory.clock();
  const all = await directory.standIns.list({ countMax: standInsMax });
  const visible = all.filter(({ value }) => maySee(actor, value));
  const shown = await Promise.all(visible.map(({ value }) => withPeople(directory, value)));
  return shown.flatMap((one) => (one === null || endedReason(one.value, one, nowMs) !== null ? [] : [one]));
}

/** A stand-in, ended by itself or not; null when there is none. */
export async function findStandIn(directory: Directory, id: string): Promise<ShownStandIn | null> {
  const read = await directory.standIns.find(id);
  return read === null ? null : await withPeople(directory, read.value);
}

async function withPeople(directory: Directory, value: StandIn): Promise<ShownStandIn | null> {
  const { person, standIn } = valuesOf(await bothOf(directory, value));
  return person === null || standIn === null ? null : { value, person, standIn };
}

function standInSummary({ personId, standInId, group, endsAtMs, confirmed }: StandIn) {
  return {
    person: personId,
    stand_in: standInId,
    group,
    ends_at_ms: endsAtMs,
    confirmed_by: confirmed?.who ?? null,
  };
}
