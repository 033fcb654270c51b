// The arguments by which tools take a request: the facts that a decision depends on, as in test files.

import type { JsonObject } from '../../../language/model/json.ts';
import type { GivenFacts } from '../../support/read-facts.ts';
import { anyObject, type FieldsOf, listOf, optional, text } from './schema.ts';

export const requestFields = {
  action: text('the key of the action, such as `payment.create`'),
  payload: optional(anyObject('the payload (default: {})')),
  agent: optional(
    anyObject('what the registry knows of the agent: id, name, risk_tier, control_owner, tags'),
  ),
  request: optional(anyObject('ip, signed, session, point, chain, user')),
  meters: optional(
    anyObject('readings by meter, each like 10, [10, 25] or "100 USD"; this request is counted in'),
  ),
  tables: optional(anyObject('rows of pushed tables, by table and key')),
  satisfied: optional(anyObject('requirements that are met: escalate (names of rules), reauth')),
  now: optional(
    text('the time of the decision with its offset, such as 2026-03-02T10:00:00Z (default: now)'),
  ),
  unknown: optional(listOf(text('a fact such as agent.risk_tier'), 'facts to treat as unknown')),
};

/** A request with the current time, if it names none. */
export function givenOfFields(fields: FieldsOf<typeof requestFields>): GivenFacts {
  return givenOf({ ...fields });
}

export function givenOf({ action_key: key, ...request }: JsonObject): GivenFacts {
  const action = key === undefined ? {} : { action: key };
  return { given: { now: new Date().toISOString(), payload: {}, ...action, ...request }, isRecorded: false };
}
