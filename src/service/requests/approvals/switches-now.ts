// The kill switches as the request path sees them, whatever keeps them: which are on, with the number by which the store
// tells whether they have changed since.

import type { AgentRow } from '../../store/contract/records.ts';

export interface SwitchesNow {
  /** At once where they were looked at lately. Rejects where they cannot be looked up. */
  seen(): SeenSwitches | Promise<SeenSwitches>;
  /** Looked at now: the store knows of a change that was not seen. */
  lookAgain(): Promise<SeenSwitches>;
}

export interface SeenSwitches {
  readonly generation: number;
  /** What stops this; null where nothing does. */
  readonly stoppedBy: (asked: StoppableAction) => object | null;
}

export interface StoppableAction {
  readonly agentId: string;
  readonly tier: AgentRow['riskTier'];
  readonly actionKey: string;
}
