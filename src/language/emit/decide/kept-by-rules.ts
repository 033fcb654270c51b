// What rules that take part come to, kept for the next request that comes to the same: their decision, or the risk. Each
// combination of few rules has two places, in which later ones replace it; those of many rules have one, and share some
// room. INVARIANT: what is found was kept for just these rules and truths.

/** Combinations of more rules are kept apart, as their keys are of any length. */
const fewMax = 7;
const slotsMin = 64;
/** Agents choose which combinations come up. */
const slotsMax = 4_096;

/** Numbers in a slot: how many rules there are, and each of them with its truth. */
const stride = fewMax + 1;

/** Of combinations of many rules: places, and numbers in all keys together. */
const manySlots = 256;
const manyNumbersMax = 2 ** 17;

/** A class, as it grows with what comes up. `T` is never undefined. */
export class KeptByRules<T> {
  #slots = slotsMin;
  #keys = new Int32Array(slotsMin * stride).fill(-1);
  #kept: (T | undefined)[] = emptySlots(slotsMin);
  #replaced = 0;
  readonly #many = new Map<number, { readonly key: Int32Array; readonly kept: T }>();
  #manyNumbers = 0;

  /** `firing` are rules and truths as numbers; the first `count` of them. Another order is another combination. */
  find(firing: Int32Array, count: number): T | undefined {
    if (count > fewMax) return this.#findMany(firing, count);
    const slot = hashOf(firing, count) & (this.#slots - 1);
    if (this.#holds(slot, firing, count)) return this.#kept[slot];
    return this.#holds(slot ^ 1, firing, count) ? this.#kept[slot ^ 1] : undefined;
  }

  keep(firing: Int32Array, count: number, kept: T): void {
    if (count > fewMax) {
      this.#keepMany(firing.slice(0, count), kept);
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
    this.#kept[slot] = kept;
    if (this.#replaced > this.#slots / 4 && this.#slots < slotsMax) this.#grow();
  }

  #findMany(firing: Int32Array, count: number): T | undefined {
    const found = this.#many.get(hashOf(firing, count) & (manySlots - 1));
    if (found === undefined || found.key.length !== count) return undefined;
    const { key } = found;
    for (let at = 0; at < count; at += 1) if (key[at] !== firing[at]) return undefined;
    return found.kept;
  }

  #keepMany(key: Int32Array, kept: T): void {
    if (key.length > manyNumbersMax) return;
    const slot = hashOf(key, key.length) & (manySlots - 1);
    this.#manyNumbers += key.length - (this.#many.get(slot)?.key.length ?? 0);
    if (this.#manyNumbers > manyNumbersMax) {
      this.#many.clear();
      this.#manyNumbers = key.length;
    }
    this.#many.set(slot, { key, kept });
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
    this.#kept = emptySlots(this.#slots);
    this.#replaced = 0;
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, (): T | undefined => undefined);
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
