// A value that is made once for each key and kept in a map for later calls. INVARIANT: `make` runs only where the map has
// nothing under the key, so no value is `undefined`.

/** A `Map` or a `WeakMap`, which keeps a value for as long as its key is in use. */
interface Kept<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** Yields the value under the key. Where there is none, `make` makes it from the key, and the map keeps it. */
export function memo<Key, Value extends NonNullable<unknown> | null>(
  map: Kept<Key, Value>,
  key: Key,
  make: (key: Key) => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}
