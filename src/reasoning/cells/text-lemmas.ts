// Lemmas about many tests of one string: whether certain results can occur together is determined only when a
// model contains them. INVARIANT: a lemma is stated only if the automata of its tests accept no string that
// gives those results.

import { compileRegex } from '../../language/value/regex.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { Rest } from './leaf.ts';
import { textVectors } from './text-vectors.ts';

/** How many tests are stepped together. More take long if what they look for may stand anywhere in a text. */
const togetherMax = 3;
const passedMax = 12;

interface Test {
  readonly pattern: string;
  readonly literal: SolverLiteral;
}

/** A clause that forbids the answers of a model; null if they are not known to contradict each other. */
export function textLemma(
  { patterns, literals }: Rest,
  holds: (literal: SolverLiteral) => boolean,
): SolverClause | null {
  const tests = patterns.map((pattern, at): Test => ({ pattern, literal: literals[at]! }));
  const passed = tests.filter(({ literal }) => holds(literal)).slice(0, passedMax);
  const failed = tests.filter(({ literal }) => !holds(literal));
  // A lemma over fewer tests rules out more models, so pairs come first.
  const all = passed.length <= togetherMax ? [passed] : [];
  const pairs = passed.flatMap((one, at) => passed.slice(at + 1).map((other) => [one, other]));
  const impossible = [...pairs, ...all].find((some) => some.length > 1 && textsOf(some) === null);
  if (impossible !== undefined) return impossible.map(({ literal }) => notLiteral(literal));
  for (const some of [...passed.map((one) => [one]), ...all]) {
    const implied = some.length === 0 ? undefined : impliedBy(some, failed);
    if (implied !== undefined) return [...some.map(({ literal }) => notLiteral(literal)), implied.literal];
  }
  return null;
}

/** One of the other tests that every text passes which passes these tests; undefined if none is known. */
function impliedBy(passed: readonly Test[], others: readonly Test[]): Test | undefined {
  const texts = textsOf(passed) ?? [];
  return others.find(
    // A text that fails the other test disproves this at once.
    (other) => texts.every((text) => matches(other.pattern, text)) && textsOf(passed, other) === null,
  );
}

/**
 * Texts that pass these tests and fail the other. Null if there is no such text; empty if that is not known.
 */
function textsOf(passed: readonly Test[], failed?: Test): readonly string[] | null {
  const tests = failed === undefined ? passed : [...passed, failed];
  const vectors = textVectors(tests.map(({ pattern }) => pattern));
  if (vectors === null) return [];
  const isWanted = (answer: boolean, at: number): boolean => answer === at < passed.length;
  return vectors.find(({ answers }) => answers.every(isWanted))?.texts ?? null;
}

function matches(pattern: string, text: string): boolean {
  const test = compileRegex(pattern);
  return typeof test === 'function' && test(text);
}
