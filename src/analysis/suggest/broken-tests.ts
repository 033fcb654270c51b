// Finds the test cases that a change of policies breaks: they passed before, and do not pass after it.

import type { Facts } from '../../language/model/request.ts';
import { differences } from '../../testing/expectation.ts';
import { caseFacts } from '../../testing/sequence.ts';
import type { TestCase } from '../../testing/test-file.ts';
import { type DecidingSet, decideBy } from './verify.ts';

/** The names of the broken cases, in their order. */
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
  return facts !== null && differences(one.expectation, decideBy(set, facts)).length === 0;
}

function factsOf(one: TestCase, { set, engine }: DecidingSet): Facts | null {
  if (!set.actions.has(one.situation.action)) return null;
  return caseFacts(one, { set, engine }, () => undefined);
}
