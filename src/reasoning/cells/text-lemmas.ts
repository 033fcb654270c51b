// Many tests of one text: which of them can hold together is found out where a model says that they do. INVARIANT: a
// lemma is said of two tests alone, and only where their automata have no text that answers both so.

import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { Rest } from './leaf.ts';
import { programOf } from './programs.ts';
import { textVectors } from './text-vectors.ts';

const holdingMax = 12;

/** What forbids the answers of a model; null where no two of them are known to go against each other. */
export function textLemma(
  { patterns, literals }: Rest,
  holds: (literal: SolverLiteral) => boolean,
): SolverClause | null {
  const tests = patterns.map((pattern, at) => ({ pattern, literal: literals[at]! }));
  const holding = tests.filter(({ literal }) => holds(literal)).slice(0, holdingMax);
  for (const [at, one] of holding.entries())
    for (const other of holding.slice(at + 1))
      if (!haveText(one.pattern, other.pattern, true))
        return [notLiteral(one.literal), notLiteral(other.literal)];
  for (const one of holding) {
    const texts = textsOf(one.pattern);
    for (const other of tests) {
      // A text of the one that is none of the other shows that there is such a text.
      if (holds(other.literal) || texts.some((text) => !matches(other.pattern, text))) continue;
      if (!haveText(one.pattern, other.pattern, false)) return [notLiteral(one.literal), other.literal];
    }
  }
  return null;
}

/** Whether some text passes the first test and answers the second so; true where that is not known. */
function haveText(first: string, second: string, answer: boolean): boolean {
  const vectors = textVectors([first, second]);
  return vectors?.some(({ answers }) => answers[0] === true && answers[1] === answer) !== false;
}

function textsOf(pattern: string): readonly string[] {
  return textVectors([pattern])?.find(({ answers }) => answers[0] === true)?.texts ?? [];
}

function matches(pattern: string, text: string): boolean {
  const program = programOf(pattern);
  if (program === null) return false;
  let position = program.start;
  let before: number | null = null;
  for (const letter of text) {
    const codePoint = letter.codePointAt(0)!;
    position = program.step(position, before, codePoint);
    before = codePoint;
  }
  return program.accepts(position, before);
}
