// What a person's roles allow them to do with requests, and whether a given request is covered. INVARIANT:
// each right is judged by itself: what one role grants on a request is never widened by what another role
// grants elsewhere.

import { isControlOwner } from '../../agents/agent-facts.ts';
import { askedOwner } from '../../store/contract/asked-owner.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { RequestState } from '../record/request-state.ts';
import type { StepUpPerson } from './step-up.ts';

/** The requests on which a person may do something. */
export interface Rights {
  readonly all: boolean;
  /** Requests of agents whose control owner is the person. */
  readonly own: boolean;
  /** Requests that ask one of these groups. */
  readonly groups: readonly string[];
  /** Requests that ask the control owner, if the person is the control owner of their agent. */
  readonly asOwner: boolean;
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
}

export function isWithin(
  { all, own, groups, asOwner }: Rights,
  { person, state: { decisions }, agent }: OnRequest,
): boolean {
  if (all) return true;
  // A person whose group was asked by any decision about the request may still look at it.
  if (decisions.flatMap(askedGroups).some((group) => groups.includes(group))) return true;
  return (own || (asOwner && decisions.some(asksOwner))) && isControlOwner(person, agent.controlOwner);
}

/**
 * Returns the asked groups that the person may answer for: groups by their roles, and `owner` for agents
 * whose control owner they are.
 */
export function answersFor(
  asked: readonly string[],
  { groups, asOwner }: Pick<Rights, 'groups' | 'asOwner'>,
  isOwner: boolean,
): readonly string[] {
  const isTheirs = (group: string): boolean =>
    group === askedOwner ? asOwner && isOwner : groups.includes(group);
  const theirs = asked.filter(isTheirs);
  // The owner's approval and a group's are separate. A person who could give both gives the owner's, which
  // nobody else can give.
  return theirs.includes(askedOwner) ? [askedOwner] : theirs;
}

function asksOwner(decision: RequestState['decision']): boolean {
  return decision.requires?.reauth != null || askedGroups(decision).includes(askedOwner);
}

/** Groups that a decision asks; `owner` is among them when the decision asks the control owner. */
export function askedGroups({ requires }: RequestState['decision']): readonly string[] {
  return requires?.approvals.map(({ group }) => group) ?? [];
}
