// What a person may do with requests, by what their roles grant, and whether a request is within it. INVARIANT: each right
// is judged by itself: what one role grants on a request is never widened by what another grants elsewhere.

import { isControlOwner } from '../../agents/control-owner.ts';
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
  { all, own, groups }: Rights,
  {
    person,
    state,
    agent,
  }: { readonly person: Stepping; readonly state: RequestState; readonly agent: AgentRow },
): boolean {
  return (
    all ||
    (own && isControlOwner(person, agent.controlOwner)) ||
    everAskedGroups(state).some((group) => groups.includes(group))
  );
}

/** Groups that any decision about the request has asked: their people may still look. */
function everAskedGroups({ decisions }: RequestState): readonly string[] {
  return decisions.flatMap(askedGroups);
}

/** Groups that a decision asks. */
export function askedGroups({ requires }: RequestState['decision']): readonly string[] {
  return requires?.approvals.map(({ group }) => group) ?? [];
}
