// Whole numbers into counts on a scale whose steps grow with the numbers. INVARIANT: a quantile up to 31 is
// exact; above, it differs from the number that has this rank by less than 1/32 of it.

/** Slots for each doubling; each number below twice as many has a slot of its own. */
const steps = 16;
const stepBits = 4;
/** Two to this power and all larger numbers share the last slot. */
const bitsMax = 36;
const histogramSlots = (bitsMax - stepBits + 1) * steps;

export type Histogram = Uint32Array;

export function createHistogram(): Histogram {
  return new Uint32Array(histogramSlots);
}

export function addTo(histogram: Histogram, value: number): void {
  const slot = slotOf(value);
  histogram[slot] = histogram[slot]! + 1;
}

function slotOf(value: number): number {
  if (!(value >= 1)) return 0;
  if (value < 2 * steps) return Math.trunc(value);
  if (value >= 2 ** bitsMax) return histogramSlots - 1;
  // Beyond 32 bits, the leading bits are those of the upper part.
  const isLarge = value >= 2 ** 31;
  const upper = isLarge ? Math.trunc(value / 2 ** 16) : Math.trunc(value);
  const exponent = 31 - Math.clz32(upper);
  const step = (upper >>> (exponent - stepBits)) - steps;
  return (exponent + (isLarge ? 16 : 0) - stepBits + 1) * steps + step;
}

/** The middle of the numbers that a slot counts. */
function middleOf(slot: number): number {
  if (slot < 2 * steps) return slot;
  const shift = Math.trunc(slot / steps) - 1;
  const width = 2 ** shift;
  return ((slot % steps) + steps) * width + (width - 1) / 2;
}

/** Returns the number at this share of the ranks, from 0 to 1; null when the histogram is empty. */
export function quantile(histogram: Histogram, share: number): number | null {
  let total = 0;
  for (const count of histogram) total += count;
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * share));
  for (let slot = 0; slot < histogramSlots; slot += 1) {
    left -= histogram[slot]!;
    if (left <= 0) return middleOf(slot);
  }
  return null;
}

/** Returns slots and their counts in turn, without empty slots. */
export function histogramText(histogram: Histogram): readonly number[] {
  const pairs: number[] = [];
  for (let slot = 0; slot < histogramSlots; slot += 1) {
    const count = histogram[slot]!;
    if (count > 0) pairs.push(slot, count);
  }
  return pairs;
}

/** Adds the output of `histogramText` to a histogram. */
export function addPairs(histogram: Histogram, pairs: readonly number[]): void {
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const slot = pairs[at]!;
    if (slot < histogramSlots) histogram[slot] = histogram[slot]! + pairs[at + 1]!;
  }
}
