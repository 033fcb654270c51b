// Makes a value once for each key and keeps it in a map for later calls; and a map that bounds how many
// values are kept. INVARIANT: `make` runs only when the map has nothing under the key, so a value must not be
// `undefined`.

/** A `Map`, or a `WeakMap`, which keeps a value for as long as its key is in use. */
interface AnyMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/**
 * A map that drops everything before it would hold more than `max` keys, so whoever chooses the keys cannot
 * fill the memory.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.#max && !this.has(key)) this.clear();
    return super.set(key, value);
  }
}

/**
 * Returns the value under the key. When the map has none, `make` makes the value from the key and the map
 * keeps it.
 */
export function memo<Key, Value extends NonNullable<unknown> | null>(
  map: AnyMap<Key, Value>,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const cached = map.get(key);
  if (cached !== undefined) return cached;
  const made = make(key);
  map.set(key, made);
  return made;
}
