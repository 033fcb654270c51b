// What a reader would look up elsewhere, shown in the line: the value of a `let` behind its name.

import type { InlayHint } from 'vscode-languageserver';
import type { Declaration } from '../../language/syntax/tree/tree.ts';
import { occurrencesIn } from './names.ts';
import { documentOf, type SetSnapshot } from './workspace.ts';

/** Longer values would hide the line that they explain. */
const charactersMax = 40;

/** `start` and `end` are offsets in the file. */
export function hintsIn(
  snapshot: SetSnapshot,
  { file, start, end }: { readonly file: string; readonly start: number; readonly end: number },
): readonly InlayHint[] {
  const document = documentOf(snapshot, file);
  const lets = new Map(
    snapshot.files
      .flatMap(({ declarations }) => declarations.filter(isLet))
      .map(({ name, value }) => [name.text, value.span] as const),
  );
  if (lets.size === 0) return [];
  return occurrencesIn(snapshot.files, file)
    .filter(({ kind, isDeclared }) => kind === 'let' && !isDeclared)
    .filter(({ span }) => span.start >= start && span.end <= end)
    .flatMap(({ name, span }) => {
      const value = lets.get(name);
      if (value === undefined) return [];
      const text = (snapshot.texts.get(value.file)?.text ?? '').slice(value.start, value.end);
      if (text.length > charactersMax || text.includes('\n')) return [];
      return [{ position: document.positionAt(span.end), label: `= ${text}`, paddingLeft: true }];
    });
}

function isLet(declaration: Declaration): declaration is Extract<Declaration, { kind: 'let' }> {
  return declaration.kind === 'let';
}
