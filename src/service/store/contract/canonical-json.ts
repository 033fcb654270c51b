// A JSON value into its one canonical text (RFC 8785): no white space, names in order of their UTF-16 code units,
// numbers and texts as JavaScript writes them. INVARIANT: equal values have equal texts, in every program that
// implements the standard, so that a digest over the text can be checked without this one.

export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [name: string]: CanonicalValue };

/** Throws RangeError for what the standard excludes: numbers that are not finite, text with a lone surrogate. */
export function canonicalJson(value: CanonicalValue): string {
  switch (typeof value) {
    case 'string':
      return textJson(value);
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`JSON has no number ${value}`);
      // As JSON writes a finite number, in half the time.
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

/** `Array.isArray` does not recognize a read-only list in the type. */
function isList(value: Extract<CanonicalValue, object>): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}

function textJson(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('JSON has no text with a lone surrogate');
  return JSON.stringify(text);
}
