// Compares two versions of a file, and writes the one hunk that holds all differences, in the form that `git
// apply` reads.

/** Unchanged lines shown around the difference. */
const contextLines = 2;

export interface Hunk {
  /** Such as `@@ -7,5 +7,4 @@`. */
  readonly head: string;
  /** Each line begins with a blank, `-` or `+`. */
  readonly lines: readonly string[];
}

/** The hunk of all differences; the texts must differ. */
export function hunkOf(before: string, after: string): Hunk {
  const old = linesOf(before);
  const now = linesOf(after);
  const shortest = Math.min(old.length, now.length);
  let same = 0;
  while (same < shortest && old[same] === now[same]) same += 1;
  let sameAtEnd = 0;
  while (sameAtEnd < shortest - same && old.at(-1 - sameAtEnd) === now.at(-1 - sameAtEnd)) sameAtEnd += 1;
  const from = Math.max(0, same - contextLines);
  const contextCount = Math.min(sameAtEnd, contextLines);
  const lines = [
    ...old.slice(from, same).map((line) => ` ${line}`),
    ...old.slice(same, old.length - sameAtEnd).map((line) => `-${line}`),
    ...now.slice(same, now.length - sameAtEnd).map((line) => `+${line}`),
    ...old.slice(old.length - sameAtEnd, old.length - sameAtEnd + contextCount).map((line) => ` ${line}`),
  ];
  const range = (count: number): string => `${count === 0 ? from : from + 1},${count}`;
  const oldCount = old.length - sameAtEnd + contextCount - from;
  const nowCount = now.length - sameAtEnd + contextCount - from;
  return { head: `@@ -${range(oldCount)} +${range(nowCount)} @@`, lines };
}

/**
 * The hunk with a header that names the file; a path inside the current directory gets the usual prefixes.
 */
export function mutantDiff(path: string, hunk: Hunk): string {
  const isInside = !path.startsWith('..') && !path.startsWith('/');
  const [old, fresh] = isInside ? [`a/${path}`, `b/${path}`] : [path, path];
  return [`--- ${old}`, `+++ ${fresh}`, hunk.head, ...hunk.lines, ''].join('\n');
}

/** A last line without a line break is marked, as diffs do. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
