// Describes alert rules in words.

import type { Reply } from '../../../api/operations.ts';

export type Rule = Reply<'listAlertRules'>['items'][number];
export type Kind = Rule['kind'];

interface KindTexts {
  readonly name: string;
  /** What the rule counts within a time, or what has to last for a time. */
  readonly condition: string;
  readonly isCounted: boolean;
}

export const kinds: Readonly<Record<Kind, KindTexts>> = {
  denials: { name: 'Share of denials', condition: 'of the decisions are denials', isCounted: true },
  refusals: { name: 'Refusals', condition: 'requests are refused', isCounted: true },
  unanswered: { name: 'Requests unanswered', condition: 'requests expire unanswered', isCounted: true },
  step_ups_expired: { name: 'Step-ups expired', condition: 'step-ups expire', isCounted: true },
  policies_stale: {
    name: 'Policies on disk not active',
    condition: 'the files in the policy directory failed to load',
    isCounted: false,
  },
  policy_gaps: {
    name: 'Policies cannot be satisfied',
    condition: 'conditions need what is missing, such as members of a group',
    isCounted: false,
  },
  kill_switch: { name: 'Kill switch on', condition: 'kill switches are on', isCounted: false },
  applications: {
    name: 'Applications waiting',
    condition: 'applications for access are open',
    isCounted: false,
  },
  webhooks_failing: { name: 'Webhook failing', condition: 'webhooks fail', isCounted: false },
  log_faults: {
    name: 'Transparency log not confirmed',
    condition: 'faults of the transparency log or of its witnesses',
    isCounted: false,
  },
  siem_behind: { name: 'SIEM behind', condition: 'records are not sent to the SIEM', isCounted: false },
  siem_faults: {
    name: 'SIEM lacks records',
    condition: 'records refused, deleted or skipped before they were sent to the SIEM',
    isCounted: false,
  },
};

export function ruleChangeText({ kind, threshold, window_minutes: minutes, code }: Rule): string {
  const { condition: what, isCounted } = kinds[kind];
  const unit = kind === 'denials' ? ' %' : '';
  const which =
    kind === 'policies_stale' || kind === 'siem_behind'
      ? what
      : `${threshold.toLocaleString()}${unit} or more ${what}`;
  const coded = code === null ? which : `${which} with ${code}`;
  if (isCounted) return `${coded} within ${minutesText(minutes)}`;
  return minutes === 0 ? coded : `${coded} for ${minutesText(minutes)}`;
}

/** Who is notified; without a mail server, nobody is by mail. */
export function recipientsText(
  { mail_roles: roles, webhook_ids: webhooks }: Rule,
  sendsMail: boolean,
): string {
  const mail = roles.length === 0 || !sendsMail ? [] : [`mail to ${roles.join(', ')}`];
  const channels =
    webhooks === null ? 'subscribed webhooks and chats' : `${webhooks.length} of the webhooks and chats`;
  return [...mail, ...(webhooks?.length === 0 ? [] : [channels])].join('; ') || 'nobody';
}

function minutesText(minutes: number): string {
  const [count, word] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute'];
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
