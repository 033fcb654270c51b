// `writ fmt`: rewrites policy files in the one canonical form. It does not change a file with syntax errors.
// INVARIANT: it writes a file only if the new text parses to the same declarations with the same comments.

import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { displayPath } from '../../analysis/findings/display-path.ts';
import { type Diagnostic, hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { diagnosticToJson, escapeForTerminal, type SourceOf } from '../../language/diagnostic/render.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { spanKeys } from '../../language/diagnostic/span.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { readPaths } from '../../service/policies/read-policies.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { showDiff } from '../output/show-diff.ts';
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

interface FormatResult {
  /** The path relative to the current folder. */
  readonly path: string;
  readonly before: string;
  /** The canonical text; null for a file with syntax errors, which stays unchanged. */
  readonly after: string | null;
  /** The syntax errors of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Run {
  readonly files: readonly FormatResult[];
  /** Diagnostics of files that could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

async function formatStdin(): Promise<Run> {
  const bytes = await buffer(process.stdin);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { files: [format({ path: '<stdin>', text })], diagnostics: [] };
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError('standard input is not valid UTF-8');
    throw error;
  }
}

async function formatPaths(paths: readonly string[]): Promise<Run> {
  const { root, sources, diagnostics } = await readPaths(paths);
  // A missing file keeps the name that the user gave, since it has no place under the root.
  const pathOrDisplayPath = (file: string): string => (paths.includes(file) ? file : displayPath(root, file));
  return {
    files: sources.files.map(({ path, text }) => format({ path: displayPath(root, path), text })),
    diagnostics: diagnostics.map((one) => {
      const { span } = one;
      return span.file === '' ? one : { ...one, span: { ...span, file: pathOrDisplayPath(span.file) } };
    }),
  };
}

function format(source: SourceText): FormatResult {
  const { path, text } = source;
  const { file, diagnostics } = parse(source);
  if (hasErrors(diagnostics)) {
    return { path, before: text, after: null, diagnostics: diagnostics.filter(isError) };
  }
  const after = printFile(file);
  const again = parse({ path, text: after });
  if (hasErrors(again.diagnostics) || meaningOf(again.file) !== meaningOf(file)) {
    throw new Error(`the formatter would change the meaning of ${path}; the file is unchanged`);
  }
  return { path, before: text, after, diagnostics: [] };
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** The content of a file without positions, to compare two texts. */
function meaningOf({ declarations, comments }: PolicyFile): string {
  return JSON.stringify([declarations, comments.map(({ text }) => text)], (key, value: unknown) =>
    spanKeys.has(key) ? undefined : value,
  );
}

type FormatChange = FormatResult & { readonly after: string };

function isChanged(file: FormatResult): file is FormatChange {
  return file.after !== null && file.after !== file.before;
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

function textsOf(files: readonly FormatResult[]): SourceOf {
  const texts = new Map(files.map(({ path, before }) => [path, before]));
  return (path) => texts.get(path) ?? null;
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
