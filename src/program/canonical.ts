// Plain data as text that depends on its content alone: keys are sorted, maps are told from records and exact
// integers from numbers. INVARIANT: two parts have the same text only if they are equal.

/** The text of a part of a program; throws TypeError for what is no plain data. */
export function canonical(part: unknown): string {
  switch (typeof part) {
    case 'string':
    case 'boolean':
      return JSON.stringify(part);
    case 'number':
      return Object.is(part, -0) ? '-0' : String(part);
    case 'bigint':
      return `${part}n`;
    case 'undefined':
      return 'undefined';
    case 'object':
      return part === null ? 'null' : canonicalObject(part);
    default:
      throw new TypeError(`a ${typeof part} is no data`);
  }
}

function canonicalObject(part: object): string {
  if (Array.isArray(part)) return `[${part.map(canonical).join(',')}]`;
  if (part instanceof Map) return `map(${sortedEntries([...part])})`;
  return `{${sortedEntries(Object.entries(part))}}`;
}

function sortedEntries(entries: readonly (readonly [unknown, unknown])[]): string {
  return entries
    .map(([key, value]) => [canonical(key), canonical(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, value]) => `${key}:${value}`)
    .join(',');
}
