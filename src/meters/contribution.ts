// What one request adds to a meter. A meter adds up amounts, counts (every request is the amount 1) or tells texts
// apart; a value that is not known makes every reading unknown while it is in the window.

import type { Decimal } from '../value/decimal.ts';

export interface Contribution {
  /** False where it is unknown whether the meter's condition holds for the request: it may add this, or nothing. */
  readonly isCertain: boolean;
  /** An amount, or a text that stands for a value to tell apart; null where it is not known. */
  readonly value: Decimal | string | null;
}

export type Aggregate = 'amounts' | 'values';
