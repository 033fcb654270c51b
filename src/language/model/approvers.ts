// Whom a requirement asks: the approvers behind each of its groups, as written.

import { fromNumber } from '../value/decimal.ts';
import { formatDuration } from '../value/time.ts';
import type { ApprovalRequirement, ResolvedApprover } from './decision.ts';
import type { Approver, Approvers, ChatLimit, Choice, Requirement } from './policy.ts';

type Approval<Value> = Pick<Extract<Requirement<Value>, { readonly kind: 'approval' }>, 'groups' | 'choices'>;

export function approverText<Value>(approver: Approver<Value>): string {
  return approver.kind === 'group' ? approver.group : approver.text;
}

/** Returns the approvers of whom any may answer for an entry of `groups`, fallbacks included. */
export function approversFor<Value>(
  { choices = [] }: Approval<Value>,
  group: string,
): readonly Approver<Value>[] {
  const choice = choices.find(({ text }) => text === group);
  return choice === undefined ? [{ kind: 'group', group }] : approversOf(choice);
}

/** Returns everybody who may answer for a choice at some time. */
export function approversOf<Value>({ anyOf, fallbacks = [] }: Choice<Value>): readonly Approver<Value>[] {
  return [...anyOf, ...fallbacks.flatMap((fallback) => fallback.anyOf)];
}

/** An approver as text, and how long a request has been pending when that approver may answer. */
export interface TimedApprover {
  readonly text: string;
  readonly afterSeconds: number;
}

/** As `approversFor`, with the times. */
export function timedApprovers<Value>(
  { choices = [] }: Approval<Value>,
  group: string,
): readonly TimedApprover[] {
  const choice = choices.find(({ text }) => text === group);
  if (choice === undefined) return [{ text: group, afterSeconds: 0 }];
  return [{ afterSeconds: 0, anyOf: choice.anyOf }, ...(choice.fallbacks ?? [])].flatMap(
    ({ afterSeconds, anyOf }) => anyOf.map((one) => ({ text: approverText(one), afterSeconds })),
  );
}

/** Whether a requirement asks only these approvers for one of its groups, and none sooner than here. */
export function asksOnly<Value>(requirement: Approval<Value>, approvers: readonly TimedApprover[]): boolean {
  return requirement.groups.some((group) => areAmong(timedApprovers(requirement, group), approvers));
}

/** Whether each approver is one of the others, and may answer no sooner than there. */
export function areAmong(approvers: readonly TimedApprover[], others: readonly TimedApprover[]): boolean {
  return approvers.every(({ text, afterSeconds }) =>
    others.some((other) => other.text === text && other.afterSeconds <= afterSeconds),
  );
}

/** Returns every group that may be asked: by name, in a choice, or by what an expression may name. */
export function groupsOf<Value>(requirement: Approval<Value>): readonly string[] {
  const approvers: readonly Approver<Value>[] = requirement.groups.flatMap((group) =>
    approversFor(requirement, group),
  );
  return [...new Set(approvers.flatMap((one) => (one.kind === 'group' ? [one.group] : (one.groups ?? []))))];
}

/** By group, up to which risk it may decide by chat; groups that never may are absent. */
export type ChatLimits = ReadonlyMap<string, ChatLimit>;

export function chatLimitsOf(groups: Iterable<Approvers>): ChatLimits {
  return new Map([...groups].flatMap(({ name, chat }) => (chat === null ? [] : [[name, chat] as const])));
}

/**
 * Up to which risk a requirement can be decided by chat: the lowest limit of everybody who may answer; null when one
 * of them never decides by chat, such as a person whom data name.
 */
export function chatLimitOf<Value>(requirement: Approval<Value>, limits: ChatLimits): ChatLimit | null {
  const approvers = requirement.groups.flatMap((group) => approversFor(requirement, group));
  const groups = approvers.flatMap((one) => (one.kind === 'group' ? [one.group] : (one.groups ?? [noGroup])));
  const each = groups.map((group) => limits.get(group)?.maxRisk);
  return each.every((limit) => limit !== undefined) && each.length > 0
    ? { maxRisk: Math.min(...each) }
    : null;
}

/** In the place of a person whom data name, who has no limit. */
const noGroup = '';

/** Returns the choices with their expressions in another form. */
export function mapChoices<From, To>(
  choices: readonly Choice<From>[],
  map: (value: From) => To,
): readonly Choice<To>[] {
  const mapOne = (one: Approver<From>): Approver<To> => {
    if (one.kind === 'group') return one;
    const missing = one.missing.map((part) => (typeof part === 'string' ? part : map(part)));
    return { ...one, value: map(one.value), missing };
  };
  return choices.map(({ text, anyOf, fallbacks }) => ({
    text,
    anyOf: anyOf.map(mapOne),
    ...(fallbacks && {
      fallbacks: fallbacks.map((fallback) => ({ ...fallback, anyOf: fallback.anyOf.map(mapOne) })),
    }),
  }));
}

/** Returns the expressions that name approvers. */
export function namingValues<Value>(requirement: Requirement<Value> | null): readonly Value[] {
  if (requirement?.kind !== 'approval') return [];
  const approvers = requirement.choices?.flatMap(approversOf) ?? [];
  return approvers.flatMap((one) => (one.kind === 'named' ? [one.value] : []));
}

type ApproverGroups = Pick<ApprovalRequirement, 'group' | 'anyOf' | 'fallbacks'>;

/**
 * Who may answer, such as `cfo or ann@example.com`, and `finance (after 2h also security)`; an approver who is not
 * known is left out.
 */
export function whomText(
  { group, anyOf = [{ group }], fallbacks = [] }: ApproverGroups,
  groupLabel: (group: string) => string = (name) => name,
): string {
  const textOf = (approvers: readonly ResolvedApprover[]): string => {
    const people = approvers.flatMap((one) =>
      'unknown' in one ? [] : ['person' in one ? one.person : groupLabel(one.group)],
    );
    return people.length === 0 ? 'somebody who is not known' : [...new Set(people)].join(' or ');
  };
  const later = fallbacks.map((one) => laterText(one.afterSeconds, textOf(one.anyOf)));
  return `${textOf(anyOf)}${later.length === 0 ? '' : ` (${later.join(', ')})`}`;
}

/** When a fallback is asked, such as `after 2h also security`. */
export function laterText(afterSeconds: number, whom: string): string {
  return `after ${formatDuration(fromNumber(afterSeconds))} also ${whom}`;
}

/** Everybody who may answer now or later. */
export function allApprovers({
  group,
  anyOf = [{ group }],
  fallbacks = [],
}: ApproverGroups): readonly ResolvedApprover[] {
  return [...anyOf, ...fallbacks.flatMap((fallback) => fallback.anyOf)];
}

/** Why approvers are not known, each once. */
export function unknownApprovers(approvals: readonly ApproverGroups[]): readonly string[] {
  const reasons = approvals.flatMap((approval) =>
    allApprovers(approval).flatMap((one) => ('unknown' in one ? [one.unknown] : [])),
  );
  return [...new Set(reasons)];
}

/** Whether one of the approvals can be given by nobody, because no approver is known. */
export function isUnanswerable(approvals: readonly ApproverGroups[]): boolean {
  return approvals.some((approval) => allApprovers(approval).every((one) => 'unknown' in one));
}
