// What an index has found is filtered before any condition is evaluated: a rule's bounds on one more number drop it where
// the number lies outside, and where this and its index key are all that it asks, it is true without being evaluated.
// INVARIANT: a rule that is dropped is false, a rule that is decided is true.

import type { Bounds, IndexKey } from './index-key.ts';

/** The bounds by place of the rule, in typed arrays, since thousands of rules are asked and each is another line of memory. */
export interface Prefilter {
  /** The lowest byte is one more than the subject of the bounds, the next one more than the subject under which a rule is filed that these two decide; 0 for none. */
  readonly subjects: Int32Array;
  /** Lower and upper bound, both included. */
  readonly bounds: Float64Array;
}

/** A rule as it has been filed. */
export interface FiledRule {
  /** What the rule is filed under first; null where it is always tried. */
  readonly first: IndexKey | null;
  readonly indexKeys: readonly IndexKey[];
  /** How many parts its condition has. */
  readonly parts: number;
}

/** Beyond these a subject has no number of one byte. */
const subjectsMax = 254;

/** `places` are the subjects' by key. */
export function createPrefilter(rules: readonly FiledRule[], places: ReadonlyMap<string, number>): Prefilter {
  if (places.size > subjectsMax) throw new TypeError('an index has few subjects');
  const subjects = new Int32Array(rules.length);
  const bounds = new Float64Array(2 * rules.length);
  for (const [at, { first, indexKeys, parts }] of rules.entries()) {
    const other = indexKeys.find(
      (indexKey) => indexKey !== first && indexKey.test.kind === 'bounds' && places.has(indexKey.subject.key),
    );
    const covered = (first?.exactParts ?? 0) + (other?.exactParts ?? 0);
    if (other?.test.kind === 'bounds') {
      subjects[at] = places.get(other.subject.key)! + 1;
      bounds[2 * at] = lowest(other.test);
      bounds[2 * at + 1] = highest(other.test);
    }
    if (first !== null && covered === parts) subjects[at]! |= (places.get(first.subject.key)! + 1) << 8;
  }
  return { subjects, bounds };
}

/**
 * Keeps of the first `count` places in `found` those that have to be tried, and those of rules that are true, as their
 * complements; returns how many are left.
 */
export function applyPrefilter(
  { subjects, bounds }: Prefilter,
  values: readonly unknown[],
  { found, count }: { readonly found: Int32Array; readonly count: number },
): number {
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const place = found[at]!;
    const asked = subjects[place]!;
    let isDecided = asked > 0xff && values[(asked >> 8) - 1] != null;
    if ((asked & 0xff) !== 0) {
      const value = values[(asked & 0xff) - 1];
      if (typeof value !== 'number') isDecided = false;
      else if (!(value >= bounds[2 * place]! && value <= bounds[2 * place + 1]!)) continue;
    }
    found[kept] = isDecided ? ~place : place;
    kept += 1;
  }
  return kept;
}

function lowest({ low, isLowIncluded }: Bounds): number {
  return isLowIncluded || !Number.isFinite(low) ? low : next(low);
}

function highest({ high, isHighIncluded }: Bounds): number {
  return isHighIncluded || !Number.isFinite(high) ? high : -next(-high);
}

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The smallest number that is larger. */
function next(number: number): number {
  if (number === 0) return Number.MIN_VALUE;
  double[0] = number;
  bits[0]! += number > 0 ? 1n : -1n;
  return double[0];
}
