// Lists of `name=value`, separated by commas, with `%` escapes in values: how OpenTelemetry writes headers and
// attributes of a resource in a variable.

/** The pairs of a text; null when a part is no pair. A later pair replaces an earlier one of its name. */
export function pairsOf(text: string): ReadonlyMap<string, string> | null {
  const pairs = new Map<string, string>();
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [, name = '', escaped = ''] = /^\s*([^\s=;,]+)\s*=\s*([^;]*?)\s*$/.exec(part) ?? [];
    const value = unescaped(escaped);
    if (name === '' || value === null) return null;
    pairs.set(name, value);
  }
  return pairs;
}

/** The same for headers: null also when a name or a value cannot be that of a header. */
export function headersOf(text: string): ReadonlyMap<string, string> | null {
  const pairs = pairsOf(text);
  const areSent =
    pairs !== null && [...pairs].every(([name, value]) => tokenForm.test(name) && valueForm.test(value));
  return areSent ? pairs : null;
}

/** The characters of a token, and visible ASCII (RFC 9110, sections 5.6.2 and 5.5). */
const tokenForm = /^[\w!#$%&'*+.^`|~-]+$/;
const valueForm = /^[\x20-\x7e]*$/;

function unescaped(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /\p{Cc}/u.test(value) ? null : value;
  } catch {
    return null;
  }
}
