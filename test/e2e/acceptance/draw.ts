// Turns a number into a sequence of choices that look random and are always the same; random cases are made
// of these choices.

export interface Draw {
  /** A whole number below `end`. */
  below(end: number): number;
  chance(share: number): boolean;
  from<T>(choices: readonly T[]): T;
}

/** A sequence of numbers that looks random and is fixed by its start. */
export function createDraw(start: number): Draw {
  let state = start >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  next();
  return {
    below: (end) => Math.floor(next() * end),
    chance: (share) => next() < share,
    from: (choices) => choices[Math.floor(next() * choices.length)]!,
  };
}
