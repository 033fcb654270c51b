// LAW: a line that the reader says only reads does only read. Random lines of those programs of its tables that the machine
// has are run under strace, and compared by the programs they start, the files they open and what they change.
// WRIT_SHELL_LINES sets the number of lines.

import { expect, test } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import { shellCommands } from '../../src/language/value/shell/commands.ts';
import { plainGitCommands } from '../../src/language/value/shell/git.ts';
import { plainPrograms } from '../../src/language/value/shell/plain-programs.ts';
import { requireProgram } from './programs.ts';
import { effectLine } from './shell-effect-lines.ts';
import { type Effects, hasProgram, makeFolder, seeds, traceEffects } from './shell-effects.ts';

const count = Number(process.env.WRIT_SHELL_LINES ?? 60);
const seed = Number(process.env.WRIT_SHELL_SEED ?? (count > 1_000 ? Date.now() % 1e9 : 20_261_129));

/** Programs that are made of others: what they start besides is their own work. */
const madeOf: Readonly<Record<string, readonly string[]>> = {
  egrep: ['grep', 'sh', 'dash'],
  fgrep: ['grep', 'sh', 'dash'],
  zcat: ['gzip', 'sh', 'dash'],
  tar: ['gzip', 'bzip2', 'xz', 'sh', 'dash'],
  yq: ['jq'],
  which: ['sh', 'dash'],
};
/** Programs that wait, or whose answer is the machine's and takes long. */
const skipped: readonly string[] = ['sleep', 'wait', 'npm', 'pip', 'pip3', 'docker', 'who', 'w'];

test('a line that is said to only read starts, writes and opens nothing else', {
  timeout: 60_000 + count * 1_000,
}, () => {
  requireProgram(['strace', '--version'], 'strace');
  const random = createRandom(seed);
  const programs = plainPrograms.filter((program) => !skipped.includes(program) && hasProgram(program));
  const folder = makeFolder();
  const differing: unknown[] = [];
  const used = new Set<string>();
  let succeeded = 0;
  try {
    for (let at = 0; at < count; at += 1) {
      const program = at % 4 === 0 ? `git ${random.pick(plainGitCommands)}` : random.pick(programs);
      const line = lineOf(program);
      if (line === null) continue;
      const commands = shellCommands(line)!;
      const effects = traceEffects(folder.path, line);
      used.add(program);
      if (effects.isDone) succeeded += 1;
      const started = commands.flatMap(({ program: name }) => [name, ...(madeOf[name] ?? [])]);
      const files = commands.flatMap((command) => command.files);
      const what = differences(effects, started, files);
      if (what.length > 0) differing.push({ line, what });
    }
  } finally {
    folder.remove();
  }
  expect(differing, `seed ${seed}`).toEqual([]);
  console.info(`${count} lines of ${used.size} programs, ${succeeded} of them without an error`);
  // Lines that all fail would pass as well.
  expect(succeeded).toBeGreaterThan(count * 0.3);

  function lineOf(program: string): string | null {
    for (let tries = 0; tries < 400; tries += 1) {
      const line = effectLine(random, program);
      const commands = shellCommands(line);
      if (commands?.every((command) => command.only_reads) === true && commands.length > 0) return line;
    }
    return null;
  }
});

function differences(
  effects: Effects,
  started: readonly string[],
  files: readonly string[],
): readonly string[] {
  const isWalk = files.some((file) => file.endsWith('/**/.*'));
  const isOpen = files.some((file) => file.endsWith('/**'));
  const isNamed = (name: string) =>
    isWalk ||
    (isOpen && !name.startsWith('.')) ||
    files.some((file) => file === name || file.endsWith(`/${name}`) || /[*?[{]/.test(file));
  // Git reads what is under its control.
  const hidden = started.includes('git') ? ['.env', '.hid'] : seeds;
  return [
    ...effects.started.filter((name) => !started.includes(name)).map((name) => `started ${name}`),
    ...effects.changed.map((text) => `changed ${text}`),
    ...effects.opened
      .filter((name) => hidden.includes(name) && !isNamed(name))
      .map((name) => `opened ${name}`),
  ];
}
