// Semantic tokens: what each name is, which a grammar of words alone cannot say.

import { SemanticTokensBuilder } from 'vscode-languageserver';
import { type NamedKind, occurrencesOf } from './set/names.ts';
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
  variable: 'parameter',
  builtin: 'function',
  fact: 'property',
};

export function coloursOf(snapshot: SetSnapshot, file: string): { readonly data: number[] } {
  const document = documentOf(snapshot, file);
  const builder = new SemanticTokensBuilder();
  let end = 0;
  for (const { span, kind, isDeclared } of occurrencesOf(snapshot.files)) {
    // Tokens lie apart, each on one line.
    if (span.file !== file || span.start < end) continue;
    const [from, to] = [document.positionAt(span.start), document.positionAt(span.end)];
    if (from.line !== to.line) continue;
    end = span.end;
    builder.push(
      from.line,
      from.character,
      span.end - span.start,
      legendTypes.indexOf(types[kind]),
      isDeclared ? 1 : 0,
    );
  }
  // Nothing is told as a difference from what was told before, so that it needs no name.
  return { data: builder.build().data };
}
