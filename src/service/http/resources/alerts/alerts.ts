// /v1/alerts and /v1/alert-rules: alerts that are on, alerts that were, and the rules that raise them.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import { type Alert, alertsOf, alertsOn, alertText, pageOfKind } from '../../../alerts/alert.ts';
import {
  type AlertRule,
  type AlertRuleDraft,
  alertKindNames,
  alertKinds,
  allRules,
  changeRule,
  makeRule,
  type ReadRule,
  type RuleWriteResult,
  removeRule,
  shippedRules,
  thresholdMax,
  windowMinutesMax,
} from '../../../alerts/alert-rule.ts';
import { roles } from '../../../people/operations.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

// Turns alerts and their rules into replies, and the body of a call into a rule.

const kindSchema: JsonSchema = {
  type: 'string',
  enum: alertKindNames,
  description: `Counted within the window: ${namesOf('counted')}; for \`denials\`, a percentage of at least 20 decisions. Lasting at least as long as the window: ${namesOf('lasting')}.`,
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
  active: { type: 'boolean' },
  threshold: { type: 'integer', minimum: 1, maximum: thresholdMax },
  window_minutes: {
    type: 'integer',
    minimum: 0,
    maximum: windowMinutesMax.lasting,
    description: `1 to ${windowMinutesMax.counted} for counts, 0 to ${windowMinutesMax.lasting} for lasting conditions.`,
  },
  code: {
    ...textOrNull,
    maxLength: 100,
    description: 'Counts only refusals with this code; null counts all.',
  },
  mail_roles: {
    type: 'array',
    items: { type: 'string', enum: roles },
    maxItems: roles.length,
    description: 'People with one of these roles receive mail.',
  },
  webhook_ids: {
    ...idOrNullList,
    description: 'The webhooks to notify; null for those that subscribe to `alert.began` and `alert.over`.',
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const ruleSchema = objectSchema({
  id: text(100),
  kind: kindSchema,
  ...ruleFields,
  is_built_in: {
    type: 'boolean',
    description: 'Whether the rule is built in. Deleting a built-in rule resets it.',
  },
  is_changed: { type: 'boolean', description: 'Whether a built-in rule has been changed.' },
});

const ruleExample = {
  id: 'denials',
  kind: 'denials',
  name: 'Many denials',
  active: true,
  threshold: 50,
  window_minutes: 15,
  code: null,
  mail_roles: ['admin', 'operator'],
  webhook_ids: null,
  is_built_in: true,
  is_changed: false,
};

const newRuleSchema = objectSchema(
  {
    kind: kindSchema,
    name: ruleFields.name,
    threshold: ruleFields.threshold,
    window_minutes: ruleFields.window_minutes,
  },
  {
    active: ruleFields.active,
    code: ruleFields.code,
    mail_roles: ruleFields.mail_roles,
    webhook_ids: ruleFields.webhook_ids,
  },
);

const ruleChangeSchema = objectSchema({}, ruleFields);

/** The fields of a rule in a body; a field that is absent stays as it is. */
export interface RuleBody {
  readonly kind?: AlertRule['kind'];
  readonly name?: string;
  readonly active?: boolean;
  readonly threshold?: number;
  readonly window_minutes?: number;
  readonly code?: string | null;
  readonly mail_roles?: AlertRule['mailRoles'];
  readonly webhook_ids?: AlertRule['webhookIds'];
}

function readRule(body: RuleBody): Partial<AlertRuleDraft> {
  const { kind, name, active: isOn, threshold, window_minutes: windowMinutes } = body;
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

function shownRule({ value: rule, version }: ReadRule) {
  const { id, kind, name, isOn, threshold, windowMinutes, code, mailRoles, webhookIds } = rule;
  const isShipped = shippedRules.some((one) => one.id === id);
  return {
    id,
    kind,
    name,
    active: isOn,
    threshold,
    window_minutes: windowMinutes,
    code,
    mail_roles: [...mailRoles],
    webhook_ids: webhookIds === null ? null : [...webhookIds],
    is_built_in: isShipped,
    is_changed: isShipped && version > 0,
  };
}

const alertSchema = objectSchema({
  id: text(100),
  rule_id: text(100),
  name: text(200),
  kind: kindSchema,
  text: { ...text(1_000), description: 'A description in one sentence.' },
  value: { ...count, description: 'The value at the start of the alert, in the unit of the threshold.' },
  threshold: count,
  window_minutes: count,
  started_at: time,
  ended_at: { ...timeOrNull, description: 'Null while the alert is active.' },
  page: { ...text(200), description: 'The dashboard page with details.' },
});

const alertExample = {
  id: 'a1e47000-0000-4000-8000-000000000000',
  rule_id: 'denials',
  name: 'Many denials',
  kind: 'denials',
  text: '62 % of the decisions within 15 minutes were denials (50 % is the threshold).',
  value: 62,
  threshold: 50,
  window_minutes: 15,
  started_at: '2026-03-02T10:00:00.000Z',
  ended_at: null,
  page: '/requests?decision=DENY',
};

function alertView(alert: Alert) {
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
    started_at: isoTime(createdAtMs),
    ended_at: isoTimeOrNull(overAtMs),
    page: pageOfKind[kind],
  };
}

interface AlertDeps {
  readonly signInDeps: SignInDeps;
}

const ruleId = idParameter('The id in the list.', ruleExample.id);
const ruleReply = { description: 'The rule', schema: ruleSchema, example: ruleExample };

const listAlerts = route<AlertDeps>({
  method: 'GET',
  url: '/v1/alerts',
  access: 'alerts.view',
  operation: {
    id: 'listAlerts',
    summary: 'Active and past alerts, newest first; kept for 90 days',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of alerts', alertSchema, alertExample) },
  },
  handle: async ({ signInDeps: { directory } }, { query }) => {
    const { countMax, after } = readPage(query);
    return pageOf(await alertsOf(directory).list({ countMax: countMax + 1, after }), countMax, alertView);
  },
});

const listActiveAlerts = route<AlertDeps>({
  method: 'GET',
  url: '/v1/alerts/active',
  access: 'alerts.view',
  operation: {
    id: 'listActiveAlerts',
    summary: 'Active alerts, newest first',
    replies: { 200: listReply('The alerts', alertSchema, alertExample) },
  },
  handle: async ({ signInDeps: { directory } }) => ({
    items: (await alertsOn(directory)).map(({ value }) => alertView(value)),
  }),
});

const listAlertRules = route<AlertDeps>({
  method: 'GET',
  url: '/v1/alert-rules',
  access: 'alerts.view',
  operation: {
    id: 'listAlertRules',
    summary: 'Alert rules: the built-in rules, then custom rules',
    replies: { 200: listReply('The rules', ruleSchema, ruleExample) },
  },
  handle: async ({ signInDeps: { directory } }) => ({
    items: (await allRules(directory)).map(shownRule),
  }),
});

const createAlertRule = route<AlertDeps, RuleBody>({
  method: 'POST',
  url: '/v1/alert-rules',
  access: 'alerts.change',
  operation: {
    id: 'createAlertRule',
    summary: 'Creates an alert rule',
    body: {
      description:
        'The measure, the threshold and the recipients. Without recipients, admins and operators receive mail.',
      schema: newRuleSchema,
      examples: {
        open: {
          name: 'An agent is full',
          kind: 'refusals',
          code: 'too_many_open_requests',
          threshold: 1,
          window_minutes: 10,
        },
      },
    },
    replies: { 201: ruleReply },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const { kind = 'denials', name = '', threshold = 1, window_minutes: windowMinutes = 1 } = call.body;
    const draft = {
      isOn: true,
      code: null,
      mailRoles: ['admin', 'operator'] as const,
      webhookIds: null,
      kind,
      name,
      threshold,
      windowMinutes,
      ...readRule(call.body),
    };
    const result = stored(await makeRule(directory, actorOf(call), draft));
    call.reply.code(201);
    return result;
  },
});

const updateAlertRule = route<AlertDeps, Omit<RuleBody, 'kind'>>({
  method: 'PATCH',
  url: '/v1/alert-rules/:id',
  access: 'alerts.change',
  operation: {
    id: 'updateAlertRule',
    summary: 'Changes an alert rule, built-in or custom',
    parameters: [ruleId],
    body: {
      description: 'Missing fields stay unchanged.',
      schema: ruleChangeSchema,
      examples: { off: { active: false } },
    },
    replies: { 200: ruleReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const change = { ...readRule(call.body), id: call.params.id ?? '' };
    return stored(await changeRule(directory, actorOf(call), change));
  },
});

const deleteAlertRule = route<AlertDeps>({
  method: 'DELETE',
  url: '/v1/alert-rules/:id',
  access: 'alerts.change',
  operation: {
    id: 'deleteAlertRule',
    summary: 'Deletes an alert rule; resets a built-in rule to its defaults',
    parameters: [ruleId],
    replies: { 204: noContent('Removed') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await removeRule(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('custom alert rule');
    if (result === 'conflict') throw conflict();
  },
});

export const alertRoutes: readonly Route<AlertDeps>[] = [
  listAlerts,
  listActiveAlerts,
  listAlertRules,
  createAlertRule,
  updateAlertRule,
  deleteAlertRule,
];

function stored(result: RuleWriteResult | { readonly kind: 'unknown' | 'conflict' }) {
  switch (result.kind) {
    case 'stored':
      return shownRule({ value: result.rule, version: 1 });
    case 'invalid':
      throw invalidBody(result);
    case 'unknown':
      throw notFound('alert rule');
    case 'conflict':
      throw conflict();
  }
}
