// Lets that nothing reads are checked all the same, so that a mistake in one is found before it is used: against one
// action that has the fields which it reads, everything taken as present. Nothing of this enters the model.

import type { Action } from '../model/policy.ts';
import type { LetDeclaration, Expression as Tree } from '../syntax/tree.ts';
import { childExpressions } from '../syntax/visit.ts';
import type { Environment } from './environment.ts';
import { contextOver } from './scope.ts';

export function checkUnusedLets(env: Environment): void {
  const read = new Set([...env.letVariants.values()].map(({ name }) => name));
  const apart: Environment = { ...env, letVariants: new Map() };
  for (const declaration of env.declarations.values()) {
    if (declaration.kind !== 'let' || read.has(declaration.name.text)) continue;
    if (!env.endlessLets.has(declaration.name.text)) checkAlone(declaration, apart);
  }
}

function checkAlone({ value }: LetDeclaration, env: Environment): void {
  const fields = payloadFields(value);
  const actions = [...env.actions.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  const action = actions.find((each) => declares(each, fields)) ?? actions[0];
  const ctx = contextOver(action === undefined ? [] : [action.key], env);
  ctx.infer(value, { ...ctx, inLet: true, presence: 'everything' });
}

function declares({ shape }: Action, fields: ReadonlySet<string>): boolean {
  return [...fields].every((name) => shape.fields.some((field) => field.name === name));
}

/** First steps of the payload paths in an expression. */
function payloadFields(expression: Tree): ReadonlySet<string> {
  const fields = new Set<string>();
  const pending: Tree[] = [expression];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const [first] = node.kind === 'path' ? node.steps : node.kind === 'has' ? node.field : [];
    const root = node.kind === 'path' ? node.root : node.kind === 'has' ? node.subject.root : null;
    if (root?.text === 'payload' && first !== undefined) fields.add(first.text);
    pending.push(...childExpressions(node));
  }
  return fields;
}
