// What the reader knows of a shell line is what shells do: random lines are read by `dash -n`, and by `bash
// -n` if present, and run where only tracers can be started. WRIT_SHELL_LINES sets the number of lines.

import { expect, test } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import type { ShellCommand } from '../../src/language/value/shell/command.ts';
import { shellCommands } from '../../src/language/value/shell/commands.ts';
import { type RandomLine, randomLine, tracedPrograms } from './shell-lines.ts';
import { findShell, type Traced, traceLines } from './shell-tracing.ts';

const count = Number(process.env.WRIT_SHELL_LINES ?? 200);
const seed = Number(process.env.WRIT_SHELL_SEED ?? (count > 1_000 ? Date.now() % 1e9 : 20_261_123));
const signs: readonly string[] = ['>', '>>', '<>'];
const traced: readonly string[] = tracedPrograms;

interface KnownLine extends RandomLine {
  readonly commands: readonly ShellCommand[];
}

test.each(['dash', 'bash'])(
  'what is known of a line is what %s does',
  { timeout: 30_000 + count * 100 },
  (name) => {
    const shell = findShell(name);
    if (shell === null) return console.warn(`${name} is not here: nothing was compared with it`);
    const random = createRandom(seed);
    const lines = Array.from({ length: count }, () => randomLine(random));
    const known = lines.flatMap((line) => {
      const commands = shellCommands(line.text);
      return commands === null ? [] : [{ ...line, commands }];
    });
    const results = traceLines(
      shell,
      known.map(({ text }) => text),
    );
    const differing = known.flatMap((line, at) => differenceOf(line, results[at]!));
    expect(differing, `seed ${seed}`).toEqual([]);
    // A reader that knows nothing, or lines that do nothing, would pass as well.
    const ran = results.filter(({ runs }) => runs.length > 0).length;
    const written = results.filter((result) => result.written.length > 0).length;
    const straight = known.filter(({ isStraight }) => isStraight).length;
    console.info(
      `${name}: of ${count} lines ${known.length} known, ${straight} of them straight, ${ran} ran, ${written} wrote`,
    );
    expect(known.length).toBeGreaterThan(count * 0.3);
    expect(ran).toBeGreaterThan(known.length * 0.7);
    expect(straight).toBeGreaterThan(known.length * 0.3);
    expect(written).toBeGreaterThan(known.length * 0.03);
  },
);

/** How the shell's behaviour differs from what is known of the line. */
function differenceOf({ text, commands, isStraight }: KnownLine, { isRead, runs, written }: Traced) {
  const tell = (what: string) => [{ text, what, commands: commands.map(keyOf), runs, written }];
  if (!isRead) return tell('an error of syntax');
  const expected = commands.filter(({ program }) => traced.includes(program)).map(keyOf);
  const found = runs.map((run) => JSON.stringify(run));
  if (found.some((run) => !expected.includes(run))) return tell('something ran that is not known');
  if (isStraight && found.toSorted().join() !== expected.toSorted().join())
    return tell('not all that is known ran');
  const opened = commands.filter(({ program }) => signs.includes(program)).map(({ args }) => args[0]!);
  if (written.some((file) => !opened.includes(file))) return tell('a file was written that is not known');
  return [];
}

function keyOf({ program, args }: ShellCommand): string {
  return JSON.stringify([program, ...args]);
}
