// The rules for alerts, each with a threshold and a window: those that are shipped, those that admins make,
// and people's changes of them, each recorded. INVARIANT: a shipped rule exists without being stored, so it
// cannot be lost; a change of it is stored under its id, and removing that brings the shipped rule back.

import { randomUUID } from 'node:crypto';
import { nameProblem } from '../../language/value/visible-text.ts';
import type { Directory } from '../people/directory.ts';
import type { Role } from '../people/operations.ts';
import { type Actor, recordName } from '../people/person.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import { allWebhooks } from '../webhooks/webhook.ts';

/**
 * `counted`: what happened within the window, at least as often as the threshold; for `denials` their share
 * of all decisions, in percent. `lasting`: at least as many as the threshold have lasted for as long as the
 * window.
 */
export const alertKinds = {
  denials: 'counted',
  refusals: 'counted',
  unanswered: 'counted',
  step_ups_expired: 'counted',
  policies_stale: 'lasting',
  policy_gaps: 'lasting',
  kill_switch: 'lasting',
  applications: 'lasting',
  webhooks_failing: 'lasting',
  log_faults: 'lasting',
  siem_behind: 'lasting',
  siem_faults: 'lasting',
} as const;
export type AlertKind = keyof typeof alertKinds;
export const alertKindNames = Object.keys(alertKinds) as readonly AlertKind[];

export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly kind: AlertKind;
  readonly isOn: boolean;
  /** The rule is met from this value on; for `denials` in percent. */
  readonly threshold: number;
  readonly windowMinutes: number;
  /** The code of the refusals to count; null counts all refusals, and is the value for all other kinds. */
  readonly code: string | null;
  /** People with one of these roles get mail. */
  readonly mailRoles: readonly Role[];
  /** The webhooks and chat channels that get the alert; null for all that have subscribed to alerts. */
  readonly webhookIds: readonly string[] | null;
  readonly createdAtMs: number;
}

export type AlertRuleDraft = Omit<AlertRule, 'id' | 'createdAtMs'>;

/** A rule with its stored version; 0 for a shipped rule that nobody has changed. */
export type ReadRule = ReadDocument<AlertRule>;

type BuiltinRule = Pick<AlertRule, 'id' | 'name' | 'kind' | 'threshold' | 'windowMinutes'>;

const shipped: readonly BuiltinRule[] = [
  { id: 'denials', name: 'Many denials', kind: 'denials', threshold: 50, windowMinutes: 15 },
  { id: 'refusals', name: 'Many refusals', kind: 'refusals', threshold: 100, windowMinutes: 5 },
  { id: 'unanswered', name: 'Requests unanswered', kind: 'unanswered', threshold: 1, windowMinutes: 60 },
  {
    id: 'step-ups',
    name: 'Step-ups expired',
    kind: 'step_ups_expired',
    threshold: 3,
    windowMinutes: 60,
  },
  {
    id: 'policies',
    name: 'Policies on disk not active',
    kind: 'policies_stale',
    threshold: 1,
    windowMinutes: 1,
  },
  { id: 'gaps', name: 'Policies cannot be satisfied', kind: 'policy_gaps', threshold: 1, windowMinutes: 0 },
  { id: 'switch', name: 'Kill switch on', kind: 'kill_switch', threshold: 1, windowMinutes: 0 },
  {
    id: 'applications',
    name: 'Applications waiting',
    kind: 'applications',
    threshold: 1,
    windowMinutes: 12 * 60,
  },
  { id: 'webhooks', name: 'Webhook failing', kind: 'webhooks_failing', threshold: 1, windowMinutes: 15 },
  { id: 'log', name: 'Transparency log not confirmed', kind: 'log_faults', threshold: 1, windowMinutes: 15 },
  { id: 'siem-behind', name: 'SIEM behind', kind: 'siem_behind', threshold: 1, windowMinutes: 15 },
  { id: 'siem-faults', name: 'SIEM lacks records', kind: 'siem_faults', threshold: 1, windowMinutes: 0 },
];

export const shippedRules: readonly AlertRule[] = shipped.map((rule) => ({
  ...rule,
  isOn: true,
  code: null,
  mailRoles: ['admin', 'operator'],
  webhookIds: null,
  createdAtMs: 0,
}));

const rulesMax = 50;
export const windowMinutesMax = { counted: 60, lasting: 24 * 60 } as const;
export const thresholdMax = 1_000_000;

function rulesOf({ documents }: Directory): Collection<AlertRule> {
  return createCollection<AlertRule>(documents, 'alert-rule', () => ({}));
}

/** Returns all rules in their present state, the shipped ones first. */
export async function allRules(directory: Directory): Promise<readonly ReadRule[]> {
  const stored = await rulesOf(directory).list({ countMax: rulesMax + shipped.length });
  const isShipped = (id: string): boolean => shippedRules.some((rule) => rule.id === id);
  return [
    ...shippedRules.map(
      (value) => stored.find((rule) => rule.value.id === value.id) ?? { value, version: 0 },
    ),
    ...stored.filter(({ value }) => !isShipped(value.id)).toReversed(),
  ];
}

async function findRule(directory: Directory, id: string): Promise<ReadRule | null> {
  return (await allRules(directory)).find(({ value }) => value.id === id) ?? null;
}

/** Problems by field, as sentences in lower case without a final period. */
export interface InvalidRule {
  readonly kind: 'invalid';
  readonly problems: readonly { readonly field: string; readonly detail: string }[];
}

export type RuleWriteResult = { readonly kind: 'stored'; readonly rule: AlertRule } | InvalidRule;

export async function makeRule(
  directory: Directory,
  actor: Actor,
  draft: AlertRuleDraft,
): Promise<RuleWriteResult | { readonly kind: 'conflict' }> {
  const problems = [...(await ruleProblems(directory, draft))];
  if ((await rulesOf(directory).list({ countMax: rulesMax })).length >= rulesMax)
    problems.push({ field: 'name', detail: `remove one of the ${rulesMax} rules first` });
  if (problems.length > 0) return { kind: 'invalid', problems };
  const rule: AlertRule = { ...draft, id: randomUUID(), createdAtMs: Math.trunc(directory.clock()) };
  return await storeRule(directory, actor, { rule, before: null });
}

export async function changeRule(
  directory: Directory,
  actor: Actor,
  { id, ...change }: Partial<Omit<AlertRuleDraft, 'kind'>> & { readonly id: string },
): Promise<RuleWriteResult | { readonly kind: 'unknown' | 'conflict' }> {
  const before = await findRule(directory, id);
  if (before === null) return { kind: 'unknown' };
  const rule: AlertRule = { ...before.value, ...change };
  const problems = await ruleProblems(directory, rule);
  if (problems.length > 0) return { kind: 'invalid', problems };
  return await storeRule(directory, actor, { rule, before });
}

async function storeRule(
  directory: Directory,
  { person }: Actor,
  { rule, before }: { readonly rule: AlertRule; readonly before: ReadRule | null },
): Promise<RuleWriteResult | { readonly kind: 'conflict' }> {
  const put = rulesOf(directory).put(rule, before?.version ?? 0);
  const result = await directory.change([put], {
    who: recordName(person),
    what: before === null ? 'alert-rule-made' : 'alert-rule-changed',
    subject: rule.id,
    before: before === null ? null : ruleInRecords(before.value),
    after: ruleInRecords(rule),
  });
  return result === 'changed' ? { kind: 'stored', rule } : { kind: 'conflict' };
}

/** Removes a rule; a shipped rule becomes as shipped again. */
export async function removeRule(
  directory: Directory,
  { person }: Actor,
  id: string,
): Promise<'removed' | 'unknown' | 'conflict'> {
  const storedAlertRule = await rulesOf(directory).find(id);
  if (storedAlertRule === null) return 'unknown';
  const result = await directory.change(
    [rulesOf(directory).remove(storedAlertRule.value, storedAlertRule.version)],
    {
      who: recordName(person),
      what: 'alert-rule-removed',
      subject: id,
      before: ruleInRecords(storedAlertRule.value),
      after: null,
    },
  );
  return result === 'changed' ? 'removed' : 'conflict';
}

function ruleInRecords({ id: _, createdAtMs: __, mailRoles, webhookIds, ...rule }: AlertRule) {
  return { ...rule, mailRoles: [...mailRoles], webhookIds: webhookIds === null ? null : [...webhookIds] };
}

async function ruleProblems(directory: Directory, rule: AlertRuleDraft): Promise<InvalidRule['problems']> {
  const { kind, name, threshold, windowMinutes, code, webhookIds } = rule;
  const way = alertKinds[kind];
  const [from, to] = [way === 'counted' ? 1 : 0, windowMinutesMax[way]];
  const ofName = nameProblem(name, 100);
  const problems = [
    ...(ofName === null ? [] : [{ field: 'name', detail: `the name ${ofName}` }]),
    ...(kind === 'denials' && threshold > 100
      ? [{ field: 'threshold', detail: 'the share of denials is at most 100 percent' }]
      : []),
    ...(windowMinutes < from || windowMinutes > to
      ? [{ field: 'window_minutes', detail: `the window of this kind has ${from} to ${to} minutes` }]
      : []),
    ...(code !== null && kind !== 'refusals'
      ? [{ field: 'code', detail: 'only rules for refusals have a code' }]
      : []),
  ];
  if (webhookIds === null) return problems;
  const known = new Set((await allWebhooks(directory)).map(({ value }) => value.id));
  const isKnown = webhookIds.every((id) => known.has(id));
  return isKnown ? problems : [...problems, { field: 'webhook_ids', detail: 'there is no such webhook' }];
}
