// Whether the findings of an action are all that there are for lists of any length and payloads of any size: proved of a
// formula in which quantifiers are guesses, so that it is about every list.

import type { SpecTruth } from '../../language/spec/truth.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { FindingTerm } from './finding.ts';
import { FreshProof } from './fresh-proof.ts';
import type { JointProblem } from './joint-problem.ts';
import type { RegionKind } from './regions.ts';
import type { FoundChange } from './search.ts';

/** `coarse` is made of the same action. False: it is not known. */
export function isCompleteCoarsely(coarse: JointProblem, found: readonly FoundChange[]): boolean {
  // What is said of shapes is in no term.
  if (found.some(({ causes }) => causes.some(({ rule }) => rule === null))) return false;
  const { circuit } = coarse.ctx;
  const left = coarse.regions.map((region) => {
    const own = circuit.free(true);
    for (const { terms } of found.filter((one) => keyOfRegion(one.region) === keyOfRegion(region)))
      circuit.require([notLiteral(own), ...terms.flatMap((term) => failing(coarse.ctx, term))]);
    return [region.literal, own];
  });
  const proof = new FreshProof(coarse.ctx);
  return left.every((assumptions) => proof.cannotHold(assumptions) === true);
}

function keyOfRegion({ tier, difference, from, to }: RegionKind): string {
  return `${tier} ${difference} ${from} ${to}`;
}

/** Literals of which one holds where the term does not. */
function failing(ctx: ProofContext, { expression, truths }: FindingTerm): readonly SolverLiteral[] {
  const { isTrue, isFalse } = ctx.lower(expression, noElements);
  const { circuit } = ctx;
  const others = ([true, false] as readonly SpecTruth[]).filter((truth) => !truths.includes(truth));
  const isUnknown = circuit.and([notLiteral(isTrue), notLiteral(isFalse)]);
  const isOther = others.map((truth) => (truth === true ? isTrue : isFalse));
  const includesUnknown = truths.some((truth) => typeof truth !== 'boolean');
  return includesUnknown ? isOther : [...isOther, isUnknown];
}
