// What has been found out about sets of actions, and policies: data only, which the checker's state keeps from one set to the next.

import type { FactName } from '../../model/expression.ts';
import type { Policy } from '../../model/policy.ts';
import type { Shape, Slot, Type } from '../../model/type.ts';
import type { PolicyDeclaration } from '../../syntax/tree/tree.ts';

/** A policy, and the declaration from which it comes. */
export interface ResolvedPolicy {
  readonly declaration: PolicyDeclaration;
  readonly policy: Policy;
}

/** Sorted keys of the actions that a pattern matches; kept while they are the same. */
export interface Match {
  readonly keys: readonly string[];
}

export interface ActionSet {
  /** Sorted. */
  readonly keys: readonly string[];
  /** Of the actions of these keys, in their order. */
  readonly shapes: readonly Shape[];
  /** A number that no other set of the checkState has. */
  readonly number: number;
  /** What calls of them return, in their order; null for those that do not declare it. */
  readonly results: readonly (Shape | null)[];
  /** What their results have in common; null where one of them declares none. */
  readonly result: PathNode | null;
  /** What their payloads have in common. */
  readonly payload: PathNode;
}

/** A place, and those below it that have been asked for. */
export interface PathNode {
  readonly found: readonly FoundActions[];
  /** From the payload or the variable on; shared by all reads of it. */
  readonly steps: readonly string[];
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  /** Neither it nor a place above may be missing or null. */
  readonly isCertain: boolean;
  /** It or a place above is secret; likewise signed, as is an amount whose currency is. */
  readonly isSecret: boolean;
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
  /** The declaration of its type is in error in some action. */
  readonly isFailed: boolean;
  /** Null below what is no record, and where no action has the field. */
  readonly below: Map<string, PathNode | null>;
  /** The types that differ where there is no common one; computed when asked for. */
  type: { readonly common: Type } | { readonly differ: readonly [Type, Type] } | null;
}

/** A slot with the record around it, of one action. */
export interface FoundActions {
  readonly slot: Slot;
  readonly isOptional: boolean;
  readonly parent: Shape | null;
}

export type ActionFact = Extract<FactName, `action.${string}`>;
export type FactTypes = Readonly<Record<ActionFact, Type>>;
