// Alerts as stored: an alert is stored from when its rule is met until it is over, and for a while longer.
// INVARIANT: a rule has at most one alert that is on, whichever processes judge the rule: the stored name of
// an alert that is on is its rule's id, and names are unique.

import type { Directory } from '../people/directory.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { AlertKind, AlertRule } from './alert-rule.ts';

export interface Alert {
  readonly id: string;
  readonly ruleId: string;
  /** `name` to `webhookIds` are those of the rule when the alert began. */
  readonly name: string;
  readonly kind: AlertKind;
  readonly threshold: number;
  readonly windowMinutes: number;
  readonly code: string | null;
  readonly mailRoles: AlertRule['mailRoles'];
  readonly webhookIds: AlertRule['webhookIds'];
  /** What was measured when the alert began, in the unit of the threshold. */
  readonly value: number;
  /** When the alert began. */
  readonly createdAtMs: number;
  /** When any process last found the rule met. */
  readonly metAtMs: number;
  /** When the alert ended; null while it is on. */
  readonly overAtMs: number | null;
  /** When the alert may be deleted; null while the alert is on. */
  readonly endsAtMs: number | null;
}

const onParent = 'on';
/** More than there can be rules. */
const onMax = 200;

export function alertsOf({ documents }: Directory): Collection<Alert> {
  return createCollection<Alert>(documents, 'alert', ({ ruleId, overAtMs, endsAtMs }) =>
    overAtMs === null || endsAtMs === null
      ? { name: ruleId, parent: onParent }
      : { parent: 'over', endsAtMs },
  );
}

export async function alertsOn(directory: Directory): Promise<readonly ReadDocument<Alert>[]> {
  return await alertsOf(directory).list({ parent: onParent, countMax: onMax });
}

/** Returns one sentence that tells what has happened. */
export function alertText({ kind, value, threshold, windowMinutes, code }: Alert): string {
  const within = `within ${minutesText(windowMinutes)}`;
  const lasts = windowMinutes === 0 ? '' : ` for ${minutesText(windowMinutes)} or longer`;
  switch (kind) {
    case 'denials':
      return `${value} % of the decisions ${within} were denials (${threshold} % is the threshold).`;
    case 'refusals':
      return `${counted(value, 'request')} ${value === 1 ? 'was' : 'were'} refused${code === null ? '' : ` with ${code}`} ${within} (${threshold} is the threshold).`;
    case 'unanswered':
      return `${counted(value, 'request')} expired unanswered ${within}.`;
    case 'step_ups_expired':
      return `${counted(value, 'step-up')} expired ${within}.`;
    case 'policies_stale':
      return `The policies on disk have not been active${lasts}: they failed to load, and the last valid set is used.`;
    case 'policy_gaps':
      return `${counted(value, 'condition')} of the policies cannot be satisfied in this installation${lasts}: the Policies page lists what is missing.`;
    case 'kill_switch':
      return `${counted(value, 'kill switch', 'es')} ${value === 1 ? 'is' : 'are'} on${lasts}.`;
    case 'applications':
      return `${counted(value, 'application')} for access ${value === 1 ? 'has' : 'have'} waited${lasts}.`;
    case 'log_faults':
      return `The transparency log is not confirmed${lasts}, or contradicts what was signed before: the messages of the service say why.`;
    case 'webhooks_failing':
      return `${counted(value, 'webhook')} ${value === 1 ? 'has' : 'have'} failed${lasts}.`;
    case 'siem_behind':
      return `Records have not been sent to the SIEM${lasts}.`;
    case 'siem_faults':
      return `${counted(value, 'fault')} of the stream to the SIEM${lasts}: it refuses a record, or records were deleted or skipped before they were sent.`;
  }
}

function counted(count: number, word: string, plural = 's'): string {
  return `${count} ${word}${count === 1 ? '' : plural}`;
}

function minutesText(minutes: number): string {
  if (minutes === 0 || minutes % 60 !== 0) return counted(minutes, 'minute');
  return counted(minutes / 60, 'hour');
}

/** The dashboard page that shows what an alert of the kind is about. */
export const pageOfKind = {
  denials: '/requests?decision=DENY',
  refusals: '/overview',
  unanswered: '/requests?status=expired',
  step_ups_expired: '/requests?decision=REAUTH_REQUIRED',
  policies_stale: '/policies',
  policy_gaps: '/policies',
  kill_switch: '/alerts',
  applications: '/access?tab=applications',
  webhooks_failing: '/alerts?tab=webhooks',
  log_faults: '/audit',
  siem_behind: '/audit',
  siem_faults: '/audit',
} as const satisfies Readonly<Record<AlertKind, string>>;
