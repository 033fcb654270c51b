// /v1/alerts and /v1/alert-rules: alerts that are on, alerts that were, and the rules that raise them.

import { alertsOf, alertsOn } from '../../../alerts/alert.ts';
import { allRules, changeRule, makeRule, type RuleStored, removeRule } from '../../../alerts/alert-rule.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { idParameter, listReply, noContent } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import {
  alertExample,
  alertSchema,
  newRuleSchema,
  type RuleBody,
  readRule,
  ruleChangeSchema,
  ruleExample,
  ruleSchema,
  shownAlert,
  shownRule,
} from './alert-view.ts';

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
    summary: 'Alerts, those that are on and those that were, the latest first; kept for 90 days',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of alerts', alertSchema, alertExample) },
  },
  handle: async ({ signInDeps: { directory } }, { query }) => {
    const { countMax, after } = readPage(query);
    return pageOf(await alertsOf(directory).list({ countMax: countMax + 1, after }), countMax, shownAlert);
  },
});

const listAlertsOn = route<AlertDeps>({
  method: 'GET',
  url: '/v1/alerts/on',
  access: 'alerts.view',
  operation: {
    id: 'listAlertsOn',
    summary: 'The alerts that are on, the latest first',
    replies: { 200: listReply('The alerts', alertSchema, alertExample) },
  },
  handle: async ({ signInDeps: { directory } }) => ({
    items: (await alertsOn(directory)).map(({ value }) => shownAlert(value)),
  }),
});

const listAlertRules = route<AlertDeps>({
  method: 'GET',
  url: '/v1/alert-rules',
  access: 'alerts.view',
  operation: {
    id: 'listAlertRules',
    summary: 'The rules of alerts: those that are shipped, and then one’s own',
    replies: { 200: listReply('The rules', ruleSchema, ruleExample) },
  },
  handle: async ({ signInDeps: { directory } }) => ({
    items: (await allRules(directory)).map(shownRule),
  }),
});

const makeAlertRule = route<AlertDeps, RuleBody>({
  method: 'POST',
  url: '/v1/alert-rules',
  access: 'alerts.change',
  operation: {
    id: 'makeAlertRule',
    summary: 'Adds a rule of alerts',
    body: {
      description:
        'What is measured, from when on it is too much, and who is told; admins and operators by mail where nobody is named.',
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

const changeAlertRule = route<AlertDeps, Omit<RuleBody, 'kind'>>({
  method: 'PATCH',
  url: '/v1/alert-rules/:id',
  access: 'alerts.change',
  operation: {
    id: 'changeAlertRule',
    summary: 'Changes a rule of alerts, a shipped one too',
    parameters: [ruleId],
    body: {
      description: 'What is not there stays as it is.',
      schema: ruleChangeSchema,
      examples: { off: { is_on: false } },
    },
    replies: { 200: ruleReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const change = { ...readRule(call.body), id: call.params.id ?? '' };
    return stored(await changeRule(directory, actorOf(call), change));
  },
});

const removeAlertRule = route<AlertDeps>({
  method: 'DELETE',
  url: '/v1/alert-rules/:id',
  access: 'alerts.change',
  operation: {
    id: 'removeAlertRule',
    summary: 'Removes a rule of alerts; of a shipped one what was changed of it',
    parameters: [ruleId],
    replies: { 204: noContent('Removed') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await removeRule(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('rule of yours');
    if (result === 'conflict') throw conflict();
  },
});

export const alertRoutes: readonly Route<AlertDeps>[] = [
  listAlerts,
  listAlertsOn,
  listAlertRules,
  makeAlertRule,
  changeAlertRule,
  removeAlertRule,
];

function stored(result: RuleStored | { readonly kind: 'unknown' | 'conflict' }) {
  switch (result.kind) {
    case 'stored':
      return shownRule({ value: result.rule, version: 1 });
    case 'invalid':
      throw invalidBody(result);
    case 'unknown':
      throw notFound('rule');
    case 'conflict':
      throw conflict();
  }
}
