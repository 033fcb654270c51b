// `writ init`: makes a directory with a small policy, its tests and a page about them. INVARIANT: it changes no existing
// file, and refuses a directory that is not empty.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { escapeForTerminal } from '../../../language/diagnostic/render.ts';
import { createMarks, type ExitCode, exitCodes, print, UsageError } from '../output/output.ts';

export function defineInit(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[directory]', 'where to make it; must not be there, or be empty', 'policies')
    .addHelpText('after', '\nExamples:\n  writ init\n  writ init agents/support')
    .action(async (directory: string) => {
      finish(await init(directory));
    });
}

/** The first files, copied from `src/tools/cli/init`. */
const starters = ['support.policy', 'support.test.yaml', 'README.md'];

async function init(directory: string): Promise<ExitCode> {
  const folder = fileURLToPath(new URL('../init/', import.meta.url));
  const texts = await Promise.all(starters.map((name) => readFile(join(folder, name), 'utf8')));
  try {
    await mkdir(directory, { recursive: true });
    if ((await readdir(directory)).length > 0)
      throw new UsageError(`${directory} is not empty; nothing was written`);
    // `wx` fails on a file that somebody made in the meantime.
    for (const [index, name] of starters.entries())
      await writeFile(join(directory, name), texts[index]!, { flag: 'wx' });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `cannot write ${directory}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  print(describe(directory));
  return exitCodes.ok;
}

/** The example gives an agent and a meter, since unknown facts never open the gate. */
const exampleRequest = `--action refund.create --payload '{"order": "A-1001", "amount": 20, "currency": "EUR"}' --agent '{"risk_tier": "low"}' --meters '{"refunded_today": "0 EUR"}'`;

function describe(directory: string): string {
  const marks = createMarks();
  const made = starters.map((name) => `${marks.good('✓')} ${escapeForTerminal(join(directory, name))}\n`);
  const path = quote(relative('', directory) || '.');
  const commands = [
    `writ check --strict ${path}`,
    `writ test ${path} --coverage`,
    `writ decide --policies ${path} ${exampleRequest}`,
  ];
  return `${made.join('')}\nNext:\n${commands.map((line) => `  ${line}\n`).join('')}`;
}

/** Quotes the path for a shell if necessary. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) && !path.startsWith('-') ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
