/**
 * A seeded sequence of random numbers: the same seed gives the same sequence, and so the same tried requests.
 */
export interface RandomSource {
  /** A number from 0, included, to 1, excluded. */
  readonly next: () => number;
  /** A whole number from 0, included, to `end`, excluded. */
  readonly below: (end: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(choices: readonly T[]) => T;
  /** The choices, in order, each kept with the given probability. */
  readonly some: <T>(choices: readonly T[], probability: number) => readonly T[];
}

/** Returns the mulberry32 sequence of a 32-bit seed. */
export function createRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    some: (choices, probability) => choices.filter(() => next() < probability),
  };
}
