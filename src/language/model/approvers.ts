// Whom a requirement asks: the approvers behind each of its groups, as written.

import type { ApprovalRequirement } from './decision.ts';
import type { Approver, Choice, Requirement } from './policy.ts';

type Approval<Value> = Pick<Extract<Requirement<Value>, { readonly kind: 'approval' }>, 'groups' | 'choices'>;

export function approverText<Value>(approver: Approver<Value>): string {
  return approver.kind === 'group' ? approver.group : approver.text;
}

/** Returns the approvers of whom any may answer for an entry of `groups`. */
export function approversFor<Value>(
  { choices = [] }: Approval<Value>,
  group: string,
): readonly Approver<Value>[] {
  return choices.find(({ text }) => text === group)?.anyOf ?? [{ kind: 'group', group }];
}

/** As `approversFor`, as texts. */
export function approverTexts<Value>(requirement: Approval<Value>, group: string): readonly string[] {
  return approversFor(requirement, group).map(approverText);
}

/** Whether a requirement asks only these approvers for one of its groups. */
export function asksOnly<Value>(requirement: Approval<Value>, approvers: readonly string[]): boolean {
  return requirement.groups.some((group) =>
    approverTexts(requirement, group).every((one) => approvers.includes(one)),
  );
}

/** Returns every group that may be asked: by name, in a choice, or by what an expression may name. */
export function groupsOf<Value>(requirement: Approval<Value>): readonly string[] {
  const approvers: readonly Approver<Value>[] = requirement.groups.flatMap((group) =>
    approversFor(requirement, group),
  );
  return [...new Set(approvers.flatMap((one) => (one.kind === 'group' ? [one.group] : (one.groups ?? []))))];
}

/** Returns the choices with their expressions in another form. */
export function mapChoices<From, To>(
  choices: readonly Choice<From>[],
  map: (value: From) => To,
): readonly Choice<To>[] {
  return choices.map(({ text, anyOf }) => ({
    text,
    anyOf: anyOf.map((one) => {
      if (one.kind === 'group') return one;
      const missing = one.missing.map((part) => (typeof part === 'string' ? part : map(part)));
      return { ...one, value: map(one.value), missing };
    }),
  }));
}

/** Returns the expressions that name approvers. */
export function namingValues<Value>(requirement: Requirement<Value> | null): readonly Value[] {
  if (requirement?.kind !== 'approval') return [];
  const approvers = requirement.choices?.flatMap(({ anyOf }) => anyOf) ?? [];
  return approvers.flatMap((one) => (one.kind === 'named' ? [one.value] : []));
}

type ApproverGroups = Pick<ApprovalRequirement, 'group' | 'anyOf'>;

/** Who may answer, such as `cfo or ann@example.com`; an approver who is not known is left out. */
export function whomText(
  { group, anyOf = [{ group }] }: ApproverGroups,
  groupLabel: (group: string) => string = (name) => name,
): string {
  const people = anyOf.flatMap((one) =>
    'unknown' in one ? [] : ['person' in one ? one.person : groupLabel(one.group)],
  );
  return people.length === 0 ? 'somebody who is not known' : [...new Set(people)].join(' or ');
}

/** Why approvers are not known, each once. */
export function unknownApprovers(approvals: readonly ApproverGroups[]): readonly string[] {
  const reasons = approvals.flatMap(({ anyOf = [] }) =>
    anyOf.flatMap((one) => ('unknown' in one ? [one.unknown] : [])),
  );
  return [...new Set(reasons)];
}

/** Whether one of the approvals can be given by nobody, because no approver is known. */
export function isUnanswerable(approvals: readonly ApproverGroups[]): boolean {
  return approvals.some(({ anyOf }) => anyOf?.every((one) => 'unknown' in one) === true);
}
