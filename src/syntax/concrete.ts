// Tokens → concrete tree with every diagnostic on the way: tokens are mended, held to the nesting limit and parsed, and
// what the parser could not use is said in plain words. The same path for a file and for an expression inside a text.

import type { ExpressionCstNode, FileCstNode } from '../../grammar/generated/cst.ts';
import { type Parsed, parseExpression, parseFile } from '../../grammar/parser.ts';
import type { Token } from '../../grammar/tokens.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../diagnostic/span.ts';
import { syntaxError } from './build-context.ts';
import { explainError } from './explain.ts';
import { mend } from './mend.ts';
import { flatten } from './nesting.ts';

/** Tokens with places in the file, the characters that begin none, and where they end, as an offset and in words. */
export interface TokenRun {
  readonly tokens: readonly Token[];
  readonly strays: readonly Span[];
  readonly end: number;
  readonly endName: 'the end of the file' | 'the end of the placeholder';
}

/** The source and where to report. */
export interface Reader {
  readonly source: SourceText;
  readonly report: (diagnostic: Diagnostic) => void;
}

export function readFile(run: TokenRun, reader: Reader): FileCstNode {
  return read(run, parseFile, reader);
}

export function readExpression(run: TokenRun, reader: Reader): ExpressionCstNode {
  return read(run, parseExpression, reader);
}

function read<Tree>(
  run: TokenRun,
  parseTokens: (tokens: readonly Token[]) => Parsed<Tree>,
  reader: Reader,
): Tree {
  for (const stray of run.strays) reportStray(stray, reader);
  const tokens = flatten(mend(run.tokens, reader), reader);
  const { tree, errors } = parseTokens(tokens);
  // A second error at the same token is an echo of the first.
  const seen = new Set<number>();
  const places = new Map(errors.length === 0 ? [] : tokens.map((token, index) => [token, index]));
  for (const error of errors) {
    const place = error.found?.startOffset ?? run.end;
    if (seen.has(place)) continue;
    seen.add(place);
    // The parser knows the token that it last looked at, which after skipping is another one.
    const index = error.found === null ? tokens.length : (places.get(error.found) ?? 0);
    const previous = tokens[index - 1] ?? null;
    const { end, endName } = run;
    reader.report(explainError({ ...error, previous, end, endName, source: reader.source }));
  }
  return tree;
}

function reportStray(span: Span, reader: Reader): void {
  const text = reader.source.text.slice(span.start, span.end);
  const shown = text.length > 20 ? `${text.slice(0, 20)}…` : text;
  const help = strayHelp[text.charAt(0)];
  reader.report(syntaxError('unexpected-character', span, `\`${shown}\` has no meaning here`, help));
}

const strayHelp: Readonly<Record<string, string>> = {
  ';': 'declarations and rules need nothing between them',
  '“': 'texts stand between straight quotes: `"`',
  '”': 'texts stand between straight quotes: `"`',
  '‘': "raw texts stand between straight quotes: `'`",
  '’': "raw texts stand between straight quotes: `'`",
  '?': 'an optional field is written `name?: type`',
  '&': 'write `and`',
  '`': 'texts stand between straight quotes: `"`',
};
