// Filters the rules that an index has found, before any condition is evaluated. A rule with bounds on one
// more number is dropped when the number lies outside. When these bounds and the index key are all that a
// rule requires, the rule is true without being evaluated. INVARIANT: a dropped rule is false, a decided rule
// is true.

import type { Bounds, IndexKey } from './index-key.ts';

/**
 * The bounds of each rule, by its place. They are in typed arrays, because thousands of rules are examined
 * and an object for each would be another line of memory.
 */
export interface Prefilter {
  /**
   * By the rule's place, two bytes. The lowest byte is the subject of the bounds plus 1, or 0 without bounds.
   * The next byte is the subject under which the rule is filed plus 1, if that key and the bounds decide the
   * rule, otherwise 0.
   */
  readonly subjects: Int32Array;
  /** The lower and the upper bound of each rule, both included. */
  readonly bounds: Float64Array;
}

/** A rule with the keys under which it has been filed. */
export interface FiledRule {
  /** The first key under which the rule is filed; null when the rule is always tried. */
  readonly first: IndexKey | null;
  readonly indexKeys: readonly IndexKey[];
  /** The number of parts of the rule's condition. */
  readonly parts: number;
}

/** The most subjects whose number fits into one byte. */
const subjectsMax = 254;

/**
 * Creates the prefilter of an index. `places` are the places of the subjects, by their key. Throws a
 * TypeError for too many subjects.
 */
export function createPrefilter(
  rules: readonly FiledRule[],
  indexes: ReadonlyMap<string, number>,
): Prefilter {
  if (indexes.size > subjectsMax) throw new TypeError('an index has few subjects');
  const subjects = new Int32Array(rules.length);
  const bounds = new Float64Array(2 * rules.length);
  for (const [at, { first, indexKeys, parts }] of rules.entries()) {
    const other = indexKeys.find(
      (indexKey) =>
        indexKey !== first && indexKey.test.kind === 'bounds' && indexes.has(indexKey.subject.key),
    );
    const covered = (first?.exactParts ?? 0) + (other?.exactParts ?? 0);
    if (other?.test.kind === 'bounds') {
      subjects[at] = indexes.get(other.subject.key)! + 1;
      bounds[2 * at] = lowest(other.test);
      bounds[2 * at + 1] = highest(other.test);
    }
    if (first !== null && covered === parts) subjects[at]! |= (indexes.get(first.subject.key)! + 1) << 8;
  }
  return { subjects, bounds };
}

/**
 * Filters the first `count` places in `found`. Rules that have to be tried stay as their places, rules that
 * are true as the complements of their places, all others are removed. Returns how many entries are left.
 */
export function applyPrefilter(
  { subjects, bounds }: Prefilter,
  values: readonly unknown[],
  { found: ruleIndexes, count }: { readonly found: Int32Array; readonly count: number },
): number {
  let passedCount = 0;
  for (let at = 0; at < count; at += 1) {
    const index = ruleIndexes[at]!;
    const subject = subjects[index]!;
    let isDecided = subject > 0xff && values[(subject >> 8) - 1] != null;
    if ((subject & 0xff) !== 0) {
      const value = values[(subject & 0xff) - 1];
      if (typeof value !== 'number') isDecided = false;
      else if (!(value >= bounds[2 * index]! && value <= bounds[2 * index + 1]!)) continue;
    }
    ruleIndexes[passedCount] = isDecided ? ~index : index;
    passedCount += 1;
  }
  return passedCount;
}

function lowest({ low, isLowIncluded }: Bounds): number {
  return isLowIncluded || !Number.isFinite(low) ? low : next(low);
}

function highest({ high, isHighIncluded }: Bounds): number {
  return isHighIncluded || !Number.isFinite(high) ? high : -next(-high);
}

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** Returns the smallest number that is larger. */
function next(number: number): number {
  if (number === 0) return Number.MIN_VALUE;
  double[0] = number;
  bits[0]! += number > 0 ? 1n : -1n;
  return double[0];
}
