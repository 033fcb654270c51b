// What requests add to meters, and the definitions of these meters. A meter adds up amounts, counts (every
// request is the amount 1), or counts distinct texts. An unknown value makes every reading unknown while the
// value is in the window.

import type { Decimal } from '../value/decimal.ts';
import type { MeterWindow } from '../value/meter-window.ts';

export type Aggregate = 'amounts' | 'values';

/** A meter as far as counting needs it. */
export interface MeterDefinition {
  /** Digest of the whole meter except its name. */
  readonly id: string;
  readonly aggregate: Aggregate;
  readonly over: MeterWindow;
  /** Whether entries depend on what calls return. A request is then not counted in its own reading. */
  readonly readsResult?: boolean;
}

export interface Contribution {
  /**
   * False when it is unknown whether the meter's condition holds for the request: the request may add this
   * value, or nothing.
   */
  readonly isCertain: boolean;
  /** An amount, a text for a distinct value, or the text that restarts the meter; null when unknown. */
  readonly value: Decimal | string | null;
}

/** The contribution of a request that restarts a meter. No amount and no distinct value has this text. */
export const meterRestart: Contribution = Object.freeze({ isCertain: true, value: 'anew' });

export function isMeterRestart({ value }: Contribution): boolean {
  return value === meterRestart.value;
}

/** What one request adds to one meter. */
export interface MeterEntry {
  readonly definition: MeterDefinition;
  /** The agent, owner, session or value for which the entry counts; null when unknown. */
  readonly key: string | null;
  /** What the request adds; null when its rules read the meter but the meter does not count it. */
  readonly contribution: Contribution | null;
}

/** An entry with the names under which the rules of the request's action read the meter; often none. */
export interface MeterUse extends MeterEntry {
  readonly names: readonly string[];
}
