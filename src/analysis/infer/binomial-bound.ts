// Bounds a share from above by a sample: the upper end of the one-sided Clopper–Pearson interval. It is exact
// for the binomial distribution, so for independent draws the true share exceeds the bound with at most the
// remaining probability, whatever the share is.

/** The probability with which the true share is at most the bound. */
export const confidence = 0.95;

/** Halvings of the interval; more would not change a number in double precision. */
const rounds = 60;

/**
 * The largest share for which `hits` or fewer of `draws` still have a probability of at least
 * `1 - confidence`. 1 if nothing was drawn.
 */
export function shareAtMost(hits: number, draws: number): number {
  if (draws === 0 || hits >= draws) return 1;
  let [low, high] = [hits / draws, 1];
  for (let round = 0; round < rounds; round += 1) {
    const middle = (low + high) / 2;
    if (probabilityOfAtMost(hits, draws, middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return high;
}

/** Sums in logarithms, because single terms may be too small for a number. */
function probabilityOfAtMost(hits: number, draws: number, share: number): number {
  if (share >= 1) return hits >= draws ? 1 : 0;
  if (share <= 0) return 1;
  const odds = Math.log(share) - Math.log1p(-share);
  let term = draws * Math.log1p(-share);
  let sum = term;
  for (let k = 1; k <= hits; k += 1) {
    term += Math.log((draws - k + 1) / k) + odds;
    const larger = Math.max(sum, term);
    sum = larger + Math.log1p(Math.exp(Math.min(sum, term) - larger));
  }
  return Math.exp(sum);
}
