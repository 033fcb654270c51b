// What an agent can get for an action, as far as the agent and the policies alone determine it, and the
// request about which nothing else is known.

import type { JsonObject } from './json.ts';
import { type AgentFacts, type Facts, nothingSatisfied } from './request.ts';

/**
 * For requests of the agent itself, not of its sub-agents. `never`: the decision is DENY, whatever the payload and the time. `after_approval`: every request that is not refused
 * waits for people. `possible`: neither is certain.
 */
export const possibilities = ['never', 'after_approval', 'possible'] as const;
export type Possibility = (typeof possibilities)[number];

/** Stands for a payload of which only the shape is known. Recognised by identity. */
export const unknownPayload: JsonObject = Object.freeze({});

/**
 * Returns a request of which only the action and the agent are known: payload, time, meters and signers are
 * unknown.
 */
export function unknownRequest(action: string, agent: AgentFacts): Facts {
  return {
    action,
    payload: unknownPayload,
    agent,
    request: {},
    nowMs: Number.NaN,
    meters: {},
    satisfied: nothingSatisfied,
  };
}
