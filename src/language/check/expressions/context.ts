// What an expression is checked against: the actions whose payload it reads, the variables around it and what is known
// about presence. Every check of an expression yields a typed expression, or null once a diagnostic says why not.

import type { Expression } from '../../model/expression.ts';
import type { Slot } from '../../model/type.ts';
import type { ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { nothingKnown, type Presence } from '../logic/presence.ts';
import { conditionMistyped } from '../messages/type-errors.ts';

export interface Context {
  readonly env: Environment;
  /** The actions that may be decided here. */
  readonly actions: ActionSet;
  /** Variables of the quantifiers around, by name. */
  readonly variables: ReadonlyMap<string, Slot>;
  readonly presence: Presence;
  /** Within a let, which may be read elsewhere with other actions. */
  readonly inLet: boolean;
  /** What a meter counts is computed from records: no time of decision, no risk, no other meter. */
  readonly inMeter: boolean;
  /** The switch over all kinds of expressions, handed down so that no family of them imports another. */
  readonly infer: (node: Tree, ctx: Context) => Inferred;
}

/** Without the variables of any quantifier. */
export const noVariables: Context['variables'] = new Map();

/** A typed expression, and what is known about presence where it is true and where it is false. */
export interface Inferred {
  readonly expression: Expression | null;
  readonly whenTrue: Presence;
  readonly whenFalse: Presence;
}

/** A test of presence, or a gap, in error: everything counts as present, so that nothing follows from one mistake. */
export const failed: Inferred = { expression: null, whenTrue: 'everything', whenFalse: 'everything' };

/** A value that tells nothing about presence, in error or not. */
export function plainType(expression: Expression | null): Inferred {
  return { expression, whenTrue: nothingKnown, whenFalse: nothingKnown };
}

export function inferValue(node: Tree, ctx: Context): Expression | null {
  return ctx.infer(node, ctx).expression;
}

/** An expression that must be true or false. */
export function inferCondition(node: Tree, ctx: Context): Inferred {
  const inferred = ctx.infer(node, ctx);
  if (inferred.expression === null || inferred.expression.type.kind === 'boolean') return inferred;
  ctx.env.report(conditionMistyped(node, inferred.expression.type));
  return plainType(null);
}

/** The same context with more known about presence. */
export function withPresence(ctx: Context, presence: Presence): Context {
  return presence === ctx.presence ? ctx : { ...ctx, presence };
}

/** Whether the name stands for what calls of all the actions return: in meters alone. */
export function isResult(name: string, { inMeter, actions }: Context): boolean {
  return name === 'result' && inMeter && actions.result !== null;
}
