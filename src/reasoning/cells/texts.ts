// One cell stands for all texts that no condition names. In that cell, tests by pattern have the combinations
// of answers that some text gives, as found by their automata. Conditions that are no pattern are left free
// there.

import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { CutState } from './cut.ts';
import { isWhere, type Leaf, type LeafAtom, type Rest } from './leaf.ts';
import { textVectors } from './text-vectors.ts';

/** How many tests are combined at once; beyond this number only pairs of tests are compared. */
export const jointPatternsMax = 8;
const pairedPatternsMax = 30;

/** Returns the truth of each condition for the texts that no condition names. */
export function cutRest(leaf: Leaf, cutting: CutState): (atom: LeafAtom) => Pair {
  const { circuit } = cutting;
  const patterns = [
    ...new Set(
      leaf.atoms.flatMap(({ understood }) => (understood.kind === 'pattern' ? [understood.pattern] : [])),
    ),
  ];
  const literals = patterns.map(() => circuit.free());
  if (leaf.domain === 'text' && patterns.length > 0) {
    leaf.rest = { patterns, literals };
    requireVectors(leaf, cutting);
  }
  const looseByText = new Map<string, Pair>();
  return ({ understood, text }) => {
    if (understood.kind === 'pattern') return pairOf(literals[patterns.indexOf(understood.pattern)]!);
    if (understood.kind === 'values') return constant(understood.otherwise, circuit);
    const isTwoValued = understood.kind === 'loose' && understood.isTwoValued;
    const loose = looseByText.get(text) ?? (isTwoValued ? pairOf(circuit.free()) : circuit.freePair());
    looseByText.set(text, loose);
    return loose;
  };
}

function pairOf(literal: SolverLiteral): Pair {
  return { isTrue: literal, isFalse: notLiteral(literal) };
}

function constant(truth: boolean, circuit: Circuit): Pair {
  return pairOf(truth ? circuit.yes : circuit.no);
}

/** Requires of the rest's tests that some text gives their answers together. */
function requireVectors(leaf: Leaf, { circuit, faults }: CutState): void {
  const { patterns, literals } = leaf.rest!;
  const isRest = isWhere(leaf, ({ isOther }) => isOther, circuit);
  if (faults.has('texts-lack-the-rest')) circuit.require([notLiteral(isRest)]);
  if (patterns.length <= jointPatternsMax) {
    const vectors = textVectors([...patterns, ...leaf.patterns], leaf.indexes);
    if (vectors === null) return;
    const possible = vectors.filter(({ answers }) => !answers.slice(patterns.length).includes(false));
    const satisfiable = faults.has('texts-lack-a-vector') ? possible.slice(0, -1) : possible;
    circuit.require([
      notLiteral(isRest),
      ...satisfiable.map(({ answers }) => conjunction(literals, answers, circuit)),
    ]);
  } else if (arePairsRequired(leaf.rest!)) requirePairs(leaf, circuit);
}

/** Whether the formula states which answers two tests can have together. */
export function arePairsRequired({ patterns }: Rest): boolean {
  return patterns.length <= pairedPatternsMax;
}

function conjunction(
  literals: readonly SolverLiteral[],
  answers: readonly boolean[],
  circuit: Circuit,
): SolverLiteral {
  return circuit.and(literals.map((literal, at) => (answers[at] === true ? literal : notLiteral(literal))));
}

function requirePairs(leaf: Leaf, circuit: Circuit): void {
  const { patterns, literals } = leaf.rest!;
  for (const [at, first] of patterns.entries()) {
    for (let other = at + 1; other < patterns.length; other += 1) {
      const vectors = textVectors([first, patterns[other]!]);
      if (vectors === null) continue;
      const possible = vectors.map(({ answers }) =>
        conjunction([literals[at]!, literals[other]!], answers, circuit),
      );
      circuit.require([circuit.or(possible)]);
    }
  }
}
