// What an agent may hope for of an action, as far as that depends on the agent and the policies alone, and the request of
// which nothing else is known.

import type { JsonObject } from './json.ts';
import { type AgentFacts, type Facts, nothingSatisfied } from './request.ts';

/**
 * `never`: whatever the payload and whenever it is asked, the answer is DENY. `asks`: what is not refused waits for
 * people. `may`: neither can be said for certain.
 */
export const possibilities = ['never', 'asks', 'may'] as const;
export type Possibility = (typeof possibilities)[number];

/** In place of a payload of which no more is known than its shape. Told by identity. */
export const unknownPayload: JsonObject = Object.freeze({});

/** A request of which nothing is known but the action and the agent: not the payload, the time, a meter, who signed. */
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
