// `writ matrix`: shows for each action the rules that can apply to it, and the actions that nothing can allow.

import { type Command, Option } from 'commander';
import { type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { matrixOf, matrixToMarkdown, matrixToText } from '../support/decision-matrix.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';

const formats = ['text', 'json', 'markdown'] as const;

export function defineMatrix(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .addHelpText(
      'after',
      '\nExamples:\n  writ matrix\n  writ matrix policies/payments --format markdown\n  writ matrix --json | jq .closed',
    )
    .action(async (path: string | undefined, options: Options) => {
      finish(await matrix(path ?? defaultPath(), options));
    });
}

interface Options {
  readonly json?: boolean;
  readonly format: (typeof formats)[number];
}

async function matrix(path: string, { json, format }: Options): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const rows = matrixOf(working.program);
  if (json === true || format === 'json') {
    const closed = rows.flatMap(({ action, closed: why }) => (why === null ? [] : [{ action, why }]));
    printJson({ actions: rows.map(({ action, rules }) => ({ action, rules })), closed });
  } else print(format === 'markdown' ? matrixToMarkdown(rows) : matrixToText(rows));
  return exitCodes.ok;
}
