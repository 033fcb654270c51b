// What requests add to meters, and which meters these are. A meter adds up amounts, counts (every request is the amount
// 1) or tells texts apart; a value that is not known makes every reading unknown while it is in the window.

import type { Decimal } from '../value/decimal.ts';
import type { MeterWindow } from '../value/meter-window.ts';

export type Aggregate = 'amounts' | 'values';

/** What a meter is, as far as counting goes. */
export interface MeterDefinition {
  /** Digest of all that the meter says but its name. */
  readonly id: string;
  readonly aggregate: Aggregate;
  readonly over: MeterWindow;
  /** Whether entries depend on what calls return, so that the request that asks is not counted. */
  readonly readsResult?: boolean;
}

export interface Contribution {
  /** False where it is unknown whether the meter's condition holds for the request: it may add this, or nothing. */
  readonly isCertain: boolean;
  /** An amount, or a text that stands for a value to tell apart, or for starting anew; null where it is not known. */
  readonly value: Decimal | string | null;
}

/** What a request adds to a meter that starts anew with it. No amount and no value to tell apart is written so. */
export const startsAnew: Contribution = Object.freeze({ isCertain: true, value: 'anew' });

export function isAnew({ value }: Contribution): boolean {
  return value === startsAnew.value;
}

/** What one request adds to one meter. */
export interface MeterEntry {
  readonly definition: MeterDefinition;
  /** For which agent, owner, session or value it counts; null where that is not known. */
  readonly key: string | null;
  /** Null where the meter reads the request but does not count it. */
  readonly contribution: Contribution | null;
}

/** An entry with the names under which the rules of the request's action read the meter; often none. */
export interface MeterUse extends MeterEntry {
  readonly names: readonly string[];
}
