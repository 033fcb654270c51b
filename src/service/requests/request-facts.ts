// Turns a call into the facts that rules read, except for rows and meters: these are read for each decision.

import type { AgentFacts, Facts, MetRequirements, RequestFacts } from '../../language/model/request.ts';
import { memo } from '../../language/value/memo.ts';
import { agentFacts } from '../agents/agent-facts.ts';
import { chainNames } from '../agents/delegations/delegation.ts';
import type { AgentRow } from '../store/contract/records.ts';
import type { OnBehalf } from '../users/on-behalf.ts';
import type { AuthorizeInput } from './authorize.ts';
import { noReadings } from './metering/metering.ts';

/** The parts of a call that rules read. */
export type CallFacts = Pick<
  AuthorizeInput,
  | 'agent'
  | 'actionKey'
  | 'payload'
  | 'clientAddress'
  | 'isSigned'
  | 'session'
  | 'point'
  | 'chain'
  | 'onBehalf'
>;

export function requestedFacts(input: CallFacts, nowMs: number, satisfied: MetRequirements): Facts {
  return {
    action: input.actionKey,
    payload: input.payload,
    agent: memo(factsOfAgents, input.agent, agentFacts),
    request: requestFacts(input),
    nowMs,
    meters: noReadings.known,
    satisfied,
  };
}

/** Requests of one agent share its facts, so that records write that part only once. */
const factsOfAgents = new WeakMap<AgentRow, AgentFacts>();

function requestFacts(call: CallFacts): RequestFacts {
  const { clientAddress, isSigned, session, point, chain, onBehalf } = call;
  const connectionFacts = { ip: clientAddress, signed: isSigned };
  const plain = session === null ? connectionFacts : { ...connectionFacts, session };
  const pointFacts = point === undefined ? plain : { ...plain, point: point.name };
  const chainFacts = chain === undefined ? pointFacts : { ...pointFacts, chain: chainNames(chain) };
  return onBehalf === undefined ? chainFacts : { ...chainFacts, ...userFactsOf(onBehalf) };
}

/** The person that an agent asks for, as a part of the facts of its request. */
const nobody: Pick<RequestFacts, 'user'> = {};

export function userFactsOf(onBehalf: OnBehalf | undefined): Pick<RequestFacts, 'user'> {
  return onBehalf !== undefined && 'user' in onBehalf ? { user: onBehalf.user } : nobody;
}
