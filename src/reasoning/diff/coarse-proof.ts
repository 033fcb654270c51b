// Whether the findings of an action are all that there are for lists of any length and payloads of any size: proved of a
// formula in which quantifiers are guesses, so that it is about every list.

import { notLiteral } from '../solver/literal.ts';
import { elsewhereThan } from './finding.ts';
import { FreshProof } from './fresh-proof.ts';
import type { JointProblem } from './joint-problem.ts';
import { keyOfRegion } from './regions.ts';
import type { FoundChange } from './search.ts';

/** `coarse` is made of the same action. False: it is not known. */
export function isCompleteCoarsely(coarse: JointProblem, found: readonly FoundChange[]): boolean {
  // What is said of shapes is in no term.
  if (found.some(({ causes }) => causes.some(({ rule }) => rule === null))) return false;
  const { circuit } = coarse.ctx;
  const left = coarse.regions.map((region) => {
    const own = circuit.free(true);
    for (const one of found.filter((one) => keyOfRegion(one.region) === keyOfRegion(region)))
      circuit.require([notLiteral(own), ...elsewhereThan(coarse.ctx, one)]);
    return [region.literal, own];
  });
  const proof = new FreshProof(coarse.ctx);
  return left.every((assumptions) => proof.cannotHold(assumptions) === true);
}
