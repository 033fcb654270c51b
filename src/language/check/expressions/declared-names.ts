// Names that stand for declarations: looked up, marked as used, and told from names of another kind.

import type { NameNode } from '../../syntax/tree/tree.ts';
import type { DeclarationKind, Environment } from '../incremental/environment.ts';
import { nameOfOtherKind, unknownName } from '../messages/errors.ts';
import type { Context } from './context.ts';

/** Whether a name stands for a declaration of this kind, marked as used; else a diagnostic says why not. */
export function findDeclared(env: Environment, name: NameNode, kind: DeclarationKind): boolean {
  if (env.ask('kind', name.text) !== undefined) env.use(name.text);
  return isDeclared(env, name, kind);
}

/** As `findDeclared`, where naming it is no use of it. */
export function isDeclared(env: Environment, name: NameNode, kind: DeclarationKind): boolean {
  const found = env.ask('kind', name.text);
  if (found === undefined) {
    env.report(unknownName(name, kind, [...namesOf(env, kind), ...(kind === 'approvers' ? ['owner'] : [])]));
    return false;
  }
  if (found !== kind) env.report(nameOfOtherKind(name, found, kind));
  return found === kind;
}

/** All names of a kind, for a suggestion: what rests on them is not kept. */
export function namesOf(env: Environment, kind: DeclarationKind): string[] {
  env.recorder.askTooMuch();
  return declaredNames(env, kind);
}

export function declaredNames({ declarations }: Environment, kind: DeclarationKind): string[] {
  return declarations.ofKind(kind).map(({ name }) => name.text);
}

export function payloadFieldNames(ctx: Context): ReadonlySet<string> {
  return new Set(ctx.actions.shapes.flatMap(({ fields }) => fields.map((field) => field.name)));
}
