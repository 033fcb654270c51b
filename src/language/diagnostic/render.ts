// Renders diagnostics for people and programs: text with the source line and carets under the place, and
// plain JSON. INVARIANT: nothing that came out of a file reaches the terminal raw: control, format and
// bidirectional characters are written as `\u{..}`, and columns count code points from 1.

import type { Diagnostic, RelatedLocation, Severity } from './diagnostic.ts';
import type { Span } from './span.ts';

/** Returns the text of a file by the path that spans use; null when there is no text to show. */
export type SourceOf = (path: string) => string | null;

export interface Position {
  /** The line, counted from 1. */
  readonly line: number;
  /** The column in code points, counted from 1. */
  readonly column: number;
}

/** A diagnostic as plain data, with places as line and column; a place is null when the file has no text. */
export interface JsonDiagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly start: Position | null;
  /** The position after the last character. */
  readonly end: Position | null;
  readonly help: string | null;
  readonly related: readonly JsonLocation[];
  readonly fix: {
    readonly title: string;
    readonly edits: readonly (JsonLocation & { text: string })[];
  } | null;
}

interface JsonLocation {
  readonly file: string;
  readonly start: Position | null;
  readonly end: Position | null;
  readonly message?: string;
}

/**
 * Renders every diagnostic in the order given, each with its source line, carets, help and related places,
 * then a line with their number. Returns an empty text for no diagnostics; other texts end with a line break.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  sourceOf: SourceOf,
  options: { readonly color: boolean },
): string {
  if (diagnostics.length === 0) return '';
  const paint = options.color ? colored : plain;
  const blocks = diagnostics.map((diagnostic) => renderOne(diagnostic, sourceOf, paint));
  return `${[...blocks, summary(diagnostics)].join('\n\n')}\n`;
}

/** Renders one diagnostic without colours and without the line with the number. */
export function renderDiagnostic(diagnostic: Diagnostic, sourceOf: SourceOf): string {
  return renderOne(diagnostic, sourceOf, plain);
}

/** Returns the numbers of errors and warnings, such as `2 errors, 1 warning`. */
function summary(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning'] as const).map((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return count === 0 ? '' : `${count} ${severity}${count === 1 ? '' : 's'}`;
  });
  return counts.filter((count) => count !== '').join(', ');
}

/** Returns the line and column of a UTF-16 offset; an offset beyond the text counts as its end. */
export function position(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = lineStart === 0 ? 1 : before.split('\n').length;
  return { line, column: [...before.slice(lineStart)].length + 1 };
}

/** Returns the diagnostic as plain data, for `--json`, the record of a failed reload and editors. */
export function diagnosticToJson(diagnostic: Diagnostic, sourceOf: SourceOf): JsonDiagnostic {
  const { code, severity, message, help, related = [], fix } = diagnostic;
  return {
    code,
    severity,
    message,
    ...jsonPlace(diagnostic.span, sourceOf),
    help: help ?? null,
    related: related.map((location) => ({
      ...jsonPlace(location.span, sourceOf),
      message: location.message,
    })),
    fix:
      fix === undefined
        ? null
        : {
            title: fix.title,
            edits: fix.edits.map((edit) => ({ ...jsonPlace(edit.span, sourceOf), text: edit.text })),
          },
  };
}

/**
 * Returns the text with every character that could mislead a reader or control a terminal written as
 * `\u{..}`.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(misleading, escapeCharacter);
}

const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;
const zeroWidth = /^[\p{Mn}\p{Me}]$/u;
const doubleWidth =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

const tabWidth = 4;
/** The most terminal cells of a source line that are shown; longer lines are cut around the marked place. */
const lineCellsMax = 160;
const cellsBeforeMax = 60;

/** Applies a style to a text. `colored` is the only code with terminal colours. */
type Paint = (style: keyof typeof styles, text: string) => string;

const styles = { error: '1;31', warning: '1;33', strong: '1', gutter: '1;34', note: '1;36' } as const;
const colored: Paint = (style, text) => `\u001b[${styles[style]}m${text}\u001b[0m`;
const plain: Paint = (_style, text) => text;

function renderOne(diagnostic: Diagnostic, sourceOf: SourceOf, paint: Paint): string {
  const { severity, code, message, help, related = [] } = diagnostic;
  const places = [diagnostic.span, ...related.map(({ span }) => span)];
  const gutter = Math.max(...places.map((span) => lastLineNumber(span, sourceOf)));
  const draw = new Excerpts(sourceOf, paint, String(gutter).length);
  return [
    `${paint(severity, `${severity}[${code}]`)}${paint('strong', `: ${escapeForTerminal(message)}`)}`,
    ...draw.location(diagnostic.span, severity),
    ...(help === undefined ? [] : [draw.remark('help', help)]),
    ...related.flatMap((location) => renderRelated(location, draw, paint)),
  ].join('\n');
}

function renderRelated(location: RelatedLocation, draw: Excerpts, paint: Paint): readonly string[] {
  return [
    `${paint('note', 'note')}${paint('strong', `: ${escapeForTerminal(location.message)}`)}`,
    ...draw.location(location.span, 'note'),
  ];
}

/** Draws places beside one gutter; a class, because every line needs the same three settings. */
class Excerpts {
  readonly #sourceOf: SourceOf;
  readonly #paint: Paint;
  readonly #gutter: number;

  constructor(sourceOf: SourceOf, paint: Paint, gutter: number) {
    this.#sourceOf = sourceOf;
    this.#paint = paint;
    this.#gutter = gutter;
  }

  location(span: Span, style: keyof typeof styles): readonly string[] {
    const text = this.#sourceOf(span.file);
    const arrow = `${' '.repeat(this.#gutter)}${this.#paint('gutter', '-->')}`;
    // A diagnostic about the whole directory has no file.
    if (span.file === '') return [];
    if (text === null) return [`${arrow} ${escapeForTerminal(span.file)}`];
    const { line, column } = position(text, span.start);
    const marks = markedLines(text, span);
    return [
      `${arrow} ${escapeForTerminal(span.file)}:${line}:${column}`,
      this.#line('', ''),
      ...marks.flatMap((mark, index) => [
        ...(index > 0 && mark.line > marks[index - 1]!.line + 1 ? [this.#paint('gutter', '...')] : []),
        ...this.#marked(mark, style),
      ]),
    ];
  }

  remark(word: string, text: string): string {
    const indented = escapeLines(text).join(`\n${' '.repeat(this.#gutter + word.length + 5)}`);
    return `${' '.repeat(this.#gutter)} ${this.#paint('gutter', '=')} ${this.#paint('strong', `${word}:`)} ${indented}`;
  }

  #marked(mark: MarkedLine, style: keyof typeof styles): readonly string[] {
    const { shown, indent, carets } = drawLine(mark);
    return [
      this.#line(String(mark.line), shown),
      this.#line('', `${' '.repeat(indent)}${this.#paint(style, '^'.repeat(carets))}`),
    ];
  }

  #line(number: string, text: string): string {
    const bar = this.#paint('gutter', `${number.padStart(this.#gutter)} |`);
    return text === '' ? bar : `${bar} ${text}`;
  }
}

/** A source line and the part to underline, in UTF-16 offsets into the line. */
interface MarkedLine {
  readonly line: number;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Returns the line of the span; for a span of several lines the first and the last. */
function markedLines(text: string, span: Span): readonly MarkedLine[] {
  const end = Math.max(span.end, span.start);
  const first = lineAt(text, span.start);
  if (end <= first.end) return [mark(first, span.start, end)];
  const last = lineAt(text, end);
  const blanks = /^\s*/.exec(last.text)?.[0].length ?? 0;
  // A span that ends with a line break ends, as people see it, on the line before.
  if (end - last.start <= blanks) return [mark(first, span.start, first.end)];
  return [mark(first, span.start, first.end), mark(last, last.start + blanks, end)];
}

interface Line {
  readonly number: number;
  readonly start: number;
  /** The offset of the end, without the line break. */
  readonly end: number;
  readonly text: string;
}

function lineAt(text: string, offset: number): Line {
  const start = text.lastIndexOf('\n', Math.min(offset, text.length) - 1) + 1;
  const lineFeed = text.indexOf('\n', start);
  const line = text.slice(start, lineFeed === -1 ? text.length : lineFeed).replace(/\r$/, '');
  return { number: position(text, start).line, start, end: start + line.length, text: line };
}

function mark(line: Line, from: number, to: number): MarkedLine {
  return {
    line: line.number,
    text: line.text,
    from: Math.min(from - line.start, line.text.length),
    to: Math.min(to - line.start, line.text.length),
  };
}

/**
 * Returns the line as shown, the number of cells before the carets, and the number of carets (at least one).
 */
function drawLine({ text, from, to }: MarkedLine): { shown: string; indent: number; carets: number } {
  const cells = cellsOf(text);
  const before = widthOf(cells.filter(({ offset }) => offset < from));
  const skipped = before > cellsBeforeMax && widthOf(cells) > lineCellsMax ? before - cellsBeforeMax : 0;
  const head = cut(cells, skipped);
  const end = cut(cells, skipped + lineCellsMax);
  const visible = cells.slice(head, end);
  const leading = head > 0 ? '…' : '';
  const marked = visible.filter(({ offset }) => offset >= from && offset < to);
  return {
    shown:
      `${leading}${visible.map(({ shown }) => shown).join('')}${end < cells.length ? '…' : ''}`.trimEnd(),
    indent: leading.length + widthOf(visible.filter(({ offset }) => offset < from)),
    carets: Math.max(widthOf(marked), 1),
  };
}

/** One code point as shown. */
interface Cell {
  readonly offset: number;
  readonly shown: string;
  readonly width: number;
}

function cellsOf(text: string): readonly Cell[] {
  const cells: Cell[] = [];
  let offset = 0;
  let column = 0;
  for (const character of text) {
    const cell = cellOf(character, column);
    cells.push({ offset, ...cell });
    offset += character.length;
    column += cell.width;
  }
  return cells;
}

function cellOf(character: string, column: number): { shown: string; width: number } {
  if (character === '\t') {
    const width = tabWidth - (column % tabWidth);
    return { shown: ' '.repeat(width), width };
  }
  const escaped = escapeForTerminal(character);
  if (escaped !== character) return { shown: escaped, width: escaped.length };
  if (zeroWidth.test(character)) return { shown: escaped, width: 0 };
  return { shown: escaped, width: doubleWidth.test(character) ? 2 : 1 };
}

/** Returns how many cells from the left fit into `width`. */
function cut(cells: readonly Cell[], width: number): number {
  let used = 0;
  const index = cells.findIndex((cell) => {
    used += cell.width;
    return used > width;
  });
  return index === -1 ? cells.length : index;
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function escapeLines(text: string): readonly string[] {
  return text.split('\n').map(escapeForTerminal);
}

function lastLineNumber(span: Span, sourceOf: SourceOf): number {
  const text = sourceOf(span.file);
  return text === null ? 1 : position(text, span.end).line;
}

function jsonPlace(span: Span, sourceOf: SourceOf): JsonLocation {
  const text = sourceOf(span.file);
  return {
    file: span.file,
    start: text === null ? null : position(text, span.start),
    end: text === null ? null : position(text, span.end),
  };
}
