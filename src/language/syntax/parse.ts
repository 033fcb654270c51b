// THE DOOR: parses the text of one policy file into its tree and diagnostics for everything that is wrong
// with how it is written. Never throws, whatever the text: size and nesting limits are checked before
// anything recurses. A broken file yields the parts of it that are whole.

import { type Diagnostic, hasErrors, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { SourceText } from '../diagnostic/span.ts';
import { refusedCharacters } from './parse/characters.ts';
import { buildComment, documentationBefore } from './parse/comments.ts';
import { makeSpan, type Reader, syntaxError } from './parse/context.ts';
import type { ParsedTokens, ParserError } from './parse/parser.ts';
import { readTemplate } from './parse/template.ts';
import type { UnescapedText } from './parse/text-literal.ts';
import {
  isAnyWord,
  NameToken,
  retype,
  type Token,
  tokenEnd,
  tokenize,
  tokenizeWithLists,
  withoutLists,
} from './parse/tokens.ts';
import { type Read, readRecovering, readWhole } from './parse/whole-text.ts';
import {
  type BrokenLine,
  firstOfLines,
  linesOf,
  namesDeclared,
  settleBroken,
} from './repair/broken-rules.ts';
import { reportErrors } from './repair/explain.ts';
import { holdsHabits, repair } from './repair/repair.ts';
import { readStrays, reportStrays } from './repair/strays.ts';
import type { ExpressionNode, PolicyFile } from './tree/tree.ts';

/** Largest size of a policy file, in bytes of UTF-8. */
export const fileBytesMax = 1_048_576;

/** Largest number of diagnostics listed for one file; the rest is not listed. */
const problemsMax = 200;

export interface ParsedFile {
  readonly file: PolicyFile;
  /** The diagnostics of the file, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Names that a text with errors declares, even if nothing else is left of their declarations. Empty for a
   * text without errors.
   */
  readonly declaredByBroken: ReadonlySet<string>;
  /**
   * Lines on which the parser gave up. Errors that later stages find on these lines are not reported, since
   * they follow from that.
   */
  readonly brokenLines: readonly BrokenLine[];
}

const none: ReadonlySet<string> = new Set();

export function parse(source: SourceText): ParsedFile {
  if (isTooLarge(source.text)) return refuseSize(source);
  const diagnostics: Diagnostic[] = [...refusedCharacters(source)];
  const reader: Reader = { source, report: (diagnostic) => void diagnostics.push(diagnostic) };
  const { file, broken } = readText(reader);
  const settled = settleBroken(file.declarations, diagnostics, broken);
  const lines = linesOf(broken.gaveUp, source);
  return {
    file: { ...file, declarations: settled.declarations },
    diagnostics: limited(sortDiagnostics(firstOfLines(settled.diagnostics, broken.gaveUp, lines)), source),
    declaredByBroken: hasErrors(diagnostics) ? namesDeclared(broken.tokens) : none,
    brokenLines: lines,
  };
}

interface ReadText {
  readonly file: PolicyFile;
  readonly broken: {
    readonly errors: readonly ParserError[];
    readonly tokens: readonly Token[];
    /** The tokens as the parser read them, after repairs. */
    readonly known: readonly Token[];
    readonly gaveUp: readonly Diagnostic[];
  };
}

function readText(reader: Reader): ReadText {
  const { source } = reader;
  const { comments: commentTokens, strays, ...lexed } = tokenizeWithLists(source.text);
  const tokens = readStrays(lexed.tokens, strays, reader);
  const comments = commentTokens.map((token) => buildComment(token.startOffset, tokenEnd(token), source));
  const docBefore = documentationBefore(comments, source);
  const read = readTokens(tokens, reader, (parser, ...run) => parser.readFile(...run, docBefore));
  const { declarations, templates, errors, tokens: known } = read;
  const last = tokens.at(-1);
  const end = last === undefined ? 0 : tokenEnd(last);
  const gaveUp = reportErrors(errors, { tokens: known, end, endName: 'the end of the file' }, reader);
  for (const { token, parts, isTitle } of templates) {
    const readPart = isTitle ? readFieldName : readPlaceholder;
    parts.push(...readTemplate(token, reader, (text, from, to) => readPart(text, { from, to }, reader)));
  }
  const span = makeSpan(reader, 0, source.text.length);
  return { file: { kind: 'file', declarations, comments, span }, broken: { errors, known, tokens, gaveUp } };
}

/**
 * Reads tokens as written if the grammar takes them and nothing else is meant by them; otherwise repairs them
 * first, one by one, so that no list is a single token.
 */
function readTokens<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P {
  const asWritten = holdsHabits(tokens, reader) ? null : readWhole(tokens, reader, read);
  if (asWritten !== null) return asWritten;
  const inFull = withoutLists(tokens);
  if (inFull !== tokens) return readTokens(inFull, reader, read);
  const repaired = repair(tokens, reader);
  const asMeant = repaired === tokens ? null : readWhole(repaired, reader, read);
  return asMeant ?? readRecovering(repaired, reader, read);
}

interface Between {
  readonly from: number;
  readonly to: number;
}

/** Reads a placeholder like `readPlaceholder`, but each word in it names a field. */
function readFieldName(text: UnescapedText, between: Between, reader: Reader): ExpressionNode {
  return readPlaceholder(text, between, reader, (token) =>
    isAnyWord(token) ? retype(token, NameToken, token.image) : token,
  );
}

/**
 * Reads the expression between two places of a text; its tokens get the offsets at which they stand in the
 * file.
 */
function readPlaceholder(
  text: UnescapedText,
  { from, to }: Between,
  reader: Reader,
  meant: (token: Token) => Token = (token) => token,
): ExpressionNode {
  const { tokens, comments, strays } = tokenize(text.value.slice(from, to));
  const offsetOf = (at: number) => text.offsetOf(from + at);
  const moved = tokens.map(meant).map((token) => ({
    ...token,
    startOffset: offsetOf(token.startOffset),
    endOffset: offsetOf(tokenEnd(token)) - 1,
  }));
  const commented = comments.map((token) => ({ start: token.startOffset, end: tokenEnd(token) }));
  const placed = [...strays, ...commented].map((run) => ({
    start: offsetOf(run.start),
    end: offsetOf(run.end),
  }));
  reportStrays(placed, reader);
  const start = offsetOf(0);
  const read = readTokens(moved, reader, (parser, ...run) => parser.readExpression(...run, start));
  const end = offsetOf(to - from);
  reportErrors(read.errors, { tokens: read.tokens, end, endName: 'the end of the placeholder' }, reader);
  return read.expression;
}

function isTooLarge(text: string): boolean {
  if (text.length > fileBytesMax) return true;
  return text.length * 3 > fileBytesMax && new TextEncoder().encode(text).length > fileBytesMax;
}

function refuseSize(source: SourceText): ParsedFile {
  const span = makeSpan({ source }, 0, 0);
  const file: PolicyFile = { kind: 'file', declarations: [], comments: [], span };
  const message = `\`${source.path}\` is larger than 1 MiB`;
  const help = 'split it into several files: all files of a directory are one policy set';
  return {
    file,
    diagnostics: [syntaxError('file-too-large', span, message, help)],
    declaredByBroken: none,
    brokenLines: [],
  };
}

function limited(diagnostics: readonly Diagnostic[], source: SourceText): readonly Diagnostic[] {
  const next = diagnostics[problemsMax];
  if (next === undefined) return diagnostics;
  const message = `\`${source.path}\` has more than ${problemsMax} problems and the rest is not listed`;
  return [...diagnostics.slice(0, problemsMax), syntaxError('too-many-problems', next.span, message)];
}
