// Finds the lets that name a record of the payload or a row of a table, so that fields and columns can follow
// their names.

import { stepText } from '../model/describe.ts';
import type { Declaration, PolicyFile } from '../syntax/tree/tree.ts';
import type { PlaceName } from './vocabulary.ts';

export function placeNames(files: readonly PolicyFile[]): readonly PlaceName[] {
  return files.flatMap(({ declarations }) => declarations.flatMap(placeName));
}

function placeName(declaration: Declaration): readonly PlaceName[] {
  if (declaration.kind !== 'let' || declaration.parameters.length > 0) return [];
  const { name, value } = declaration;
  if (value.kind === 'look-up' && value.column === null)
    return [{ kind: 'row', name: name.text, of: value.table.text }];
  if (value.kind !== 'path' || value.root.text !== 'payload' || value.steps.length === 0) return [];
  const of = ['payload', ...value.steps.map(({ text }) => stepText(text))].join('.');
  return [{ kind: 'record', name: name.text, of }];
}
