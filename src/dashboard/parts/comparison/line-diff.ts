// Two texts into what was taken away and what was added, line by line, with some lines around (Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986). INVARIANT: what is kept and added, in order, is the new text.

export interface DiffLine {
  readonly kind: 'kept' | 'gone' | 'new';
  readonly text: string;
  /** Its number in the text that has it: the new one for what is kept. */
  readonly line: number;
}

/** Beyond so many differences the rest is told as one replacement: nobody reads that line by line. */
const differencesMax = 1_000;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1;
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const kept = (from: number, to: number): readonly DiffLine[] =>
    now.slice(from, to).map((text, index) => ({ kind: 'kept', text, line: from + index + 1 }));
  return [
    ...kept(0, start),
    ...middle.map((one) => ({ ...one, line: one.line + start })),
    ...kept(now.length - end, now.length),
  ];
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function between(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const path = shortestEdit(old, now);
  if (path === null)
    return [
      ...old.map((text, index): DiffLine => ({ kind: 'gone', text, line: index + 1 })),
      ...now.map((text, index): DiffLine => ({ kind: 'new', text, line: index + 1 })),
    ];
  return path;
}

/** Null where there are too many differences. */
function shortestEdit(old: readonly string[], now: readonly string[]): readonly DiffLine[] | null {
  const reach = new Map<number, number>([[1, 0]]);
  const history: Map<number, number>[] = [];
  const most = Math.min(old.length + now.length, differencesMax);
  for (let edits = 0; edits <= most; edits += 1) {
    history.push(new Map(reach));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isDown = goesDown(reach, diagonal, edits);
      let x = isDown ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return walkBack(history, old, now);
    }
  }
  return null;
}

function goesDown(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return (
    diagonal === -edits ||
    (diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1))
  );
}

function walkBack(
  history: readonly ReadonlyMap<number, number>[],
  old: readonly string[],
  now: readonly string[],
): readonly DiffLine[] {
  const found: DiffLine[] = [];
  let x = old.length;
  let y = now.length;
  for (let edits = history.length - 1; edits >= 0; edits -= 1) {
    const reach = history[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const isDown = goesDown(reach, diagonal, edits);
    const fromDiagonal = isDown ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (reach.get(fromDiagonal) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - fromDiagonal;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      found.push({ kind: 'kept', text: now[y] ?? '', line: y + 1 });
    }
    if (edits === 0) break;
    if (isDown) {
      y -= 1;
      found.push({ kind: 'new', text: now[y] ?? '', line: y + 1 });
    } else {
      x -= 1;
      found.push({ kind: 'gone', text: old[x] ?? '', line: x + 1 });
    }
  }
  return found.toReversed();
}

const around = 2;

/** Stretches of lines that are near a change; what lies between them is as it was. */
export function hunksOf(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const hunks: DiffLine[][] = [];
  let last = -1;
  for (const [index, line] of lines.entries()) {
    const isNear = lines
      .slice(Math.max(0, index - around), index + around + 1)
      .some(({ kind }) => kind !== 'kept');
    if (!isNear) continue;
    if (index !== last + 1 || hunks.length === 0) hunks.push([]);
    hunks.at(-1)?.push(line);
    last = index;
  }
  return hunks;
}
