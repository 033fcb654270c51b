// What an expression is checked against: the actions whose payload it reads, the variables around it and what
// is known about presence. Every check of an expression yields a typed expression, or null once a diagnostic
// says why not.

import type { Expression } from '../../model/expression.ts';
import type { Slot } from '../../model/type.ts';
import type { ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { nothingKnown, type Presence } from '../logic/presence.ts';
import { conditionMistyped } from '../messages/type-errors.ts';

export interface Context {
  readonly env: Environment;
  /** The actions whose requests the expression may be evaluated for. */
  readonly actions: ActionSet;
  /** Variables of the enclosing quantifiers and parameters of the enclosing let, by name. */
  readonly variables: ReadonlyMap<string, Slot>;
  /** How many quantifiers enclose the expression. */
  readonly depth: number;
  /** What the calls of lets with parameters around the expression expand to; null outside of such a call. */
  readonly expansion: Expansion | null;
  readonly presence: Presence;
  /** Whether the expression is in a let, which other policies may read with other actions. */
  readonly inLet: boolean;
  /**
   * Whether the expression is in a meter. A meter is computed from records, so it has no time of decision, no
   * risk and no other meter.
   */
  readonly inMeter: boolean;
  /**
   * Types an expression of any kind. The switch is passed in the context so that the modules for the kinds do
   * not import one another.
   */
  readonly infer: (node: Tree, ctx: Context) => Inference;
}

interface Expansion {
  /** Of the outermost call, so far. */
  readonly size: { nodes: number };
  /** Of the calls around the expression together. */
  readonly depth: number;
}

/** The variables outside of any quantifier: none. */
export const noVariables: Context['variables'] = new Map();

/** A typed expression, and what is known about presence when it is true and when it is false. */
export interface Inference {
  readonly expression: Expression | null;
  readonly whenTrue: Presence;
  readonly whenFalse: Presence;
}

/**
 * The result for a presence test in error, or for a gap in the tree: everything counts as present, so that
 * one mistake causes no further diagnostics.
 */
export const failed: Inference = { expression: null, whenTrue: 'everything', whenFalse: 'everything' };

/** Wraps an expression that tells nothing about presence, or null for one in error. */
export function plainType(expression: Expression | null): Inference {
  return { expression, whenTrue: nothingKnown, whenFalse: nothingKnown };
}

export function inferValue(node: Tree, ctx: Context): Expression | null {
  return ctx.infer(node, ctx).expression;
}

/** Types an expression that must be boolean; reports any other type. */
export function inferCondition(node: Tree, ctx: Context): Inference {
  const inferred = ctx.infer(node, ctx);
  if (inferred.expression === null || inferred.expression.type.kind === 'boolean') return inferred;
  ctx.env.report(conditionMistyped(node, inferred.expression.type));
  return plainType(null);
}

/** Returns the same context with another state of knowledge about presence. */
export function withPresence(ctx: Context, presence: Presence): Context {
  return presence === ctx.presence ? ctx : { ...ctx, presence };
}

/**
 * Whether the name `result` means what calls of all the actions return: only in meters whose actions all
 * declare a result.
 */
export function isResult(name: string, { inMeter, actions }: Context): boolean {
  return name === 'result' && inMeter && actions.result !== null;
}
