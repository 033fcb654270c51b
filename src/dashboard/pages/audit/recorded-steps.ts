// Reads the steps of a plan from the record of its change. INVARIANT: a record that holds no steps in this form yields
// none, and is shown like any other change.

export interface RecordedStep {
  readonly action: string;
  /** Empty when nothing short describes the step. */
  readonly title: string;
  readonly decision: string;
  /** The payload as JSON, with its secrets hidden; null when the record does not hold it. */
  readonly payload: string | null;
}

export function stepsOf(value: unknown): readonly RecordedStep[] {
  const steps = fieldsOf(value).steps;
  return Array.isArray(steps) ? steps.map(stepOf) : [];
}

function stepOf(value: unknown): RecordedStep {
  const { action, title, decision, payload = null } = fieldsOf(value);
  return {
    action: String(action ?? ''),
    title: String(title ?? ''),
    decision: String(decision ?? ''),
    payload: payload === null ? null : JSON.stringify(payload),
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
