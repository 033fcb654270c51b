// Inlay hints behind names, for what a reader would look up elsewhere: the value of a `let`, the zone of
// `hours`, and the currency and window of a meter.

import type { InlayHint } from 'vscode-languageserver';
import { occurrencesIn } from '../language/assist/names.ts';
import type { Declaration } from '../language/syntax/tree/tree.ts';
import { documentOf, type SetSnapshot } from './set/workspace.ts';

/** The longest hint; a longer one would hide the line that it explains. */
const charactersMax = 40;

/** The hints of a part of a file; `start` and `end` are offsets in the file. */
export function hintsIn(
  snapshot: SetSnapshot,
  { file, start, end }: { readonly file: string; readonly start: number; readonly end: number },
): readonly InlayHint[] {
  const document = documentOf(snapshot, file);
  const labels = new Map(
    snapshot.files
      .flatMap(({ declarations }) => declarations)
      .flatMap((declaration): readonly (readonly [string, string])[] => {
        const label = labelOf(snapshot, declaration);
        return label === null || declaration.kind === 'action' ? [] : [[declaration.name.text, label]];
      }),
  );
  return occurrencesIn(snapshot.files, file)
    .filter(({ kind, isDeclared }) => kind in hinted && !isDeclared)
    .filter(({ span }) => span.start >= start && span.end <= end)
    .flatMap(({ name, span }) => {
      const label = labels.get(name);
      if (label === undefined || label.length > charactersMax || label.includes('\n')) return [];
      return [{ position: document.positionAt(span.end), label, paddingLeft: true }];
    });
}

const hinted = { let: true, hours: true, meter: true };

/** The hint for a declaration; null when its kind has none. */
function labelOf({ texts }: SetSnapshot, declaration: Declaration): string | null {
  const textOf = ({ file, start, end }: Declaration['span']): string =>
    (texts.get(file)?.text ?? '').slice(start, end);
  switch (declaration.kind) {
    case 'let':
      return `= ${textOf(declaration.value.span)}`;
    case 'hours':
      return `in ${textOf(declaration.zone.span)}`;
    case 'meter': {
      const { currency, over } = declaration;
      return [...(currency === null ? [] : [currency.text]), `over ${textOf(over.span)}`].join(' ');
    }
    default:
      return null;
  }
}
