// The kill switches as the request path sees them, independent of how they are stored: which are on, and a
// number by which the store tells whether they have changed since.

import type { AgentRow } from '../../store/contract/records.ts';

export interface SwitchesNow {
  /** Returns at once when the switches were looked up recently. Rejects when they cannot be looked up. */
  seen(): SeenSwitches | Promise<SeenSwitches>;
  /** Looks the switches up now, after the store has found a change that was not seen. */
  lookAgain(): Promise<SeenSwitches>;
}

export interface SeenSwitches {
  readonly generation: number;
  /** Returns the kill switch that stops the action; null when none does. */
  readonly stoppedBy: (asked: StoppableAction) => object | null;
}

export interface StoppableAction {
  readonly agentId: string;
  readonly tier: AgentRow['riskTier'];
  readonly actionKey: string;
}
