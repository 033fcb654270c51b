// Golden cases: a policy file with the checker's diagnostics in `#!` lines at its end. UPDATE_GOLDEN=1
// accepts the present diagnostics.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { check } from '../../../src/language/check/check.ts';
import type { ListFile } from '../../../src/language/check/messages/list-files.ts';
import { applySilences } from '../../../src/language/check/silences.ts';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import type { Span } from '../../../src/language/diagnostic/span.ts';
import { parse } from '../../../src/language/syntax/parse.ts';

export interface GoldenCase {
  readonly expected: string;
  readonly actual: string;
  readonly codes: readonly string[];
}

const mark = '#! ';

/** Runs the checker on a case of this folder; with UPDATE_GOLDEN=1 writes its diagnostics into the case. */
export function runCase(folder: string, name: string): GoldenCase {
  const path = `${folder}/${name}.policy`;
  const lines = readFileSync(path, 'utf8').split('\n');
  const source = `${lines
    .filter((line) => !line.startsWith(mark))
    .join('\n')
    .trimEnd()}\n`;
  const expected = lines.filter((line) => line.startsWith(mark)).join('\n');
  const parsed = parse({ path: `${name}.policy`, text: source });
  if (parsed.diagnostics.some(({ severity }) => severity === 'error')) {
    throw new Error(`${path} does not parse: ${JSON.stringify(parsed.diagnostics)}`);
  }
  const checked = check([parsed.file], (file) => readFrom(folder, file));
  const reported = [...parsed.diagnostics, ...checked.diagnostics];
  const text = { path: `${name}.policy`, text: source };
  const { diagnostics } = applySilences([parsed.file], [text], reported);
  const actual = diagnostics.flatMap((each) => describe(each, source)).join('\n');
  if (process.env.UPDATE_GOLDEN === '1') {
    writeFileSync(path, `${source}${actual === '' ? '' : `\n${actual}\n`}`);
    return { expected: actual, actual, codes: diagnostics.map(({ code }) => code) };
  }
  return { expected, actual, codes: diagnostics.map(({ code }) => code) };
}

function readFrom(folder: string, file: string): ListFile {
  const path = `${folder}/${file}`;
  if (!existsSync(path)) return { code: 'list-file-missing', message: `there is no file \`${file}\`` };
  return { text: readFileSync(path, 'utf8') };
}

function describe(diagnostic: Diagnostic, source: string): readonly string[] {
  const { severity, code, span, message, help, related = [], fix } = diagnostic;
  return [
    `${severity} ${code} ${place(span, source)} ${message}`,
    ...(help === undefined ? [] : [`  help: ${help}`]),
    ...related.map((each) => `  see ${place(each.span, source)} ${each.message}`),
    ...(fix?.edits ?? []).map((edit) => `  fix ${place(edit.span, source)} ${JSON.stringify(edit.text)}`),
  ].map((line) => mark + line);
}

/** The line, counted from 1, and the text of the span up to its first line break. */
function place(span: Span, source: string): string {
  const line = source.slice(0, span.start).split('\n').length;
  const [first = '', more] = source.slice(span.start, span.end).split('\n');
  return `${line} [${first}${more === undefined ? '' : ' ...'}]`;
}
