// Looks up names that refer to declarations: marks them as used, and reports unknown names and names of
// another kind.

import type { NameNode } from '../../syntax/tree/tree.ts';
import type { DeclarationKind, Environment } from '../incremental/environment.ts';
import { nameOfOtherKind, unknownName } from '../messages/errors.ts';
import type { Context } from './context.ts';

/**
 * Whether a name refers to a declaration of this kind, which is marked as used; reports a diagnostic when
 * not.
 */
export function findDeclared(env: Environment, name: NameNode, kind: DeclarationKind): boolean {
  if (env.query('kind', name.text) !== undefined) env.use(name.text);
  return isDeclared(env, name, kind);
}

/** As `findDeclared`, but does not mark the declaration as used. */
export function isDeclared(env: Environment, name: NameNode, kind: DeclarationKind): boolean {
  const declaredKind = env.query('kind', name.text);
  if (declaredKind === undefined) {
    env.report(unknownName(name, kind, [...namesOf(env, kind), ...(kind === 'approvers' ? ['owner'] : [])]));
    return false;
  }
  if (declaredKind !== kind) env.report(nameOfOtherKind(name, declaredKind, kind));
  return declaredKind === kind;
}

/**
 * Returns all names of a kind, for a suggestion. The outcome that asks is not kept for the next check,
 * because any new name could change it.
 */
export function namesOf(env: Environment, kind: DeclarationKind): string[] {
  env.recorder.readUntracked();
  return declaredNames(env, kind);
}

export function declaredNames({ declarations }: Environment, kind: DeclarationKind): string[] {
  return declarations.ofKind(kind).map(({ name }) => name.text);
}

export function payloadFieldNames(ctx: Context): ReadonlySet<string> {
  return new Set(ctx.actions.shapes.flatMap(({ fields }) => fields.map((field) => field.name)));
}
