// Decisions by the rules that take part, kept for the next request that comes to the same. Each combination has two
// places, in which later ones replace it. INVARIANT: what is found was kept for just these rules and truths.

import type { Settled } from './decide.ts';

/** Combinations of more rules are seldom the same twice. */
const rulesMax = 7;
const slotsMin = 64;
/** Agents choose which combinations come up. */
const slotsMax = 4_096;

/** So many numbers a slot: how many rules there are, and each of them with its truth. */
const stride = rulesMax + 1;

/** A class, as it grows with what comes up. */
export class KeptDecisions {
  #slots = slotsMin;
  #keys = new Int32Array(slotsMin * stride).fill(-1);
  #settled: (Settled | undefined)[] = emptySlots(slotsMin);
  #replaced = 0;

  /** `firing` are rules and truths as numbers, ascending; the first `count` of them. */
  find(firing: Int32Array, count: number): Settled | undefined {
    if (count > rulesMax) return undefined;
    const slot = hashOf(firing, count) & (this.#slots - 1);
    if (this.#holds(slot, firing, count)) return this.#settled[slot];
    return this.#holds(slot ^ 1, firing, count) ? this.#settled[slot ^ 1] : undefined;
  }

  keep(firing: Int32Array, count: number, settled: Settled): void {
    if (count > rulesMax) return;
    const first = hashOf(firing, count) & (this.#slots - 1);
    const isFull = this.#keys[first * stride] !== -1 && this.#keys[(first ^ 1) * stride] !== -1;
    if (isFull) this.#replaced += 1;
    const isFirst = isFull ? this.#replaced % 2 === 0 : this.#keys[first * stride] === -1;
    const slot = isFirst ? first : first ^ 1;
    const from = slot * stride;
    this.#keys[from] = count;
    for (let at = 0; at < count; at += 1) this.#keys[from + 1 + at] = firing[at]!;
    this.#settled[slot] = settled;
    if (this.#replaced > this.#slots / 4 && this.#slots < slotsMax) this.#grow();
  }

  #holds(slot: number, firing: Int32Array, count: number): boolean {
    const keys = this.#keys;
    const from = slot * stride;
    if (keys[from] !== count) return false;
    for (let at = 0; at < count; at += 1) if (keys[from + 1 + at] !== firing[at]) return false;
    return true;
  }

  /** What was kept comes up again, or does not matter. */
  #grow(): void {
    this.#slots *= 4;
    this.#keys = new Int32Array(this.#slots * stride).fill(-1);
    this.#settled = emptySlots(this.#slots);
    this.#replaced = 0;
  }
}

function emptySlots(count: number): (Settled | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}

/** Murmur's way of mixing. */
function hashOf(firing: Int32Array, count: number): number {
  let hash = count;
  for (let at = 0; at < count; at += 1) {
    hash = Math.imul(hash ^ firing[at]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash;
}
