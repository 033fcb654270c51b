// Turns the canonical text of a file into edits of the lines that differ from it.

import type { TextEdit } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { formattedText } from '../language/assist/formatted-text.ts';
import { lineChanges } from '../language/assist/line-changes.ts';

/** A range of lines, counted from 0; `after` is the line behind the last one. */
interface Lines {
  readonly first: number;
  readonly after: number;
}

interface Replacement extends Lines {
  readonly text: string;
}

/**
 * The edits that format a file. Empty when the text has a syntax error, because formatting must lose nothing.
 */
export function formatted(document: TextDocument): readonly TextEdit[] {
  const after = formattedText(document.getText());
  return after === null ? [] : lineEdits(document, after);
}

/** The edits of the lines in which another text differs from a document. */
export function lineEdits(document: TextDocument, after: string): readonly TextEdit[] {
  return editsOf(document, replacements(document.getText(), after));
}

/**
 * Formats the lines of a selection. When these lines cannot be told apart from their neighbours, as when two
 * declarations share a line, the neighbours are formatted, too.
 */
export function formattedIn(document: TextDocument, { start, end }: TextEdit['range']): readonly TextEdit[] {
  const before = document.getText();
  const after = formattedText(before);
  if (after === null) return [];
  const all = replacements(before, after);
  // A selection that ends before the first character of a line does not hold that line.
  const selected = {
    first: start.line,
    after: end.character === 0 ? Math.max(end.line, start.line + 1) : end.line + 1,
  };
  const chosen = all.map((one) => touches(one, selected));
  if (!chosen.includes(true)) return [];
  let [from, to] = [chosen.indexOf(true), chosen.lastIndexOf(true) + 1];
  for (;;) {
    const edits = editsOf(document, all.slice(from, to));
    if (formattedText(TextDocument.applyEdits(document, [...edits])) === after) return edits;
    from = Math.max(0, from - 1);
    to = Math.min(all.length, to + 1);
  }
}

function touches({ first, after }: Lines, selected: Lines): boolean {
  return first < selected.after && Math.max(after, first + 1) > selected.first;
}

/**
 * The smallest replacements that are complete. A line that differs from its canonical form in white space
 * alone is a replacement of its own.
 */
function replacements(before: string, after: string): readonly Replacement[] {
  const edits: Replacement[] = [];
  let [gone, fresh]: [string[], string[]] = [[], []];
  let line = 0;
  const close = (): void => {
    if (gone.length + fresh.length > 0) edits.push(...piecesOf(line - gone.length, gone, fresh));
    [gone, fresh] = [[], []];
  };
  for (const { kind, lines } of lineChanges(before, after)) {
    if (kind === 'kept') close();
    if (kind === 'gone') gone = [...gone, ...lines];
    if (kind === 'new') fresh = [...fresh, ...lines];
    else line += lines.length;
  }
  close();
  return edits;
}

function piecesOf(
  firstLine: number,
  gone: readonly string[],
  fresh: readonly string[],
): readonly Replacement[] {
  const pieces: Replacement[] = [];
  let [first, taken, begun] = [0, 0, 0];
  let [before, after] = ['', ''];
  for (const [index, line] of gone.entries()) {
    before += withoutSpace(line);
    while (taken < fresh.length && after.length < before.length) {
      after += withoutSpace(fresh[taken] ?? '');
      taken += 1;
    }
    if (after === before && index < gone.length - 1) {
      pieces.push(pieceOf(first, index + 1, begun, taken));
      [first, begun, before, after] = [index + 1, taken, '', ''];
    }
  }
  return [...pieces, pieceOf(first, gone.length, begun, fresh.length)];

  function pieceOf(from: number, to: number, freshFrom: number, freshTo: number): Replacement {
    const text = fresh.slice(freshFrom, freshTo).join('');
    return { first: firstLine + from, after: firstLine + to, text };
  }
}

function withoutSpace(line: string): string {
  return line.replace(/\s+/g, '');
}

function editsOf(document: TextDocument, those: readonly Replacement[]): readonly TextEdit[] {
  const positionAtLine = (line: number) => document.positionAt(document.offsetAt({ line, character: 0 }));
  return those.map(({ first, after, text }) => ({
    range: { start: positionAtLine(first), end: positionAtLine(after) },
    newText: text,
  }));
}
