// Decides a call for an earlier request: to take its approval, to join its wait, or to get its grant again.
// The call is decided by its own facts; only approvals and step-ups of the earlier request count as
// satisfied. INVARIANT: a call that the policies refuse by itself is never granted by another call's grant.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { Facts, MetRequirements } from '../../../language/model/request.ts';
import { agentFacts } from '../../agents/agent-facts.ts';
import { withRows } from '../../tables/read-rows.ts';
import { entryRows } from '../metering/entry-rows.ts';
import type { Metering } from '../metering/metering.ts';
import type { RequestRecord } from '../record/record.ts';
import type { ConsumingCall, RequestState } from '../record/request-state.ts';
import type { RequestSnapshot } from './change-request.ts';
import { recordedFacts, requirementsOf, satisfiedOf } from './decide-again.ts';

export type DecidedCall = Pick<ConsumingCall, 'decision' | 'meters' | 'satisfied'> & {
  /** Whether the call would count in the meters in which the request counts. */
  readonly countsAlike: boolean;
  /** Whether people would be asked for something that the request does not ask of them. */
  readonly asksMore: boolean;
};

interface CallDeps {
  readonly active: ActivePolicies;
  readonly metering: Pick<Metering, 'read'>;
}

/** Decides the call as it stands now, with what the request has been given by people. Synchronous. */
export function decideCall(
  { active, metering }: CallDeps,
  call: Facts,
  {
    state,
    agent,
    lastStepUp,
    standing,
    rows,
    nowMs,
  }: Pick<RequestSnapshot, 'state' | 'agent' | 'lastStepUp' | 'standing' | 'rows' | 'nowMs'>,
): DecidedCall {
  const plain: Facts = { ...withRows(call, rows), agent: agentFacts(agent), nowMs };
  const uses = active.entries(plain);
  // The request has entered the meters already, so the call is read in its place.
  const { record, decidedAtMs } = state;
  const readings = metering.read(uses, {
    nowMs,
    requestId: record.id,
    grantedAtMs: decidedAtMs ?? undefined,
  });
  const facts: Facts = { ...plain, meters: readings.known };
  const firstPass = active.decideTraced(facts).decision;
  const firing = requirementsOf(firstPass, active);
  const satisfied = withoutOthers(
    satisfiedOf({ firing, decision: firstPass }, state, { agent, lastStepUp, standing, nowMs }),
    state,
  );
  const isNothing = satisfied.escalate.length + satisfied.reauth.length === 0;
  return {
    decision: isNothing ? firstPass : active.decideTraced({ ...facts, satisfied }).decision,
    meters: readings.recorded,
    satisfied,
    countsAlike: countsAlike(active, call, state.record),
    asksMore: firing.some(({ rule }) => !state.decision.rules.includes(rule)),
  };
}

/** A step-up for a request serves the rules that asked that request for one, and no rule that asks the call. */
function withoutOthers({ reauth, ...met }: MetRequirements, state: RequestState): MetRequirements {
  return { ...met, reauth: reauth.filter((rule) => state.satisfied.reauth.includes(rule)) };
}

/**
 * An approval is counted once, where its request was counted. A call that counts elsewhere, such as in
 * another session, is another request.
 */
function countsAlike(active: ActivePolicies, { request }: Facts, record: RequestRecord): boolean {
  const own = recordedFacts(record);
  const [counted, called] = [own, { ...own, request }].map((facts) =>
    JSON.stringify(entryRows(active.entriesRecorded(facts) ?? [])),
  );
  return counted === called;
}
