// What a person's roles allow them to do with requests, and whether a given request is covered. INVARIANT:
// each right is judged by itself: what one role grants on a request is never widened by what another role
// grants elsewhere.

import type { ApprovalRequirement } from '../../../language/model/decision.ts';
import type { PersonIdentity } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { RequestState } from '../record/request-state.ts';
import { type ApprovingPerson, answers } from '../record/vote-scope.ts';
import type { AbsentPerson } from './current-person.ts';
import type { StepUpPerson } from './step-up.ts';

/** The requests on which a person may do something. */
export interface Rights {
  readonly all: boolean;
  /** Requests of agents whose control owner is the person. */
  readonly own: boolean;
  /** Requests that ask one of these groups. */
  readonly groups: readonly string[];
  /** Requests that ask the person by name, or as the control owner of their agent. */
  readonly asOwner: boolean;
  /** Requests that use a standing approval which the person gave. */
  readonly given: boolean;
}

interface OnRequest {
  readonly person: StepUpPerson;
  readonly state: RequestState;
  readonly agent: AgentRow;
}

/** A person who calls the service, with the rights that apply now. */
export interface Caller extends StepUpPerson {
  readonly view: Rights;
  readonly approve: Rights;
  readonly reject: Rights;
  readonly stepUp: Rights;
  readonly report: Rights;
  /** For whom the person may vote as their stand-in; the groups of `approve` and `reject` are their own. */
  readonly standsInFor: readonly AbsentPerson[];
}

/** A caller who votes for themselves, or as the stand-in of somebody for one group and with no other right. */
export interface Voter extends Caller {
  readonly absent: AbsentPerson | null;
}

/** The caller as they may vote: first for themselves, then for each person for whom they stand in. */
export function votersOf(caller: Caller): readonly [Voter, ...Voter[]] {
  const asStandIn = caller.standsInFor.map((absent): Voter => {
    const rights = { all: false, own: false, groups: [absent.group], asOwner: false, given: false };
    return { ...caller, approve: rights, reject: rights, absent };
  });
  return [{ ...caller, absent: null }, ...asStandIn];
}

/** The voter as their approval is judged. */
export function approvingPerson({ id, email, absent }: Voter): ApprovingPerson {
  return { id, email, standsInFor: absent?.person };
}

/** All groups that the caller may approve for. */
export function groupsOfCaller({ approve, standsInFor }: Caller): readonly string[] {
  return [...new Set([...approve.groups, ...standsInFor.map(({ group }) => group)])];
}

export function isWithin(
  { all, own, groups, asOwner, given }: Rights,
  { person, state: { decisions, record }, agent }: OnRequest,
): boolean {
  if (all) return true;
  if (given && record.givers?.some((giver) => giver.person === person.id) === true) return true;
  const isOwner = isControlOwner(person, agent.controlOwner);
  // A person who was asked by any decision about the request may still look at it.
  const voter = { ...person, groups, inPerson: asOwner, isOwner };
  if (decisions.flatMap(approvalsOf).some((requirement) => answers(requirement, voter))) return true;
  return (own || (asOwner && decisions.some(({ requires }) => requires?.reauth != null))) && isOwner;
}

/**
 * Returns the asked groups that the person may answer for: by their roles, by name, and `owner` for agents
 * whose control owner they are.
 */
export function answersFor(
  approvals: readonly ApprovalRequirement[],
  { groups, asOwner }: Pick<Rights, 'groups' | 'asOwner'>,
  { isOwner, ...person }: PersonIdentity & { readonly isOwner: boolean },
): readonly string[] {
  const voter = { id: person.id, email: person.email, groups, inPerson: asOwner, isOwner };
  const theirs = approvals.filter((one) => answers(one, voter)).map(({ group }) => group);
  // The owner's approval and a group's are separate. A person who could give both gives the owner's, which
  // nobody else can give.
  return theirs.includes(controlOwnerGroup) ? [controlOwnerGroup] : theirs;
}

/** The approvals that a decision asks for. */
export function approvalsOf({ requires }: RequestState['decision']): readonly ApprovalRequirement[] {
  return requires?.approvals ?? [];
}

/** Groups that a decision asks, also in choices; `owner` is among them when it asks the control owner. */
export function approvalGroups(decision: RequestState['decision']): readonly string[] {
  return [...new Set(approvalsOf(decision).flatMap(groupsIn))];
}

function groupsIn({ group, anyOf = [{ group }] }: ApprovalRequirement): readonly string[] {
  return anyOf.flatMap((one) => ('group' in one ? [one.group] : []));
}

/** Addresses and ids of people whom a decision asks by name. */
export function askedPeople(decision: RequestState['decision']): readonly string[] {
  const approvers = approvalsOf(decision).flatMap(({ anyOf = [] }) => anyOf);
  return [...new Set(approvers.flatMap((one) => ('person' in one ? [one.person] : [])))];
}
