// The groups whose approval the active policies ask for, and the people who can give it.

import { approversFor } from '../../language/model/approvers.ts';
import type { ApprovalRule, RuleRequirement } from '../../language/model/rule-requirement.ts';
import { controlOwnerGroup } from '../store/contract/control-owner-group.ts';
import type { Directory } from './directory.ts';
import { grantScopeOf } from './operations.ts';
import type { Person } from './person.ts';

interface ApprovalGroups {
  /** The group, or several of which any may approve. */
  readonly groups: readonly string[];
  /** The most people that one rule needs. */
  readonly needs: number;
  /** The ids of the rules that ask the groups. */
  readonly rules: readonly string[];
  /** The active people who can approve for one of the groups. */
  readonly members: readonly Person[];
}

/** More people than an installation has. */
export const peopleMax = 10_000;

/**
 * The groups in the order in which the rules ask them. Left out are the control owner of an agent, who is no
 * group, and choices in which data may name somebody else.
 */
export async function approvalGroups(
  { people }: Pick<Directory, 'people'>,
  asks: Iterable<RuleRequirement>,
): Promise<readonly ApprovalGroups[]> {
  const needed = new Map<string, Omit<ApprovalGroups, 'members'>>();
  for (const rule of asks) {
    if (rule.kind !== 'approval') continue;
    for (const text of rule.groups) {
      const groups = groupsAlone(rule, text);
      if (groups === null) continue;
      const { needs, rules } = needed.get(text) ?? { needs: 0, rules: [] };
      needed.set(text, { groups, needs: Math.max(needs, rule.needs), rules: [...rules, rule.rule] });
    }
  }
  if (needed.size === 0) return [];
  const approvers: Person[] = [];
  for (const { value: person } of await people.list({ countMax: peopleMax }))
    if (person.status === 'active' && grantScopeOf(person.roles, 'requests.approve').asked)
      approvers.push(person);
  return [...needed.values()].map((one) => ({
    ...one,
    members: approvers.filter((person) => person.groups.some((group) => one.groups.includes(group))),
  }));
}

/** The groups of a requirement; null when somebody else may give it. */
function groupsAlone(rule: ApprovalRule, text: string): readonly string[] | null {
  const approvers = approversFor(rule, text);
  const groups = approvers.flatMap((one) => (one.kind === 'group' ? [one.group] : []));
  return groups.length < approvers.length || groups.includes(controlOwnerGroup) ? null : groups;
}
