/**
 * Which texts are paths, their normal form, and which lies inside which. Segments are whole and parted by `/`; `.`,
 * `..` and empty ones are resolved in the text alone, without looking at any disk.
 */

interface Path {
  readonly isAbsolute: boolean;
  /** How many `..` lead out of the folder that a relative path starts in. */
  readonly above: number;
  readonly segments: readonly string[];
}

/** Whether the text can be a path: neither NUL nor a backslash, which some systems read as a separator. */
export function isPathText(text: string): boolean {
  return !text.includes('\0') && !text.includes('\\');
}

/** The path without `.`, empty and resolvable `..` segments; `/..` is `/`, the empty relative path `.`. */
export function normalisePath(path: string): string {
  const { isAbsolute, above, segments } = resolve(path);
  const steps = [...Array.from({ length: above }, () => '..'), ...segments].join('/');
  return isAbsolute ? `/${steps}` : steps || '.';
}

/**
 * Whether the path is the folder or lies below it. Never across absolute and relative paths, and never when either
 * leads out of where it starts.
 */
export function isInside(path: string, folder: string): boolean {
  const inner = resolve(path);
  const outer = resolve(folder);
  if (inner.isAbsolute !== outer.isAbsolute || inner.above > 0 || outer.above > 0) return false;
  return outer.segments.every((segment, at) => inner.segments[at] === segment);
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
