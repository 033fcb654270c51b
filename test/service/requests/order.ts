// Pseudo-random numbers that decide the order of events in tests of laws.

/** Random numbers that are the same for the same seed. */
export function createOrder(seed: number) {
  let state = seed;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  return { below, pick: <T>(of: readonly T[]): T => of[below(of.length)]! };
}
