// Turns alerts and their rules into replies, and the body of a call into a rule.

import { type Alert, alertText, pageOfKind } from '../../../alerts/alert.ts';
import {
  type AlertRule,
  type AlertRuleDraft,
  alertKindNames,
  alertKinds,
  type ReadRule,
  shippedRules,
  thresholdMax,
  windowMinutesMax,
} from '../../../alerts/alert-rule.ts';
import { roles } from '../../../people/operations.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import {
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
  timeText,
  timeTextOrNull,
} from '../../contract/schemas.ts';

const kindSchema: JsonSchema = {
  type: 'string',
  enum: alertKindNames,
  description: `Counted within the window: ${namesOf('counted')}, of \`denials\` the share in percent, of 20 decisions or more. Standing for as long as the window: ${namesOf('lasting')}.`,
};

function namesOf(way: (typeof alertKinds)[keyof typeof alertKinds]): string {
  return alertKindNames
    .filter((kind) => alertKinds[kind] === way)
    .map((kind) => `\`${kind}\``)
    .join(', ');
}

const idOrNullList: JsonSchema = { type: ['array', 'null'], items: text(100), maxItems: 50 };
const count: JsonSchema = { type: 'integer', minimum: 0 };

const ruleFields = {
  name: text(200),
  is_on: { type: 'boolean' },
  threshold: { type: 'integer', minimum: 1, maximum: thresholdMax },
  window_minutes: {
    type: 'integer',
    minimum: 0,
    maximum: windowMinutesMax.lasting,
    description: `1 to ${windowMinutesMax.counted} for what is counted, 0 to ${windowMinutesMax.lasting} for what stands.`,
  },
  code: { ...textOrNull, maxLength: 100, description: 'The refusals of this code alone; null counts all.' },
  mail_roles: {
    type: 'array',
    items: { type: 'string', enum: roles },
    maxItems: roles.length,
    description: 'Who has one of these gets mail.',
  },
  webhook_ids: {
    ...idOrNullList,
    description:
      'The webhooks that are told; null tells those that want to hear of `alert.began` and `alert.over`.',
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

export const ruleSchema = objectSchema({
  id: text(100),
  kind: kindSchema,
  ...ruleFields,
  is_shipped: { type: 'boolean', description: 'It comes with the service, and removing it brings it back.' },
  is_changed: { type: 'boolean', description: 'Of a shipped one: somebody has changed it.' },
});

export const ruleExample = {
  id: 'denials',
  kind: 'denials',
  name: 'Many denials',
  is_on: true,
  threshold: 50,
  window_minutes: 15,
  code: null,
  mail_roles: ['admin', 'operator'],
  webhook_ids: null,
  is_shipped: true,
  is_changed: false,
};

export const newRuleSchema = objectSchema(
  {
    kind: kindSchema,
    name: ruleFields.name,
    threshold: ruleFields.threshold,
    window_minutes: ruleFields.window_minutes,
  },
  {
    is_on: ruleFields.is_on,
    code: ruleFields.code,
    mail_roles: ruleFields.mail_roles,
    webhook_ids: ruleFields.webhook_ids,
  },
);

export const ruleChangeSchema = objectSchema({}, ruleFields);

/** The fields of a rule in a body; a field that is absent stays as it is. */
export interface RuleBody {
  readonly kind?: AlertRule['kind'];
  readonly name?: string;
  readonly is_on?: boolean;
  readonly threshold?: number;
  readonly window_minutes?: number;
  readonly code?: string | null;
  readonly mail_roles?: AlertRule['mailRoles'];
  readonly webhook_ids?: AlertRule['webhookIds'];
}

export function readRule(body: RuleBody): Partial<AlertRuleDraft> {
  const { kind, name, is_on: isOn, threshold, window_minutes: windowMinutes } = body;
  const { code, mail_roles: mailRoles, webhook_ids: webhookIds } = body;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(isOn === undefined ? {} : { isOn }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(windowMinutes === undefined ? {} : { windowMinutes }),
    ...(code === undefined ? {} : { code }),
    ...(mailRoles === undefined ? {} : { mailRoles }),
    ...(webhookIds === undefined ? {} : { webhookIds }),
  };
}

export function shownRule({ value: rule, version }: ReadRule) {
  const { id, kind, name, isOn, threshold, windowMinutes, code, mailRoles, webhookIds } = rule;
  const isShipped = shippedRules.some((one) => one.id === id);
  return {
    id,
    kind,
    name,
    is_on: isOn,
    threshold,
    window_minutes: windowMinutes,
    code,
    mail_roles: [...mailRoles],
    webhook_ids: webhookIds === null ? null : [...webhookIds],
    is_shipped: isShipped,
    is_changed: isShipped && version > 0,
  };
}

export const alertSchema = objectSchema({
  id: text(100),
  rule_id: text(100),
  name: text(200),
  kind: kindSchema,
  text: { ...text(1_000), description: 'What has happened, in one sentence.' },
  value: { ...count, description: 'What was measured when it began, in the unit of the threshold.' },
  threshold: count,
  window_minutes: count,
  began_at: time,
  over_at: { ...timeOrNull, description: 'Null while it is on.' },
  page: { ...text(200), description: 'Of the dashboard: where to look.' },
});

export const alertExample = {
  id: 'a1e47000-0000-4000-8000-000000000000',
  rule_id: 'denials',
  name: 'Many denials',
  kind: 'denials',
  text: '62 % of the decisions within 15 minutes were denials (50 % is the threshold).',
  value: 62,
  threshold: 50,
  window_minutes: 15,
  began_at: '2026-03-02T10:00:00.000Z',
  over_at: null,
  page: '/requests?decision=DENY',
};

export function shownAlert(alert: Alert) {
  const { id, ruleId, name, kind, value, threshold, windowMinutes, createdAtMs, overAtMs } = alert;
  return {
    id,
    rule_id: ruleId,
    name,
    kind,
    text: alertText(alert),
    value,
    threshold,
    window_minutes: windowMinutes,
    began_at: timeText(createdAtMs),
    over_at: timeTextOrNull(overAtMs),
    page: pageOfKind[kind],
  };
}
