// A plan of steps as a program tells it to the service and reads it back. INVARIANT: a plan allows nothing: each step
// is asked for by itself when it is due.

export interface PlanDraft<Actions extends object = Readonly<Record<string, object>>> {
  /** What the agent wants to reach, for the people who decide. */
  readonly goal?: string;
  readonly steps: readonly PlannedCall<Actions>[];
  /** Whether people are asked now for the steps that need them; by default the plan is only shown. */
  readonly submit?: boolean;
}

export type PlannedCall<Actions extends object> = {
  readonly [Key in keyof Actions & string]: {
    readonly action: Key;
    readonly payload: Actions[Key] & object;
  };
}[keyof Actions & string];

export interface Plan {
  readonly id: string;
  /** The address where people see the plan. */
  readonly url: string;
  /** The sum of all steps that are not denied, for each currency, such as `1,200.00 USD`. */
  readonly sums: readonly string[];
  /** How many steps wait for people. */
  readonly pending: number;
  /** When the last of its requests ends; null when nobody was asked. */
  readonly until: Date | null;
  readonly steps: readonly PlanStep[];
}

export interface PlanStep {
  readonly action: string;
  /** What the step is about, in one line; empty when nothing short describes it. */
  readonly title: string;
  /** What was decided for the step when the plan was made: `ALLOW`, `DENY`, `ESCALATE` or `REAUTH_REQUIRED`. */
  readonly decision: string;
  readonly reason: string;
  readonly policy: string;
  /** 0 to 100. */
  readonly risk: number;
  /** The request of the step; null when nobody was asked for it. */
  readonly requestId: string | null;
  /** The present status of the request; null without a request. */
  readonly status: string | null;
}

/** A plan of any actions. */
export interface AnyPlan extends Omit<PlanDraft, 'steps'> {
  readonly steps: readonly { readonly action: string; readonly payload: object }[];
}

/** The body of `POST /v1/plans`. */
export function planBody({ goal, steps, submit = false }: AnyPlan): string {
  const calls = steps.map(({ action: action_key, payload }) => ({ action_key, payload }));
  return JSON.stringify({ ...(goal === undefined ? {} : { goal }), submit, steps: calls });
}

/** Reads the body of a reply about a plan; null when it is none. `base` is the address of the service. */
export function readPlan(body: unknown, base: string): Plan | null {
  if (typeof body !== 'object' || body === null) return null;
  const { plan_id: id, sums, pending, expires_at, steps } = body as Readonly<Record<string, unknown>>;
  const isPlan =
    typeof id === 'string' && Array.isArray(sums) && Array.isArray(steps) && typeof pending === 'number';
  if (!isPlan) return null;
  return {
    id,
    url: new URL(`/plans/${encodeURIComponent(id)}`, base).href,
    sums: sums.map(String),
    pending,
    until: typeof expires_at === 'string' ? new Date(expires_at) : null,
    steps: steps.map(readStep),
  };
}

function readStep(step: Readonly<Record<string, unknown>>): PlanStep {
  const { action_key, title, decision, reason, matched_policy, risk_score, request_id, status } = step;
  return {
    action: String(action_key),
    title: String(title),
    decision: String(decision),
    reason: String(reason),
    policy: String(matched_policy),
    risk: Number(risk_score),
    requestId: typeof request_id === 'string' ? request_id : null,
    status: typeof status === 'string' ? status : null,
  };
}
