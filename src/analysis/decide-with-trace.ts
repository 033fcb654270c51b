// Turns facts into a decision with its trace and the smallest change that would have changed it. INVARIANT:
// the compiled function and the definition have both decided, with the same result.

import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../language/model/decision.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { type TracedRule, tracedRules } from '../language/model/trace.ts';
import { authorize } from '../language/spec/authorize.ts';
import { type SmallestChange, smallestChange } from '../reasoning/counterfactual/change.ts';
import { holdsDigests, recordedShape } from './records/recorded-request.ts';
import type { EditedPolicies } from './workspace.ts';

export interface PlaygroundDecision {
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  /** Number of further rules of the action, none of which took part. */
  readonly others: number;
  readonly change: string | null;
}

type DecidingPolicies = Pick<NonNullable<EditedPolicies['policies']>, 'set' | 'engine'>;

interface HowToDecide {
  /** Whether the facts come from a record, in which digests may replace secrets. */
  readonly isRecorded: boolean;
}

/** Throws when the compiled function and the definition disagree, which is a fault of Writ itself. */
export function decideWithTrace(
  { set, engine }: DecidingPolicies,
  facts: Facts,
  how: HowToDecide,
): PlaygroundDecision {
  const { meant, isDigested } = meantBy(set, facts, how);
  const decideTraced = isDigested ? engine.decideRecorded : engine.decideTraced;
  const { decision, trace } = decideTraced(facts);
  if (!isDeepStrictEqual(decision, authorize(meant, facts)))
    throw new Error(`the compiled policies and the definition disagree on a request for ${facts.action}`);
  const [change] = smallestChangesOf({ set, engine }, facts, { ...how, changesMax: 1 });
  return {
    decision,
    trace: tracedRules(trace),
    others: trace.form.others ?? 0,
    change: change?.text ?? null,
  };
}

/** The smallest changes that would have changed the decision, the most useful first. */
export function smallestChangesOf(
  { set, engine }: DecidingPolicies,
  facts: Facts,
  { changesMax, ...how }: HowToDecide & { readonly changesMax: number },
): readonly SmallestChange[] {
  const { meant, isDigested } = meantBy(set, facts, how);
  const decide = (tried: Facts): Decision =>
    isDigested ? engine.decideRecorded(tried).decision : engine.decide(tried);
  return smallestChange(meant, facts, { decide, changesMax });
}

function meantBy(set: PolicySet, facts: Facts, { isRecorded }: HowToDecide) {
  const isDigested = isRecorded && holdsDigests(facts.payload);
  return { meant: isDigested ? recordedShape(set, facts.action).set : set, isDigested };
}
