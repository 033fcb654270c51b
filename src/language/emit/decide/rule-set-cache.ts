// Keeps the decision or the risk for a combination of rules that take part, for the next request with the
// same combination. Each combination of few rules has two possible slots, in which later combinations replace
// it. Each combination of many rules has one slot, and all of those share a limited amount of memory.
// INVARIANT: what is found was kept for exactly these rules and truths.

/**
 * The most rules of a combination in the fixed slots. Combinations of more rules are kept in a map, because
 * their keys vary in length.
 */
const fewMax = 7;
const slotsMin = 64;
/** A bound on the number of slots, because agents choose which combinations occur. */
const slotsMax = 4_096;

/** The length of a key in numbers: the number of rules, then each rule with its truth. */
const stride = fewMax + 1;

/**
 * The number of slots for combinations of many rules, and a bound on the length of all their keys together.
 */
const manySlots = 256;
const manyNumbersMax = 2 ** 17;

/** A class, because it grows with the combinations that occur. `T` is never undefined. */
export class RuleSetCache<T> {
  #slots = slotsMin;
  #keys = new Int32Array(slotsMin * stride).fill(-1);
  #kept: (T | undefined)[] = emptySlots(slotsMin);
  #replaced = 0;
  readonly #many = new Map<number, { readonly key: Int32Array; readonly value: T }>();
  #manyNumbers = 0;

  /**
   * Returns what was kept for the first `count` numbers of `firing` (rules with their truths), or undefined.
   * The same rules in another order are another combination.
   */
  find(firing: Int32Array, count: number): T | undefined {
    if (count > fewMax) return this.#findMany(firing, count);
    const slot = hashOf(firing, count) & (this.#slots - 1);
    if (this.#holds(slot, firing, count)) return this.#kept[slot];
    return this.#holds(slot ^ 1, firing, count) ? this.#kept[slot ^ 1] : undefined;
  }

  keep(firing: Int32Array, count: number, value: T): void {
    if (count > fewMax) {
      this.#keepMany(firing.slice(0, count), value);
      return;
    }
    const first = hashOf(firing, count) & (this.#slots - 1);
    const isFull = this.#keys[first * stride] !== -1 && this.#keys[(first ^ 1) * stride] !== -1;
    if (isFull) this.#replaced += 1;
    const isFirst = isFull ? this.#replaced % 2 === 0 : this.#keys[first * stride] === -1;
    const slot = isFirst ? first : first ^ 1;
    const from = slot * stride;
    this.#keys[from] = count;
    for (let at = 0; at < count; at += 1) this.#keys[from + 1 + at] = firing[at]!;
    this.#kept[slot] = value;
    if (this.#replaced > this.#slots / 4 && this.#slots < slotsMax) this.#grow();
  }

  #findMany(firing: Int32Array, count: number): T | undefined {
    const slot = this.#many.get(hashOf(firing, count) & (manySlots - 1));
    if (slot === undefined || slot.key.length !== count) return undefined;
    const { key } = slot;
    for (let at = 0; at < count; at += 1) if (key[at] !== firing[at]) return undefined;
    return slot.value;
  }

  #keepMany(key: Int32Array, kept: T): void {
    if (key.length > manyNumbersMax) return;
    const slot = hashOf(key, key.length) & (manySlots - 1);
    this.#manyNumbers += key.length - (this.#many.get(slot)?.key.length ?? 0);
    if (this.#manyNumbers > manyNumbersMax) {
      this.#many.clear();
      this.#manyNumbers = key.length;
    }
    this.#many.set(slot, { key, value: kept });
  }

  #holds(slot: number, firing: Int32Array, count: number): boolean {
    const keys = this.#keys;
    const from = slot * stride;
    if (keys[from] !== count) return false;
    for (let at = 0; at < count; at += 1) if (keys[from + 1 + at] !== firing[at]) return false;
    return true;
  }

  /** Drops what was kept. Combinations that matter will occur again. */
  #grow(): void {
    this.#slots *= 4;
    this.#keys = new Int32Array(this.#slots * stride).fill(-1);
    this.#kept = emptySlots(this.#slots);
    this.#replaced = 0;
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, (): T | undefined => undefined);
}

/** Mixes the numbers in the way of MurmurHash. */
function hashOf(firing: Int32Array, count: number): number {
  let hash = count;
  for (let at = 0; at < count; at += 1) {
    hash = Math.imul(hash ^ firing[at]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash;
}
