// Adapts the one text of a small action to the form that `KeyedDecider` takes.

import type { Facts } from '../../model/request.ts';
import type { OpenAction } from '../../program/packed/unpack.ts';
import type { ReasonCode, State } from '../runtime/state.ts';
import type { KeyedCode } from './keyed.ts';

/** What the text of an action returns. Reasons are listed with the place of their rule. */
export interface ActionCode {
  readonly beforeRisk: (facts: Facts, state: State) => number;
  /** Evaluates the rules that read risk; null when there are none. */
  readonly afterRisk: ((facts: Facts, state: State) => number) | null;
  readonly reasons: readonly (readonly [number, ReasonCode])[];
}

export function ownCode({ beforeRisk, afterRisk, reasons }: ActionCode, action: OpenAction): KeyedCode {
  const byRule = new Map(reasons.map(([at, reason]) => [action.head(at).id, reason] as const));
  return {
    beforeRisk,
    afterRisk,
    reason: ({ id }) => byRule.get(id)!,
  };
}
