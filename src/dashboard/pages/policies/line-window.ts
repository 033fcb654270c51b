// The part of a long text that is shown: all of a short text, else the stretch with the line that is asked
// for.

export interface LineWindow {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Number of all lines. */
  readonly count: number;
  /** Number of lines in one stretch. */
  readonly size: number;
}

const size = 2_000;

export function lineWindow(text: string, line: number): LineWindow {
  const lines = text.replace(/\n$/, '').split('\n');
  const selected = Number.isInteger(line) ? Math.min(Math.max(line, 1), lines.length) : 1;
  const from = Math.floor((selected - 1) / size) * size + 1;
  const to = Math.min(from + size - 1, lines.length);
  return { text: lines.slice(from - 1, to).join('\n'), from, to, count: lines.length, size };
}
