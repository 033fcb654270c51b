// The working state of generated functions while one request is decided, and the types of such functions.

import type { Facts } from '../../model/request.ts';
import type { ActionProgram } from '../../program/program.ts';
import type { RuntimeQuantity } from './quantity.ts';

/** The working state of generated functions: a value for each let, and the risk so far. */
export interface State {
  readonly lets: unknown[];
  risk: RuntimeQuantity;
  /** How often the quantifiers around the place being evaluated run together; 1 outside of quantifiers. */
  rounds: number;
}

/** A function that finds its constants in `layout`, from `base` on. */
export type RuleCode<T> = (facts: Facts, state: State, layout: readonly unknown[], base: number) => T;

/** Makes the sentence of a rule whose reason shows values. */
export type ReasonCode = (facts: Facts, state: State) => string;

/** Reads the value that names an approver, and why it is unknown. */
export type ApproverCode = (facts: Facts, state: State) => readonly [value: unknown, missing: string];

export function createState({ lets }: Pick<ActionProgram, 'lets'>): State {
  return { lets: lets.map(() => null), risk: 0, rounds: 1 };
}

/** Forgets the values of all lets, so that they are evaluated again. */
export function clearLets({ lets }: State): void {
  for (let at = 0; at < lets.length; at += 1) lets[at] = null;
}
