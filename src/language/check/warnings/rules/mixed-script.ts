// Warns of a word with letters of several scripts: it looks like another word and never equals it. Covers
// texts of conditions and types, and names in quotes; entries of lists are checked where the list is read.

import type { Span } from '../../../diagnostic/span.ts';
import type { Expression } from '../../../model/expression.ts';
import { declarationsOfKind } from '../../../syntax/tree/by-kind.ts';
import type { ActionDeclaration, RecordBody, TypeDeclaration, TypeNode } from '../../../syntax/tree/tree.ts';
import { isMixedScript } from '../../../value/scripts.ts';
import type { Environment } from '../../incremental/environment.ts';
import { memoized } from '../../incremental/memoized.ts';
import { warning } from '../../messages/problem.ts';
import { visible } from '../../messages/value-errors.ts';
import type { ConditionScope, ExaminedRule } from '../engine/rule-subjects.ts';

/** Matches ASCII texts, as most are: they have no mixed scripts. */
const isPlain = /^[\0-\x7f]*$/;

interface Text {
  readonly text: string;
  readonly span: Span;
}

export function mixedScriptInDeclarations({ files, env }: ExaminedRule): void {
  for (const file of files) {
    for (const declaration of [...declarationsOfKind(file, 'action'), ...declarationsOfKind(file, 'type')]) {
      const part = declaration.kind === 'action' ? declaration.body : declaration.type;
      memoized(env, part, () => {
        for (const { text, span } of textsOf(declaration)) reportText(text, span, env);
      });
    }
  }
}

export function mixedScriptInConditions({ env, enforced }: ConditionScope): void {
  for (const { literals, parts } of enforced) {
    for (const node of literals) reportIn(node, env);
    for (const { node } of parts) if (node.kind === 'like') reportIn(node, env);
  }
}

/** Checks a text that is a whole expression, such as the value of a let. */
export function mixedScriptInText({ env, conditions }: ConditionScope): void {
  for (const node of conditions) reportIn(node, env);
}

function reportIn(node: Expression, env: Environment): void {
  if (node.kind === 'like') reportText(node.pattern, node.span, env);
  else if (node.kind === 'literal' && typeof node.value === 'string') reportText(node.value, node.span, env);
}

function reportText(text: string, span: Span, env: Environment): void {
  if (isPlain.test(text) || !isMixedScript(text)) return;
  env.report(
    warning('mixed-script', span, `one word mixes letters of several scripts: \`${visible(text)}\``, {
      help: 'a letter that only looks like another never matches: write the word in one script',
    }),
  );
}

function textsOf(declaration: ActionDeclaration | TypeDeclaration): readonly Text[] {
  return declaration.kind === 'action' ? textsOfAction(declaration) : textsOfType(declaration.type);
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
