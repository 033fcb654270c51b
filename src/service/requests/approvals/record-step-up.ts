// A control owner's step-up for one request or for an agent, after which the agent's waiting requests are
// decided again.

import { isControlOwner } from '../../agents/agent-facts.ts';
import {
  eventOf,
  lifecycleOf,
  type RequestState,
  type SteppedUp,
  withEvents,
} from '../record/request-state.ts';
import {
  type ChangeResult,
  changeRequest,
  type Events,
  type RefusedChange,
  type RequestChangeDeps,
  type RequestSnapshot,
} from './change-request.ts';
import { decideAgain } from './decide-again.ts';
import { decidedEvent, grantContext } from './grant-context.ts';
import { rememberStepUp, type StepUpPerson } from './step-up.ts';

export type SteppedUpAgent = { readonly kind: 'stepped-up'; readonly atMs: number };

const openOfAgentMax = 1_000;

/** The person who steps up, and the passkey used; null for a password and a one-time code. */
export type SteppingUp = StepUpPerson & Pick<SteppedUp, 'passkey'>;

/** Steps up for a request. The caller has made sure that the person has just re-authenticated. */
export async function stepUp(deps: RequestChangeDeps, id: string, person: SteppingUp): Promise<ChangeResult> {
  const judge = (snapshot: RequestSnapshot) => handleStepUp(deps, snapshot, person);
  const changed = await changeRequest(deps, { id, asker: person.id, handler: judge });
  // The step-up is remembered for the agent, so it also helps the agent's other requests that wait for one.
  if (changed.kind === 'changed') await decideOthers(deps, changed.agent.id, person);
  return changed;
}

async function handleStepUp(
  deps: RequestChangeDeps,
  snapshot: RequestSnapshot,
  person: SteppingUp,
): Promise<Events | RefusedChange> {
  const { state, agent, people, nowMs } = snapshot;
  const context = await grantContext(deps, snapshot, 'step-up');
  if ('kind' in context) return context;
  if (!isControlOwner(person, agent.controlOwner) || people.get(person.id)?.isActive !== true)
    return notOwner;
  const repeated = decideAgain(state, context);
  if (!asksStepUp(state) && repeated.decision.requires?.reauth == null) return noStepUp;
  const lastStepUp = await rememberStepUp(deps.store.documents, agent, { person, nowMs });
  const detail = { person: person.id, email: person.email, passkey: person.passkey };
  const stepped = eventOf('stepped-up', { who: person.who, atMs: nowMs, state: lifecycleOf(state) }, detail);
  const next = withEvents(state, [stepped]);
  const again = decideAgain(next, { ...context, lastStepUp, active: deps.policies() });
  return [stepped, decidedEvent(next, 'step-up', { again, nowMs })];
}

/** Steps up for an agent and decides its waiting requests again. */
export async function stepUpAgent(
  deps: RequestChangeDeps,
  agentId: string,
  person: StepUpPerson,
): Promise<RefusedChange | SteppedUpAgent> {
  const { store, clock } = deps;
  const agent = await store.agents.find(agentId);
  if (agent === null || agent.id !== agentId) return { kind: 'unknown' };
  const isActive = (await deps.findPeople([person.id])).get(person.id)?.isActive === true;
  if (!isActive || !isControlOwner(person, agent.controlOwner)) return notOwner;
  const { atMs } = await rememberStepUp(store.documents, agent, { person, nowMs: Math.trunc(clock()) });
  await decideOthers(deps, agentId, person);
  return { kind: 'stepped-up', atMs };
}

/** Decides the agent's other requests that wait for a step-up `within` some time. */
async function decideOthers(deps: RequestChangeDeps, agentId: string, person: StepUpPerson): Promise<void> {
  for (const id of await deps.store.requests.openOf(agentId, openOfAgentMax)) {
    await changeRequest(deps, {
      id,
      asker: person.id,
      handler: (snapshot) => handleHelpedRequest(deps, snapshot),
    });
  }
}

async function handleHelpedRequest(
  deps: RequestChangeDeps,
  snapshot: RequestSnapshot,
): Promise<Events | RefusedChange | 'nothing'> {
  const { state, nowMs } = snapshot;
  const context = await grantContext(deps, snapshot, 'step-up');
  if ('kind' in context) return context;
  const again = decideAgain(state, context);
  const isHelped = asksStepUp(state) && again.decision.requires?.reauth == null;
  return isHelped ? [decidedEvent(state, 'step-up', { again, nowMs })] : 'nothing';
}

function asksStepUp({ decision }: RequestState): boolean {
  return decision.requires?.reauth != null;
}

const noStepUp: RefusedChange = { kind: 'conflict', detail: 'no step-up is required here' };
const notOwner: RefusedChange = {
  kind: 'not-allowed',
  detail: 'only the control owner of the agent can step up for it',
};
