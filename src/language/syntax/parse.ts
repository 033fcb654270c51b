// Parser entry point: parses the text of one policy file into its tree and the diagnostics of its syntax.
// Never throws, whatever the text: size and nesting limits are checked before
// anything recurses. A broken file yields the parts of it that are whole.

import { type Diagnostic, hasErrors, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { SourceText } from '../diagnostic/span.ts';
import { makeSpan, type Reader, syntaxError } from './parse/context.ts';
import choices from './parse/lookahead.json' with { type: 'json' };
import { type Choose, choiceBy, type LookaheadTable } from './parse/lookahead.ts';
import { type ParsedTokens, type ParserError, PolicyParser } from './parse/parser.ts';
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
import {
  type BrokenLine,
  dropFollowOnErrors,
  firstOfLines,
  linesOf,
  namesDeclared,
} from './repair/broken-rules.ts';
import { hasForeignSyntax, repair } from './repair/repair.ts';
import { reportErrors } from './repair/report-errors.ts';
import { readStrays, reportStrays } from './repair/stray-characters.ts';
import { isSilence } from './tree/silence.ts';
import type { Comment, ExpressionNode, PolicyFile } from './tree/tree.ts';

// Turns tokens into a tree, by two parsers. The parser without recovery reads correct text and reports
// nothing about any other. It is ready at once, since it takes its choices from a table, which the parser
// library would otherwise compute at each start. The parser that recovers reads the rest.

/** What the parser library derives from the rules of a parser; its public types leave this out. */
export interface ParserAnalysis {
  selfAnalysisDone: boolean;
  readonly fullRuleNameToShort: Readonly<Record<string, number>>;
  /** Choices by the number of a rule, then by the key of a choice in that rule. */
  readonly lookAheadFuncsCache: Choose[][];
}

export class WholeTextParser extends PolicyParser {
  constructor() {
    super({ recoveryEnabled: false });
  }

  protected override performSelfAnalysis(): void {
    const analysed = this as unknown as ParserAnalysis;
    analysed.selfAnalysisDone = true;
    for (const [rule, own] of Object.entries(choices as unknown as LookaheadTable)) {
      const byKey: Choose[] = [];
      for (const [key, choice] of Object.entries(own)) byKey[Number(key)] = choiceBy(choice);
      analysed.lookAheadFuncsCache[analysed.fullRuleNameToShort[rule]!] = byKey;
    }
  }
}

/** Parsers, made at first use: making the one that recovers takes longer than reading a file. */
const parsers: { whole?: WholeTextParser; recovering?: PolicyParser } = {};

/** Has a parser read tokens as a file or as an expression. */
export type Read<P extends ParsedTokens> = (parser: PolicyParser, tokens: Token[], reader: Reader) => P;

/**
 * Reads tokens that the grammar takes. Returns null, and reports nothing, if the grammar does not take them.
 */
export function readWhole<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P | null {
  const reported: Diagnostic[] = [];
  const noting = { ...reader, report: (diagnostic: Diagnostic) => void reported.push(diagnostic) };
  parsers.whole ??= new WholeTextParser();
  try {
    const parsed = read(parsers.whole, tokens, noting);
    if (parsed.errors.length > 0) return null;
    for (const diagnostic of reported) reader.report(diagnostic);
    return parsed;
  } catch {
    // The parser library throws when it tries to look up what was expected.
    return null;
  }
}

/** Reads any tokens; tokens that do not fit become errors. */
export function readRecovering<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P {
  parsers.recovering ??= new PolicyParser();
  return read(parsers.recovering, tokens, reader);
}

// Finds characters that must not stand anywhere in a file, comments and texts included: control characters,
// and characters that change the direction in which the rest is shown. With those, a reviewer would see other
// code than what runs.

// Bidi_Control of the Unicode Character Database: marks, embeddings, overrides, isolates.
const bidiControls = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
// C0 without tab and line feed, delete, C1, and the two separators that some editors show as line breaks. A
// carriage return is allowed only before a line feed: alone it would end a comment where most tools show no
// line break.
const controls = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const refused = new RegExp(`[${bidiControls}${controls}]|\\r(?!\\n)`, 'g');
const bidiControl = new RegExp(`[${bidiControls}]`);

function refusedCharacters(source: SourceText): readonly Diagnostic[] {
  return Array.from(source.text.matchAll(refused), ({ 0: character, index }) => {
    const span = makeSpan({ source }, index, index + 1);
    const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    if (!bidiControl.test(character)) {
      return syntaxError('control-character', span, `${code} is a control character`, 'delete it');
    }
    const message = `${code} changes the direction in which text is shown`;
    return syntaxError('bidi-control', span, message, 'delete it, or write it as an escape in a text');
  });
}

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
  const settled = dropFollowOnErrors(file.declarations, diagnostics, broken);
  const lines = linesOf(broken.gaveUp, source);
  const first = firstOfLines(settled.diagnostics, broken.gaveUp, lines);
  return {
    file: { ...file, declarations: settled.declarations },
    diagnostics: limited(sortDiagnostics(withoutReservedUses(first, source)), source),
    declaredByBroken: hasErrors(diagnostics) ? namesDeclared(broken.tokens) : none,
    brokenLines: lines,
  };
}

/** An expression that stands alone, and the errors of its syntax. */
export interface ParsedExpression {
  readonly expression: ExpressionNode;
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses a text that is one expression, without comments. */
export function parseExpression(source: SourceText): ParsedExpression {
  const diagnostics: Diagnostic[] = [...refusedCharacters(source)];
  const reader: Reader = { source, report: (diagnostic) => void diagnostics.push(diagnostic) };
  const { tokens, comments, strays } = tokenize(source.text);
  const commented = comments.map((token) => ({ start: token.startOffset, end: tokenEnd(token) }));
  reportStrays([...strays, ...commented], reader);
  const read = readTokens(tokens, reader, (parser, ...run) => parser.readExpression(...run, 0));
  const end = source.text.length;
  reportErrors(read.errors, { tokens: read.tokens, end, endName: 'the end of the condition' }, reader);
  return { expression: read.expression, diagnostics: limited(sortDiagnostics(diagnostics), source) };
}

interface ReadText {
  readonly file: PolicyFile;
  readonly broken: {
    readonly errors: readonly ParserError[];
    readonly tokens: readonly Token[];
    /** The tokens as the parser read them, after repairs. */
    readonly readTokens: readonly Token[];
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
  return {
    file: { kind: 'file', declarations, comments, span },
    broken: { errors, readTokens: known, tokens, gaveUp },
  };
}

/**
 * Reads tokens as written if the grammar takes them and nothing else is meant by them; otherwise repairs them
 * first, one by one, so that no list is a single token.
 */
function readTokens<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P {
  const asWritten = hasForeignSyntax(tokens, reader) ? null : readWhole(tokens, reader, read);
  if (asWritten !== null) return asWritten;
  const inFull = withoutLists(tokens);
  if (inFull !== tokens) return readTokens(inFull, reader, read);
  const repaired = repair(tokens, reader);
  const asMeant = repaired === tokens ? null : readWhole(repaired, reader, read);
  return asMeant ?? readRecovering(repaired, reader, read);
}

interface TokenGap {
  readonly from: number;
  readonly to: number;
}

/** Reads a placeholder like `readPlaceholder`, but a word at its beginning names a field. */
function readFieldName(text: UnescapedText, between: TokenGap, reader: Reader): ExpressionNode {
  return readPlaceholder(text, between, reader, (token, index) =>
    index === 0 && isAnyWord(token) ? retype(token, NameToken, token.image) : token,
  );
}

/**
 * Reads the expression between two places of a text; its tokens get the offsets at which they stand in the
 * file.
 */
function readPlaceholder(
  text: UnescapedText,
  { from, to }: TokenGap,
  reader: Reader,
  meant: (token: Token, index: number) => Token = (token) => token,
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

/** Removes the errors at uses of a reserved word that the file declares as a name: they follow from that. */
function withoutReservedUses(
  diagnostics: readonly Diagnostic[],
  { text }: SourceText,
): readonly Diagnostic[] {
  const textOf = ({ span }: Diagnostic) => text.slice(span.start, span.end);
  const declared = new Set(diagnostics.filter(({ code }) => code === 'reserved-word').map(textOf));
  return diagnostics.filter((one) => one.code !== 'unexpected-token' || !declared.has(textOf(one)));
}

function limited(diagnostics: readonly Diagnostic[], source: SourceText): readonly Diagnostic[] {
  const next = diagnostics[problemsMax];
  if (next === undefined) return diagnostics;
  const message = `\`${source.path}\` has more than ${problemsMax} problems and the rest is not listed`;
  return [...diagnostics.slice(0, problemsMax), syntaxError('too-many-problems', next.span, message)];
}

/** The comment between two offsets; its text includes `#`. */
function buildComment(start: number, end: number, source: SourceText): Comment {
  const before = blanksBefore(source.text, start);
  return {
    text: source.text.slice(start, end).trimEnd(),
    ownLine: before !== null,
    afterBlank: before !== null && blanksBefore(source.text, before) !== null && before > 0,
    span: makeSpan({ source }, start, end),
  };
}

/**
 * Offset of the line break before an offset, if only blanks stand between them; 0 at the start of the text.
 * Null if something else stands before the offset on its line.
 */
function blanksBefore(text: string, offset: number): number | null {
  let at = offset;
  while (at > 0 && isBlank(text.charCodeAt(at - 1))) at--;
  if (at === 0) return 0;
  if (text[at - 1] !== '\n' && text[at - 1] !== '\r') return null;
  return text[at - 1] === '\n' && text[at - 2] === '\r' ? at - 2 : at - 1;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0xfeff;
}

/**
 * Returns a function that finds the documentation above an offset: without `#` and one blank, joined by line
 * breaks, null for none.
 */
export function documentationBefore(
  comments: readonly Comment[],
  source: SourceText,
): (offset: number) => string | null {
  const byEnd = new Map(
    comments.filter(({ ownLine }) => ownLine).map((comment) => [comment.span.end, comment]),
  );
  return (offset) => {
    const lines: string[] = [];
    let lineEnd = blanksBefore(source.text, offset);
    for (let comment = commentEnding(lineEnd); comment !== undefined; comment = commentEnding(lineEnd)) {
      // A comment that silences a warning is meant for the checker and documents nothing.
      if (!isSilence(comment)) lines.push(comment.text.replace(/^# ?/, ''));
      lineEnd = blanksBefore(source.text, comment.span.start);
    }
    return lines.length === 0 ? null : lines.reverse().join('\n');
  };

  function commentEnding(offset: number | null): Comment | undefined {
    return offset === null ? undefined : byEnd.get(offset);
  }
}
