// A word with letters of several scripts looks like another word and never equals it. Entries of lists are looked at
// where they are read; here are the texts of conditions and types, and the names in quotes.

import type { Span } from '../../diagnostic/span.ts';
import type { Expression } from '../../model/expression.ts';
import type { ActionDeclaration, RecordBody, TypeNode } from '../../syntax/tree.ts';
import { isMixedScript } from '../../value/text.ts';
import { warning } from '../problem.ts';
import { visible } from '../value-errors.ts';
import type { Checked } from './warn.ts';

interface Text {
  readonly text: string;
  readonly span: Span;
}

export function mixedScript({ set, files, env, enforced }: Checked): void {
  const declarations = files.flatMap((file) => file.declarations);
  const declared = declarations.flatMap((declaration) => {
    if (declaration.kind === 'action') return textsOfAction(declaration);
    return declaration.kind === 'type' ? textsOfType(declaration.type) : [];
  });
  const conditions = [
    ...enforced.flatMap(({ parts }) => parts.map(({ node }) => node)),
    ...[...set.lets.values()].map(({ expression }) => expression),
  ];
  for (const { text, span } of [...declared, ...conditions.flatMap(textsOfExpression)]) {
    if (!isMixedScript(text)) continue;
    env.report(
      warning('mixed-script', span, `one word mixes letters of several scripts: \`${visible(text)}\``, {
        help: 'a letter that only looks like another never matches: write the word in one script',
      }),
    );
  }
}

function textsOfAction({ keys, body }: ActionDeclaration): readonly Text[] {
  return [...keys, ...textsOfBody(body)];
}

function textsOfBody(body: RecordBody): readonly Text[] {
  return body.fields.flatMap(({ name, type }) => [name, ...textsOfType(type)]);
}

function textsOfType(node: TypeNode): readonly Text[] {
  switch (node.kind) {
    case 'text-type':
      return [{ text: node.text.value, span: node.span }];
    case 'list-type':
      return textsOfType(node.element);
    case 'record-type':
      return textsOfBody(node.body);
    case 'modified-type':
      return textsOfType(node.type);
    case 'union-type':
      return node.members.flatMap(textsOfType);
    case 'named-type':
    case 'money-type':
    case 'null-type':
      return [];
  }
}

function textsOfExpression(node: Expression): readonly Text[] {
  const { span } = node;
  if (node.kind === 'literal' && typeof node.value === 'string') return [{ text: node.value, span }];
  return node.kind === 'like' ? [{ text: node.pattern, span }] : [];
}
