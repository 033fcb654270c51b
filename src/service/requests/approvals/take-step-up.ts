// A control owner's step-up, for one request or for the agent, whose waiting requests are then decided again.

import { isControlOwner } from '../../agents/control-owner.ts';
import { eventOf, lifecycleOf, type RequestState } from '../record/request-state.ts';
import {
  type Changed,
  changeRequest,
  type DecisionsDeps,
  type Events,
  type RefusedChange,
  type Seen,
} from './change-request.ts';
import { decideAgain } from './decide-again.ts';
import { decidedEvent, todayFor } from './decide-now.ts';
import { rememberStepUp, type Stepping } from './step-up.ts';

export type SteppedUpAgent = { readonly kind: 'stepped-up'; readonly atMs: number };

const openOfAgentMax = 1_000;

/** The person has re-authenticated there and then. */
export function stepUp(deps: DecisionsDeps, id: string, person: Stepping): Promise<Changed> {
  const judge = (seen: Seen) => judgeStepUp(deps, seen, person);
  return changeRequest(deps, { id, asker: person.id, judge });
}

async function judgeStepUp(
  deps: DecisionsDeps,
  seen: Seen,
  person: Stepping,
): Promise<Events | RefusedChange> {
  const { state, agent, people, nowMs } = seen;
  const today = await todayFor(deps, seen, 'step-up');
  if ('kind' in today) return today;
  if (!isControlOwner(person, agent.controlOwner) || people.get(person.id)?.isActive !== true)
    return notOwner;
  const look = decideAgain(state, today);
  if (!asksStepUp(state) && look.decision.requires?.reauth == null) return noStepUp;
  const lastStepUp = await rememberStepUp(deps.store.documents, agent, { person, nowMs });
  const given = { person: person.id, email: person.email };
  const next = { ...state, stepUps: [...state.stepUps, given] };
  const again = decideAgain(next, { ...today, lastStepUp, inForce: deps.policies() });
  return [
    eventOf('stepped-up', { who: person.who, atMs: nowMs, state: lifecycleOf(state) }, given),
    decidedEvent(next, 'step-up', { again, nowMs }),
  ];
}

/** The same for an agent, whose waiting requests are decided again. */
export async function stepUpAgent(
  deps: DecisionsDeps,
  agentId: string,
  person: Stepping,
): Promise<RefusedChange | SteppedUpAgent> {
  const { store, clock } = deps;
  const agent = await store.agents.find(agentId);
  if (agent === null || agent.id !== agentId) return { kind: 'unknown' };
  const isActive = (await deps.findPeople([person.id])).get(person.id)?.isActive === true;
  if (!isActive || !isControlOwner(person, agent.controlOwner)) return notOwner;
  const { atMs } = await rememberStepUp(store.documents, agent, { person, nowMs: Math.trunc(clock()) });
  for (const id of await store.requests.openOf(agentId, openOfAgentMax)) {
    await changeRequest(deps, { id, asker: person.id, judge: (seen) => judgeHelped(deps, seen) });
  }
  return { kind: 'stepped-up', atMs };
}

async function judgeHelped(deps: DecisionsDeps, seen: Seen): Promise<Events | RefusedChange | 'nothing'> {
  const { state, nowMs } = seen;
  const today = await todayFor(deps, seen, 'step-up');
  if ('kind' in today) return today;
  const again = decideAgain(state, today);
  const isHelped = asksStepUp(state) && again.decision.requires?.reauth == null;
  return isHelped ? [decidedEvent(state, 'step-up', { again, nowMs })] : 'nothing';
}

function asksStepUp({ decision }: RequestState): boolean {
  return decision.requires?.reauth != null;
}

const noStepUp: RefusedChange = { kind: 'conflict', detail: 'nothing asks for a step-up here' };
const notOwner: RefusedChange = {
  kind: 'not-allowed',
  detail: 'only the control owner of the agent steps up for it',
};
