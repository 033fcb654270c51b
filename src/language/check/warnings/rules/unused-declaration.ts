// Warns of a declaration that nothing names: the name is misspelt elsewhere, or the declaration is left over.

import type { DeclarationKind, NamedDeclaration } from '../../incremental/environment.ts';
import { article } from '../../messages/errors.ts';
import { warning } from '../../messages/problem.ts';
import type { ExaminedRule } from '../engine/rule-subjects.ts';

const mustBeUsed: readonly DeclarationKind[] = [
  'list',
  'table',
  'let',
  'meter',
  'type',
  'group',
  'approvers',
  'hours',
];

export function unusedDeclaration({ env, used }: ExaminedRule): void {
  for (const { name, kind } of mustBeUsed.flatMap<NamedDeclaration>(env.declarations.ofKind)) {
    if (used.has(name.text)) continue;
    const message = `${article(kind).replace(/^an? /, '')} \`${name.text}\` is never used`;
    env.report(warning('unused-declaration', name.span, message, { help: 'use it or remove it' }));
  }
}
