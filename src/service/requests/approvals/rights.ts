// What a person may do with requests, by what their roles grant, and whether a request is within it. INVARIANT: each right
// is judged by itself: what one role grants on a request is never widened by what another grants elsewhere.

import { isControlOwner } from '../../agents/control-owner.ts';
import { askedOwner } from '../../store/contract/asked-owner.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { RequestState } from '../record/request-state.ts';
import type { Stepping } from './step-up.ts';

/** On which requests a person may do something. */
export interface Rights {
  readonly all: boolean;
  /** Those of agents whose control owner the person is. */
  readonly own: boolean;
  /** Those that ask one of these groups. */
  readonly groups: readonly string[];
  /** Those that ask the control owner, of agents whose control owner the person is. */
  readonly asOwner: boolean;
}

interface OnRequest {
  readonly person: Stepping;
  readonly state: RequestState;
  readonly agent: AgentRow;
}

/** A person who asks something of the service, with the rights that count now. */
export interface Caller extends Stepping {
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
  // Whom any decision about the request has asked may still look.
  if (decisions.flatMap(askedGroups).some((group) => groups.includes(group))) return true;
  return (own || (asOwner && decisions.some(asksOwner))) && isControlOwner(person, agent.controlOwner);
}

/** Those of some groups for which a person may answer: groups by their roles, the control owner's part for agents of their own. */
export function answersFor(
  asked: readonly string[],
  { groups, asOwner }: Pick<Rights, 'groups' | 'asOwner'>,
  isOwner: boolean,
): readonly string[] {
  const isTheirs = (group: string): boolean =>
    group === askedOwner ? asOwner && isOwner : groups.includes(group);
  const theirs = asked.filter(isTheirs);
  // The owner's approval and a group's are two: a person who could give both gives the owner's, which nobody else can.
  return theirs.includes(askedOwner) ? [askedOwner] : theirs;
}

function asksOwner(decision: RequestState['decision']): boolean {
  return decision.requires?.reauth != null || askedGroups(decision).includes(askedOwner);
}

/** Groups that a decision asks, `owner` among them where it asks the control owner. */
export function askedGroups({ requires }: RequestState['decision']): readonly string[] {
  return requires?.approvals.map(({ group }) => group) ?? [];
}
