// Semantic tokens: tells an editor the kind of each name in a file.

import { SemanticTokensBuilder } from 'vscode-languageserver';
import { colouredNames } from '../language/assist/name-colours.ts';
import type { NamedKind } from '../language/assist/names.ts';
import { documentOf, type SetSnapshot } from './set/workspace.ts';

export const legendTypes = [
  ...['class', 'type', 'enum', 'variable', 'parameter', 'property', 'method', 'function', 'event'],
  ...['namespace', 'interface'],
] as const;

export const tokenModifiers = ['declaration', 'readonly'];

const types: Readonly<Record<NamedKind, (typeof legendTypes)[number]>> = {
  action: 'event',
  type: 'type',
  group: 'namespace',
  approvers: 'enum',
  list: 'variable',
  table: 'variable',
  hours: 'variable',
  let: 'variable',
  meter: 'variable',
  policy: 'class',
  guarantee: 'interface',
  rule: 'method',
  field: 'property',
  column: 'property',
  variable: 'parameter',
  builtin: 'function',
  fact: 'property',
};

export function coloursOf(snapshot: SetSnapshot, file: string): { readonly data: number[] } {
  const document = documentOf(snapshot, file);
  const builder = new SemanticTokensBuilder();
  for (const { start, end, kind, isDeclared } of colouredNames(snapshot.files, file, document.getText())) {
    const { line, character } = document.positionAt(start);
    builder.push(line, character, end - start, legendTypes.indexOf(types[kind]), isDeclared ? 1 : 0);
  }
  // Results are always sent whole, never as differences from earlier ones, so they need no id.
  return { data: builder.build().data };
}
