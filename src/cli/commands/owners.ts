// `writ owners`: shows which files may decide about which actions, or writes that as a CODEOWNERS file, so that the
// people who own an action review the files that decide about it.

import type { Command } from 'commander';
import { displayPath } from '../../analysis/findings/display-path.ts';
import { type OwnersEntry, ownersFile, ownersIn } from '../../language/check/owners/owners-file.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type ExitCode, exitCodes, print, printError, printJson } from '../output/output.ts';
import { table } from '../output/table.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';

export function defineOwners(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory (default: ./policies, else the current directory)')
    .option('--codeowners', 'print a CODEOWNERS file; run it at the root of the repository')
    .option('--json', 'print the entries as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ owners\n  writ owners policies --codeowners > .github/CODEOWNERS\n  writ owners --json',
    )
    .action(async (path: string | undefined, options: Options) => {
      finish(await owners(path ?? defaultPath(), options));
    });
}

interface Options {
  readonly codeowners?: boolean;
  readonly json?: boolean;
}

async function owners(path: string, { codeowners, json }: Options): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const { sources, root } = working.read;
  const entries = ownersIn(sources.readListFile);
  if (entries.length === 0) return fail(`there is no \`${ownersFile}\` in \`${path}\``);
  if (json === true) printJson({ owners: entries });
  else if (codeowners === true) return printCodeowners(entries, (file) => displayPath(root, file));
  else print(table(['files', 'actions', 'reviewers'], entries.map(rowOf)));
  return exitCodes.ok;
}

function rowOf({ files, actions, reviewers }: OwnersEntry): readonly string[] {
  return [files, actions.join(', '), reviewers.join(' ')].map(escapeForTerminal);
}

/** In CODEOWNERS the last line that matches a file counts, so the smallest folders come last. */
function printCodeowners(entries: readonly OwnersEntry[], shown: (file: string) => string): ExitCode {
  const without = entries.find(({ reviewers }) => reviewers.length === 0);
  if (without !== undefined) return fail(`\`${without.files}\` names no reviewers`);
  const everything = entries.filter(({ actions }) => actions.includes('*'));
  if (everything.length === 0) return fail(`nobody who owns \`*\` would review \`${ownersFile}\``);
  const sorted = entries.toSorted((a, b) => a.files.length - b.files.length);
  const lines = sorted.map(({ files, reviewers }) => lineOf(patternOf(files, shown), reviewers));
  const own = lineOf(patternOf(ownersFile, shown), [
    ...new Set(everything.flatMap(({ reviewers }) => reviewers)),
  ]);
  print(`# Written by \`writ owners --codeowners\` from ${shown(ownersFile)}\n${lines.join('')}${own}`);
  return exitCodes.ok;
}

/** A folder as CODEOWNERS names it, with a slash at its end; a file as it is. */
function patternOf(files: string, shown: (file: string) => string): string {
  if (!files.endsWith('**')) return `/${shown(files)}`;
  const folder = shown(files.replace(/\/?\*\*$/, ''));
  return folder === '' ? '*' : `/${folder.replace(/\/?$/, '/')}`;
}

function lineOf(pattern: string, reviewers: readonly string[]): string {
  return `${pattern.replaceAll(' ', '\\ ')} ${reviewers.join(' ')}\n`;
}

function fail(message: string): ExitCode {
  printError(`error: ${message}\n`);
  return exitCodes.wrong;
}
