// Turns positions of the language into positions of the Language Server Protocol, and back.

import type { Location, Position, Range } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Span } from '../../language/diagnostic/span.ts';
import { documentOf, fileNameOf, type SetSnapshot, uriOf } from './workspace.ts';

export function rangeOf(document: TextDocument, { start, end }: Span): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

export function locationOf(snapshot: SetSnapshot, span: Span): Location {
  return { uri: uriOf(snapshot, span.file), range: rangeOf(documentOf(snapshot, span.file), span) };
}

/** The place that an editor's request is about. */
export interface DocumentPosition {
  readonly snapshot: SetSnapshot;
  /** The path of the place's file, in the form that spans use. */
  readonly file: string;
  readonly document: TextDocument;
  readonly offset: number;
}

export function placeIn(snapshot: SetSnapshot, uri: string, position: Position): DocumentPosition {
  const file = fileNameOf(snapshot, uri);
  const document = documentOf(snapshot, file);
  return { snapshot, file, document, offset: document.offsetAt(position) };
}
