/**
 * Which texts are paths, their one canonical form, and which lies inside which. Segments are whole and parted by `/`;
 * `.`, `..` and empty ones are resolved in the text alone, without looking at any disk. INVARIANT: two texts that only
 * differ in such segments have one canonical form, and a canonical form is its own.
 */

interface Path {
  readonly isAbsolute: boolean;
  /** How many `..` lead out of the folder that a relative path starts in. */
  readonly above: number;
  readonly segments: readonly string[];
}

/** Segments to resolve, of which most paths have none, and `/` itself. */
const unsettled = /^\.{1,2}(?:\/|$)|^$|\/\.{0,2}(?:\/|$)/;

/**
 * The path without `.`, `..`, empty segments and a slash at its end; `/..` is `/`, the empty relative path `.`. Null for
 * what cannot be resolved: a NUL, a backslash, which some systems read as a separator, and a relative path that leads
 * out of the folder it starts in, since only a reader who knows that folder knows where it ends.
 */
export function canonicalPath(text: string): string | null {
  return text.includes('\0') || text.includes('\\') ? null : placeOf(text);
}

/** As `canonicalPath`, for a file system that takes letters of both cases for one: the letters are folded, too. */
export function canonicalPathIgnoringCase(text: string): string | null {
  const path = canonicalPath(text);
  return path === null ? null : foldCase(path);
}

/** Letters of both cases as one, full and simple forms alike (`ß` and `SS`, `ſ` and `S`); nothing else is changed. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/**
 * Whether the path is the folder or lies below it. Never across absolute and relative paths, and never when either
 * leads out of where it starts.
 */
export function isInside(path: string, folder: string): boolean {
  const [inner, outer] = [placeOf(path), placeOf(folder)];
  if (inner === null || outer === null) return false;
  if (outer === '.') return !inner.startsWith('/');
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);
}

/** Its segments resolved; null where it leads out of where it starts. */
function placeOf(text: string): string | null {
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
