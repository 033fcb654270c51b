// Decides a request that a person or a record gives, and explains the decision.

import { holdsDigests, recordedShape } from '../../analysis/records/recorded-request.ts';
import type { Facts } from '../../language/model/request.ts';
import { type ExplanationInput, explainDecision } from './explain-text.ts';
import type { WorkingPolicies } from './load-policies.ts';
import { type GivenFacts, readFacts } from './read-facts.ts';

/** Decides a request as JSON, and explains the decision. Throws a UsageError that lists every mistake in it. */
export function explainGiven(
  given: GivenFacts,
  { set, engine }: Pick<WorkingPolicies, 'set' | 'engine'>,
): ExplanationInput {
  const facts = readFacts(given, set);
  // In a recorded request, digests stand for secrets, which no rule reads.
  const isDigested = given.isRecorded && holdsDigests(facts.payload);
  const decider = isDigested
    ? {
        set: recordedShape(set, facts.action).set,
        decide: (one: Facts) => engine.decideRecorded(one).decision,
      }
    : { set, decide: engine.decide };
  return explainDecision(decider, facts);
}
