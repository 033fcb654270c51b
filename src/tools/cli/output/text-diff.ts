// Two texts → a unified diff as `diff -u` writes it, which `patch` and `git apply` take.

/** Lines of context around a change. */
const contextLines = 3;

/** Insertions and deletions up to which the shortest edit script is looked for; beyond, all lines between are replaced. */
const editsMax = 1_000;

/** Empty for equal texts. Ends with a line break. Relative paths get the prefixes that `git apply` expects. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  const steps = stepsBetween(linesOf(before), linesOf(after));
  const hunks = hunksOf(steps).map(printHunk);
  const [old, fresh] = path.startsWith('/') ? [path, path] : [`a/${path}`, `b/${path}`];
  return [`--- ${old}`, `+++ ${fresh}`, ...hunks].map((part) => `${part}\n`).join('');
}

interface Step {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** With their line breaks, so that a last line without one differs from the same line with one. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function stepsBetween(before: readonly string[], after: readonly string[]): readonly Step[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    ...before.slice(0, head).map(kept),
    ...shortestScript(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(kept),
  ];
}

function kept(line: string): Step {
  return { mark: ' ', line };
}

/** Myers' greedy search: for each number of edits the furthest point on each diagonal, then the way back. */
function shortestScript(before: readonly string[], after: readonly string[]): readonly Step[] {
  const reached: Int32Array[] = [];
  const editsLimit = Math.min(before.length + after.length, editsMax);
  for (let edits = 0; edits <= editsLimit; edits++) {
    const row = new Int32Array(2 * edits + 1);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = furthest(reached[edits - 1], edits - 1, diagonal);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      row[diagonal + edits] = x;
      if (x >= before.length && x - diagonal >= after.length) return wayBack(before, after, reached);
    }
    reached.push(row);
  }
  return [
    ...before.map((line): Step => ({ mark: '-', line })),
    ...after.map((line): Step => ({ mark: '+', line })),
  ];
}

/** Where one more edit leads on a diagonal: a deletion from the one below or an insertion from the one above. */
function furthest(row: Int32Array | undefined, edits: number, diagonal: number): number {
  if (row === undefined) return 0;
  return isInsertion(row, edits, diagonal)
    ? pointOn(row, edits, diagonal + 1)
    : pointOn(row, edits, diagonal - 1) + 1;
}

function isInsertion(row: Int32Array, edits: number, diagonal: number): boolean {
  return pointOn(row, edits, diagonal - 1) < pointOn(row, edits, diagonal + 1);
}

function pointOn(row: Int32Array, edits: number, diagonal: number): number {
  return row[diagonal + edits] ?? -1;
}

function wayBack(
  before: readonly string[],
  after: readonly string[],
  reached: readonly Int32Array[],
): readonly Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (let edits = reached.length - 1; edits >= 0; edits--) {
    const row = reached[edits]!;
    const isInserted = isInsertion(row, edits, x - y);
    const fromX = pointOn(row, edits, x - y + (isInserted ? 1 : -1));
    const fromY = fromX - (x - y + (isInserted ? 1 : -1));
    while (x > fromX + (isInserted ? 0 : 1) && y > fromY + (isInserted ? 1 : 0)) {
      steps.push(kept(before[--x]!));
      y--;
    }
    if (isInserted) steps.push({ mark: '+', line: after[--y]! });
    else steps.push({ mark: '-', line: before[--x]! });
  }
  while (x > 0) steps.push(kept(before[--x]!));
  return steps.toReversed();
}

interface Hunk {
  /** From 0, of the first line. */
  readonly before: number;
  readonly after: number;
  readonly steps: readonly Step[];
}

function hunksOf(steps: readonly Step[]): readonly Hunk[] {
  const hunks: { before: number; after: number; steps: Step[]; end: number }[] = [];
  const at = { before: 0, after: 0 };
  const starts = steps.map(({ mark }) => {
    const start = { ...at };
    if (mark !== '+') at.before++;
    if (mark !== '-') at.after++;
    return start;
  });
  for (const [index, { mark }] of steps.entries()) {
    if (mark === ' ') continue;
    const first = Math.max(0, index - contextLines);
    const end = Math.min(steps.length, index + contextLines + 1);
    const open = hunks.at(-1);
    if (open !== undefined && first <= open.end) {
      open.steps.push(...steps.slice(open.end, end));
      open.end = Math.max(open.end, end);
    } else hunks.push({ ...starts[first]!, steps: steps.slice(first, end), end });
  }
  return hunks;
}

function printHunk({ before, after, steps }: Hunk): string {
  const range = (start: number, without: Step['mark']): string => {
    const count = steps.filter(({ mark }) => mark !== without).length;
    return `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`;
  };
  const lines = steps.map(({ mark, line }) =>
    line.endsWith('\n') ? `${mark}${line.slice(0, -1)}` : `${mark}${line}\n\\ No newline at end of file`,
  );
  return [`@@ -${range(before, '+')} +${range(after, '-')} @@`, ...lines].join('\n');
}
