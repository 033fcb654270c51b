// How many random cases a law tries. `npm test` tries as many as find a plain mistake within a second or so of each
// law; `npm run laws` tries twenty times as many.

const factor = Number(process.env.WRIT_TRIES ?? 1);

/** Multiplies a number of cases, and the least number of findings that is expected of them, by `WRIT_TRIES`. */
export function tries(count: number): number {
  return Math.ceil(count * factor);
}
