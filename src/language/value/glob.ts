// Turns a pattern of `like` into a test of whole texts. `*` stands for any run of characters, line ends
// included, `\*` for a star and `\\` for a backslash; any other backslash stands for itself. The literal
// parts are searched from left to right, each only once, so the time is linear in the text for a given
// pattern.

/** Returns a test that is true when a whole text matches the pattern. Case matters. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const parts = globLiteralParts(pattern);
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false;
    return hasInOrder(text.slice(first.length, text.length - last.length), rest);
  };
}

/**
 * Returns the literal texts before, between and after the stars: `a*b` gives `['a', 'b']`, `*` gives `['',
 * '']`, a pattern without a star its one text.
 */
export function globLiteralParts(pattern: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const next = pattern[at + 1];
    if (pattern[at] === '*') {
      parts.push(part);
      part = '';
    } else if (pattern[at] === '\\' && (next === '*' || next === '\\')) {
      part += next;
      at += 1;
    } else {
      part += pattern[at];
    }
  }
  return [...parts, part];
}

/**
 * Whether the parts occur one after the other. Taking the leftmost place for each part leaves most room for
 * the next.
 */
function hasInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}
