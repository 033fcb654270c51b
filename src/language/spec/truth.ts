// Kleene's three-valued logic: unknown stands for "true or false", and only what holds for both is known.

import { type UnknownValue, unknown } from '../model/value.ts';

export type SpecTruth = boolean | UnknownValue;

export function not(a: SpecTruth): SpecTruth {
  return a === unknown ? unknown : !a;
}

/**
 * False if any item is false, else unknown if any is unknown, else true; true for no items. Items after the
 * first false one are not evaluated.
 */
export function every<Item>(items: readonly Item[], truthOf: (item: Item) => SpecTruth): SpecTruth {
  let truth: SpecTruth = true;
  for (const item of items) {
    const one = truthOf(item);
    if (one === false) return false;
    if (one === unknown) truth = unknown;
  }
  return truth;
}

/** True if any item is true, else unknown if any is unknown, else false; false for no items. */
export function some<Item>(items: readonly Item[], truthOf: (item: Item) => SpecTruth): SpecTruth {
  return not(every(items, (item) => not(truthOf(item))));
}
