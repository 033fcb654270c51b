// `writ fmt`: rewrites policy files in the one canonical form. It does not change a file with syntax errors.
// INVARIANT: it writes a file only if the new text parses to the same declarations with the same comments.

import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { type Diagnostic, hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { diagnosticToJson, escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { showDiff } from '../output/show-diff.ts';
import {
  type FormatChange,
  type FormatResult,
  type FormatRun,
  formatPaths,
  formatText,
  isChanged,
  textsOf,
} from '../support/format-files.ts';
import { defaultPath, showDiagnostics } from '../support/load-policies.ts';

export function defineFmt(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path...]', 'policy files or directories (default: ./policies, else the current directory)')
    .option('--check', 'write nothing: show a diff, and exit with 1 if a file is not formatted')
    .option('--stdin', 'read one file from standard input and print it formatted')
    .option('--json', 'print the state of each file as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ fmt\n  writ fmt --check policies\n  writ fmt --check | patch -p1\n  writ fmt --stdin < a.policy',
    )
    .action(async (paths: string[], options: Options) => {
      finish(await fmt(paths, options));
    });
}

interface Options {
  readonly check?: boolean;
  readonly stdin?: boolean;
  readonly json?: boolean;
}

async function fmt(paths: readonly string[], options: Options): Promise<ExitCode> {
  const mode = modeOf(options);
  if (options.stdin === true && paths.length > 0) throw new UsageError('--stdin takes no path');
  const { files, diagnostics } = await (options.stdin === true
    ? formatStdin()
    : formatPaths(paths.length === 0 ? [defaultPath()] : paths));
  const all = [...diagnostics, ...files.flatMap((file) => file.diagnostics)];
  const changed = files.filter(isChanged);
  if (mode === 'write') for (const { path, after } of changed) await replaceFile(path, after);
  if (options.json === true) printJson(toJson(files, all));
  else {
    if (mode === 'write') print(listOf(changed));
    else if (mode === 'check') showChanges(changed);
    else print(files.map(({ after }) => after ?? '').join(''));
    showDiagnostics(all, textsOf(files));
  }
  const isWrong = hasErrors(all) || (mode === 'check' && changed.length > 0);
  return isWrong ? exitCodes.wrong : exitCodes.ok;
}

/** Chooses what to do with the canonical form. */
function modeOf({ check, stdin }: Options): 'check' | 'print' | 'write' {
  if (check === true) return 'check';
  return stdin === true ? 'print' : 'write';
}

async function formatStdin(): Promise<FormatRun> {
  const bytes = await buffer(process.stdin);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { files: [formatText({ path: '<stdin>', text })], diagnostics: [] };
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError('standard input is not valid UTF-8');
    throw error;
  }
}

function showChanges(changed: readonly FormatChange[]): void {
  const visible = changed.filter(({ before, after }) => withPlainEnds(before) !== after);
  print(visible.map(({ path, before, after }) => showDiff(path, before, after)).join(''));
  const windows = changed.filter(({ before }) => before !== withPlainEnds(before));
  if (windows.length > 0) {
    printError(
      `lines end with CR LF instead of LF (in Git, add \`*.policy text eol=lf\` to \`.gitattributes\`):\n${listOf(windows)}`,
    );
  }
  if (changed.length > 0) printError(`not formatted; run \`writ fmt\`:\n${listOf(changed)}`);
}

/** The text with the line ends of the canonical form. A diff of line ends alone would show equal lines. */
function withPlainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function listOf(files: readonly FormatResult[]): string {
  return files.map(({ path }) => `${escapeForTerminal(path)}\n`).join('');
}

function toJson(files: readonly FormatResult[], diagnostics: readonly Diagnostic[]): object {
  const sourceOf = textsOf(files);
  return {
    files: files.map((file) => ({
      path: file.path,
      state: file.after === null ? 'broken' : isChanged(file) ? 'changed' : 'canonical',
    })),
    diagnostics: diagnostics.map((one) => diagnosticToJson(one, sourceOf)),
  };
}
