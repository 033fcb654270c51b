// The part of a record that names the plan to which a request belongs.

export interface PlanPlace {
  readonly id: string;
  /** What the agent wants to reach; null when it has not said. */
  readonly goal: string | null;
  /** The number of the step, from 1. */
  readonly step: number;
  /** How many steps the plan has. */
  readonly steps: number;
}
