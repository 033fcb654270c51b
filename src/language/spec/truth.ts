// Kleene's three-valued logic: unknown stands for "either", and only what holds for both counts as known.

import { type Unknown, unknown } from '../model/value.ts';

export type SpecTruth = boolean | Unknown;

export function not(a: SpecTruth): SpecTruth {
  return a === unknown ? unknown : !a;
}

/** False if one is false, else unknown if one is unknown, else true; of nothing true. What follows the first false is not asked. */
export function every<Item>(items: readonly Item[], truthOf: (item: Item) => SpecTruth): SpecTruth {
  let truth: SpecTruth = true;
  for (const item of items) {
    const one = truthOf(item);
    if (one === false) return false;
    if (one === unknown) truth = unknown;
  }
  return truth;
}

/** True if one is true, else unknown if one is unknown, else false; of nothing false. */
export function some<Item>(items: readonly Item[], truthOf: (item: Item) => SpecTruth): SpecTruth {
  return not(every(items, (item) => not(truthOf(item))));
}
