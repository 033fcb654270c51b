// Turns a JSON value into its one canonical text (RFC 8785): no white space, names in the order of their
// UTF-16 code units, numbers and texts as JavaScript writes them. INVARIANT: equal values have equal texts in
// every program that implements the standard, so anybody can check a digest over the text without this code.

export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [name: string]: CanonicalValue };

/**
 * Returns the canonical text. Throws RangeError for what the standard excludes: numbers that are not finite,
 * and text with a lone surrogate.
 */
export function canonicalJson(value: CanonicalValue): string {
  switch (typeof value) {
    case 'string':
      return textJson(value);
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`JSON has no number ${value}`);
      // A template writes a finite number exactly as JSON does, in half the time.
      return `${value}`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : nestedJson(value);
  }
}

function nestedJson(value: Extract<CanonicalValue, object>): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((name) => `${textJson(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** Narrows the type, since `Array.isArray` does not recognise a read-only list. */
function isList(value: Extract<CanonicalValue, object>): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}

function textJson(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('JSON has no text with a lone surrogate');
  return JSON.stringify(text);
}
