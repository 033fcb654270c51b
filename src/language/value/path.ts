// Decides which texts are paths, gives their one canonical form, and decides which path lies inside which
// folder. Segments are separated by `/`; `.`, `..` and empty segments are resolved in the text alone, without
// a look at any disk. INVARIANT: two texts that differ only in such segments have one canonical form, and a
// canonical form is its own canonical form.

interface Path {
  readonly isAbsolute: boolean;
  /** The number of `..` that lead out of the folder in which a relative path starts. */
  readonly above: number;
  readonly segments: readonly string[];
}

/** Matches paths with segments to resolve, which most paths do not have, and `/` itself. */
const unsettled = /^\.{1,2}(?:\/|$)|^$|\/\.{0,2}(?:\/|$)/;

/**
 * Returns the path without `.`, `..`, empty segments and a slash at its end. `/..` becomes `/`, and the empty
 * relative path becomes `.`. Null for a text that cannot be resolved: one with a NUL, or with a backslash,
 * which some systems read as a separator; and a relative path that leads out of the folder in which it
 * starts, because only a reader who knows that folder knows where the path ends.
 */
export function canonicalPath(text: string): string | null {
  return text.includes('\0') || text.includes('\\') ? null : resolvedPath(text);
}

/**
 * Returns the path as `canonicalPath` does, with letter case folded as well, for file systems that ignore
 * case.
 */
export function canonicalPathIgnoringCase(text: string): string | null {
  const path = canonicalPath(text);
  return path === null ? null : foldCase(path);
}

/** Folds letter case, full and simple forms alike (`ß` and `SS`, `ſ` and `S`), and changes nothing else. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/**
 * Whether the path is the folder or lies below the folder. Always false between absolute and relative paths,
 * and when either of them leads out of the folder in which it starts.
 */
export function isInside(path: string, folder: string): boolean {
  const [inner, outer] = [resolvedPath(path), resolvedPath(folder)];
  if (inner === null || outer === null) return false;
  if (outer === '.') return !inner.startsWith('/');
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);
}

/**
 * Returns the path with its segments resolved; null when the path leads out of the folder in which it starts.
 */
function resolvedPath(text: string): string | null {
  if (!unsettled.test(text)) return text;
  const path = resolve(text);
  return path.above > 0 ? null : write(path);
}

function write({ isAbsolute, segments }: Path): string {
  const steps = segments.join('/');
  return isAbsolute ? `/${steps}` : steps || '.';
}

function resolve(path: string): Path {
  const isAbsolute = path.startsWith('/');
  const segments: string[] = [];
  let above = 0;
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.length > 0) segments.pop();
    else if (!isAbsolute) above += 1;
  }
  return { isAbsolute, above, segments };
}
