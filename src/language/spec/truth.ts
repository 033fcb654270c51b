// Kleene's three-valued logic: unknown stands for "either", and only what holds for both counts as known.

import { type Unknown, unknown } from '../model/value.ts';

export type SpecTruth = boolean | Unknown;

export function not(a: SpecTruth): SpecTruth {
  return a === unknown ? unknown : !a;
}

/** False if one is false, else unknown if one is unknown, else true; of nothing true. */
export function every(truths: readonly SpecTruth[]): SpecTruth {
  if (truths.includes(false)) return false;
  return truths.includes(unknown) ? unknown : true;
}

/** True if one is true, else unknown if one is unknown, else false; of nothing false. */
export function some(truths: readonly SpecTruth[]): SpecTruth {
  if (truths.includes(true)) return true;
  return truths.includes(unknown) ? unknown : false;
}
