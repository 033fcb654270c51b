// What every pass of the checker shares: the namespace of all files and what has been resolved so far. Maps are filled
// pass after pass (types, actions, lists, hours, meters); a declaration that could not be resolved stays out of them
// and is then read without a second diagnostic.

import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { Span } from '../diagnostic/span.ts';
import type { Action, Approvers, List, Meter } from '../model/policy.ts';
import type { Slot } from '../model/type.ts';
import type { ActionDeclaration, Declaration, Name } from '../syntax/tree.ts';
import type { Hours } from '../value/hours.ts';
import { nameOfOtherKind, unknownName } from './errors.ts';
import type { LetVariant } from './lets.ts';

export type NamedDeclaration = Exclude<Declaration, ActionDeclaration>;
export type DeclarationKind = NamedDeclaration['kind'];

export interface Environment {
  readonly report: (diagnostic: Diagnostic) => void;
  readonly declarations: ReadonlyMap<string, NamedDeclaration>;
  /** Null: in error. Shared types are inlined where they are named. */
  readonly types: Map<string, Slot | null>;
  readonly actions: Map<string, Action>;
  /** Keys of the actions of each group. */
  readonly groups: Map<string, string[]>;
  readonly approvers: Map<string, Approvers>;
  readonly lists: Map<string, List>;
  readonly hours: Map<string, Hours>;
  readonly meters: Map<string, Meter>;
  /** Lets that cannot be followed: in a circle, or too deep. */
  readonly endlessLets: Set<string>;
  /** A number for each set of actions that something speaks of. */
  readonly actionSets: Map<string, number>;
  /** By let, actions, presence and kind of use. */
  readonly letVariants: Map<string, LetVariant>;
  /** Places of rules, claims and declarations in error, which the set does not hold. */
  readonly leftOut: Span[];
  /** Names that something refers to. */
  readonly used: Set<string>;
}

export function createEnvironment(
  declarations: ReadonlyMap<string, NamedDeclaration>,
  report: (diagnostic: Diagnostic) => void,
): Environment {
  return {
    report,
    declarations,
    types: new Map(),
    actions: new Map(),
    groups: new Map(),
    approvers: new Map(),
    lists: new Map(),
    hours: new Map(),
    meters: new Map(),
    endlessLets: new Set(),
    actionSets: new Map(),
    letVariants: new Map(),
    leftOut: [],
    used: new Set(),
  };
}

/** The declaration that a name stands for, marked as used; null, and a diagnostic, when it is not of this kind. */
export function findDeclared<K extends DeclarationKind>(
  env: Environment,
  name: Name,
  kind: K,
): Extract<NamedDeclaration, { kind: K }> | null {
  const declaration = env.declarations.get(name.text);
  if (declaration === undefined) {
    env.report(unknownName(name, kind, [...namesOf(env, kind), ...(kind === 'approvers' ? ['owner'] : [])]));
    return null;
  }
  env.used.add(name.text);
  if (declaration.kind !== kind) {
    env.report(nameOfOtherKind(name, declaration.kind, kind));
    return null;
  }
  return declaration as Extract<NamedDeclaration, { kind: K }>;
}

export function namesOf(env: Environment, kind: DeclarationKind): string[] {
  return [...env.declarations].filter(([, declaration]) => declaration.kind === kind).map(([name]) => name);
}
