// The data that the checker's state keeps from one set to the next: findings about sets of actions, and
// policies with their declarations.

import type { FactName } from '../../model/expression.ts';
import type { Policy } from '../../model/policy.ts';
import type { Shape, Slot, Type } from '../../model/type.ts';
import type { PolicyDeclaration } from '../../syntax/tree/tree.ts';

/** A policy with the declaration from which it was resolved. */
export interface ResolvedPolicy {
  readonly declaration: PolicyDeclaration;
  readonly policy: Policy;
}

/** Sorted keys of the actions that a pattern matches. The object stays the same while the keys do. */
export interface Match {
  readonly keys: readonly string[];
}

export interface ActionSet {
  /** Sorted keys of the actions. */
  readonly keys: readonly string[];
  /** The payload shapes of the actions, in the order of `keys`. */
  readonly shapes: readonly Shape[];
  /** A number that no other action set of the `CheckState` has. */
  readonly number: number;
  /**
   * The shapes of what calls of the actions return, in the order of `keys`; null for an action without a
   * result.
   */
  readonly results: readonly (Shape | null)[];
  /** What the results have in common; null when any action declares no result. */
  readonly result: PathNode | null;
  /** What the payloads have in common. */
  readonly payload: PathNode;
}

/** A place in payloads, with the places below that have been looked up. */
export interface PathNode {
  readonly slots: readonly ActionSlot[];
  /** Steps from the payload or the variable to the place; one array for all reads of the place. */
  readonly steps: readonly string[];
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  /** Whether neither the place nor any place above may be missing or null. */
  readonly isCertain: boolean;
  /**
   * Whether the place or one above is secret. `isSigned` is inherited likewise; an amount is also signed if
   * its currency is.
   */
  readonly isSecret: boolean;
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
  /** Whether the type of the place is in error in some action. */
  readonly isFailed: boolean;
  /**
   * Places one step below, by field; a place is null when this one is no record, or when no action has the
   * field. Null until a place below is looked up.
   */
  below: Map<string, PathNode | null> | null;
  /** The common type in all actions, or the first two types that differ; null until computed. */
  type: { readonly common: Type } | { readonly differ: readonly [Type, Type] } | null;
}

/** A slot of one action, with the record around it. */
export interface ActionSlot {
  readonly slot: Slot;
  readonly isOptional: boolean;
  readonly parent: Shape | null;
}

export type ActionFact = Extract<FactName, `action.${string}`>;
export type FactTypes = Readonly<Record<ActionFact, Type>>;
