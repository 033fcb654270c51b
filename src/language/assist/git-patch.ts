// The changes of files as a patch for `git apply`: the unified format with three lines around each change.

import { lineChanges } from './line-changes.ts';

export interface FileChange {
  /** Relative to the policy directory. */
  readonly path: string;
  /** Null for a new file. */
  readonly before: string | null;
  /** Null for a file that is deleted. */
  readonly after: string | null;
}

/**
 * The changes in one text; empty when nothing differs. `repositoryPath`: the path of the policy directory from the top
 * of its repository, empty for the top itself, so that the patch applies anywhere in the repository; with null, it
 * applies in the policy directory.
 */
export function gitPatch(changes: readonly FileChange[], repositoryPath: string | null): string {
  return changes.map((change) => filePatch(change, repositoryPath)).join('');
}

function filePatch({ path, before, after }: FileChange, repositoryPath: string | null): string {
  const text = before === null || after === null ? after : withLineBreaksOf(before, after);
  if (text === before) return '';
  const name = repositoryPath === null || repositoryPath === '' ? path : `${repositoryPath}/${path}`;
  const hunks = hunksOf(before ?? '', text ?? '');
  // Git takes names behind this line from the top of the repository, and other names from the present folder. A new
  // file without lines has no other form.
  const hasGitLine = repositoryPath !== null || hunks === '';
  return [
    ...(hasGitLine ? [`diff --git ${quoted(`a/${name}`)} ${quoted(`b/${name}`)}\n`] : []),
    ...(hasGitLine && before === null ? ['new file mode 100644\n'] : []),
    ...(hasGitLine && after === null ? ['deleted file mode 100644\n'] : []),
    ...(hunks === ''
      ? []
      : [
          `--- ${before === null ? '/dev/null' : ended(`a/${name}`)}\n`,
          `+++ ${after === null ? '/dev/null' : ended(`b/${name}`)}\n`,
          hunks,
        ]),
  ].join('');
}

/** The editor knows one kind of line break; a file that ends its lines with CR LF keeps them. */
function withLineBreaksOf(before: string, after: string): string {
  const isWindows = before.includes('\r\n') && !/(?<!\r)\n/.test(before);
  return isWindows ? after.replaceAll(/\r?\n/g, '\r\n') : after;
}

/** A name as Git quotes it. */
function quoted(name: string): string {
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}

/** A name with blanks ends with a tab, so that it is not taken for a name and a time. */
function ended(name: string): string {
  const text = quoted(name);
  return text === name && name.includes(' ') ? `${name}\t` : text;
}

interface Line {
  readonly sign: ' ' | '-' | '+';
  /** With its line break, unless it is the last of its text and has none. */
  readonly text: string;
}

const signs = { kept: ' ', gone: '-', new: '+' } as const;
const contextLines = 3;

function hunksOf(before: string, after: string): string {
  const lines = lineChanges(before, after).flatMap(({ kind, lines: own }) =>
    own.map((text): Line => ({ sign: signs[kind], text })),
  );
  const changed = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  const parts: { from: number; to: number }[] = [];
  for (const index of changed) {
    const [from, to] = [Math.max(0, index - contextLines), Math.min(lines.length, index + contextLines + 1)];
    const last = parts.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else parts.push({ from, to });
  }
  const starts = startsOf(lines);
  return parts.map((part) => hunkText(lines.slice(part.from, part.to), starts[part.from]!)).join('');
}

interface Start {
  /** How many lines of each text come before. */
  readonly old: number;
  readonly new: number;
}

function startsOf(lines: readonly Line[]): readonly Start[] {
  const at = { old: 0, new: 0 };
  return lines.map(({ sign }) => {
    const start = { ...at };
    if (sign !== '+') at.old += 1;
    if (sign !== '-') at.new += 1;
    return start;
  });
}

function hunkText(lines: readonly Line[], start: Start): string {
  const oldCount = lines.filter(({ sign }) => sign !== '+').length;
  const newCount = lines.filter(({ sign }) => sign !== '-').length;
  const head = `@@ -${range(start.old, oldCount)} +${range(start.new, newCount)} @@\n`;
  return head + lines.map(lineText).join('');
}

/** A range without lines stands behind the line before it. */
function range(before: number, count: number): string {
  return `${count === 0 ? before : before + 1},${count}`;
}

function lineText({ sign, text }: Line): string {
  return text.endsWith('\n') ? `${sign}${text}` : `${sign}${text}\n\\ No newline at end of file\n`;
}
