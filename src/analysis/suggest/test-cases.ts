// Connects changes of policies with test cases: the changes after which a failing case passes, and the cases that a
// change breaks. INVARIANT: a case is decided anew under the changed policies, with the requests before it.

import { type Decision, isRefusedByGate, outcomes } from '../../language/model/decision.ts';
import type { Facts } from '../../language/model/request.ts';
import { differences } from '../../testing/expectation.ts';
import { caseFacts, waitsForPeople } from '../../testing/sequence.ts';
import type { Expectation, TestCase } from '../../testing/test-file.ts';
import type { Suggester, Suggestions, SuggestOptions } from './suggest.ts';
import { type DecidingSet, decideBy } from './verify.ts';

/** The changes after which the case passes; a text with the reason when none can be looked for. */
export function suggestForCase(
  suggester: Suggester,
  one: TestCase,
  options: Pick<SuggestOptions, 'suggestionsMax' | 'verifiedMax'> = {},
): Suggestions | string {
  const { base } = suggester;
  const mistakes: string[] = [];
  const facts = caseFacts(one, base, (_span, message) => void mistakes.push(message));
  if (facts === null) return `the case cannot be decided: ${mistakes.join('; ')}`;
  if (passes(one, base)) return 'the case passes already';
  const decision = decideBy(base, facts);
  const { outcome, by, reason } = decision;
  const { decision: goal } = one.expectation;
  const decided = `the request is ${outcome} by \`${by}\` (${reason})`;
  if (isRefusedByGate(decision)) return `${decided}, which no rule can change`;
  if (goal === 'DENY' || !expectsMilder(one.expectation, decision))
    return `${decided}, and suggestions only let more pass: change the rules by hand so that the case passes`;
  if (goal === 'REAUTH_REQUIRED') return `${decided}, and no suggestion leads to REAUTH_REQUIRED`;
  const isWanted = (changed: DecidingSet): boolean => passes(one, changed);
  return suggester.suggest(facts, { ...options, ...(goal === null ? {} : { goal }), isWanted });
}

/** Whether a case could pass if the policies let more pass. */
export function expectsMilder({ decision: goal }: Expectation, decision: Decision): boolean {
  if (isRefusedByGate(decision)) return false;
  return outcomes.indexOf(goal ?? 'ALLOW') < outcomes.indexOf(decision.outcome);
}

/** The names of the cases that pass before a change and not after it, in their order. */
export function brokenTests(
  cases: readonly TestCase[],
  before: DecidingSet,
  after: DecidingSet,
): readonly string[] {
  return cases.filter((one) => passes(one, before) && !passes(one, after)).map(({ name }) => name);
}

/** Whether the set decides the case as expected; false for a case that is about names of another set. */
function passes(one: TestCase, set: DecidingSet): boolean {
  const facts = factsOf(one, set);
  if (facts === null) return false;
  const decision = decideBy(set, facts);
  // An answer of people to a request that is not pending is a mistake of the case.
  if (one.answer !== null && !waitsForPeople(decision)) return false;
  return differences(one.expectation, decision).length === 0;
}

function factsOf(one: TestCase, { set, engine }: DecidingSet): Facts | null {
  if (!set.actions.has(one.situation.action)) return null;
  return caseFacts(one, { set, engine }, () => undefined);
}
