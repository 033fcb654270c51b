// Two versions of a file → the one hunk that holds all that differs, as `git apply` takes it.

/** Lines around what differs. */
const contextLines = 2;

export interface Hunk {
  /** `@@ -7,5 +7,4 @@`. */
  readonly head: string;
  /** Each begins with a blank, `-` or `+`. */
  readonly lines: readonly string[];
}

/** The texts must differ. */
export function hunkOf(before: string, after: string): Hunk {
  const old = linesOf(before);
  const now = linesOf(after);
  const shortest = Math.min(old.length, now.length);
  let same = 0;
  while (same < shortest && old[same] === now[same]) same += 1;
  let sameAtEnd = 0;
  while (sameAtEnd < shortest - same && old.at(-1 - sameAtEnd) === now.at(-1 - sameAtEnd)) sameAtEnd += 1;
  const from = Math.max(0, same - contextLines);
  const shown = Math.min(sameAtEnd, contextLines);
  const lines = [
    ...old.slice(from, same).map((line) => ` ${line}`),
    ...old.slice(same, old.length - sameAtEnd).map((line) => `-${line}`),
    ...now.slice(same, now.length - sameAtEnd).map((line) => `+${line}`),
    ...old.slice(old.length - sameAtEnd, old.length - sameAtEnd + shown).map((line) => ` ${line}`),
  ];
  const place = (count: number): string => `${count === 0 ? from : from + 1},${count}`;
  const oldCount = old.length - sameAtEnd + shown - from;
  const nowCount = now.length - sameAtEnd + shown - from;
  return { head: `@@ -${place(oldCount)} +${place(nowCount)} @@`, lines };
}

/** The hunk with the header that names the file, and the prefixes that are usual for a path inside of where one is. */
export function mutantDiff(path: string, hunk: Hunk): string {
  const isInside = !path.startsWith('..') && !path.startsWith('/');
  const [old, fresh] = isInside ? [`a/${path}`, `b/${path}`] : [path, path];
  return [`--- ${old}`, `+++ ${fresh}`, hunk.head, ...hunk.lines, ''].join('\n');
}

/** A last line without a line break says so, as diffs do. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
