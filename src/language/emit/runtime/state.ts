// What generated functions work on while one request is decided, and what such functions are.

import type { Facts } from '../../model/request.ts';
import type { ActionProgram } from '../../program/program.ts';
import type { RuntimeQuantity } from './quantity.ts';

/** What generated functions work on: a value a let, the risk so far. */
export interface State {
  readonly lets: unknown[];
  risk: RuntimeQuantity;
  /** How often the quantifiers around the place that is being evaluated go round together; 1 outside of them. */
  rounds: number;
}

/** A function that finds its constants in `layout` from `base` on. */
export type RuleCode<T> = (facts: Facts, state: State, layout: readonly unknown[], base: number) => T;

/** The sentence of a rule whose reason shows values. */
export type ReasonCode = (facts: Facts, state: State) => string;

export function createState({ lets }: Pick<ActionProgram, 'lets'>): State {
  return { lets: lets.map(() => null), risk: 0, rounds: 1 };
}

/** Lets are evaluated anew. */
export function forgetLets({ lets }: State): void {
  for (let at = 0; at < lets.length; at += 1) lets[at] = null;
}
