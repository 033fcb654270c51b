// Turns policy files into their canonical form. INVARIANT: the new text parses to the same declarations with the
// same comments; a file with syntax errors has no new text.

import { displayPath } from '../../analysis/findings/display-path.ts';
import { type Diagnostic, hasErrors } from '../../language/diagnostic/diagnostic.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { spanKeys } from '../../language/diagnostic/span.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { readPaths } from '../../service/policies/read-policies.ts';

export interface FormatResult {
  /** The path relative to the current folder. */
  readonly path: string;
  readonly before: string;
  /** The canonical text; null for a file with syntax errors, which stays unchanged. */
  readonly after: string | null;
  /** The syntax errors of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface FormatRun {
  readonly files: readonly FormatResult[];
  /** Diagnostics of files that could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

export async function formatPaths(paths: readonly string[]): Promise<FormatRun> {
  const { root, sources, diagnostics } = await readPaths(paths);
  // A missing file keeps the name that the user gave, since it has no place under the root.
  const pathOrDisplayPath = (file: string): string => (paths.includes(file) ? file : displayPath(root, file));
  return {
    files: sources.files.map(({ path, text }) => formatText({ path: displayPath(root, path), text })),
    diagnostics: diagnostics.map((one) => {
      const { span } = one;
      return span.file === '' ? one : { ...one, span: { ...span, file: pathOrDisplayPath(span.file) } };
    }),
  };
}

export function formatText(source: SourceText): FormatResult {
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

export type FormatChange = FormatResult & { readonly after: string };

export function isChanged(file: FormatResult): file is FormatChange {
  return file.after !== null && file.after !== file.before;
}

export function textsOf(files: readonly FormatResult[]): SourceOf {
  const texts = new Map(files.map(({ path, before }) => [path, before]));
  return (path) => texts.get(path) ?? null;
}
