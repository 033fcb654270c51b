// Warns a person who assigns a group that no enforced rule asks: most likely the name is mistyped. The group
// is assigned all the same, because policies may come later.

import { groupsOf } from '../../../../language/model/approvers.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { text } from '../../contract/schemas.ts';

/** How many groups a warning names; more would not help to find the typing error. */
const namedMax = 8;

export const warningsSchema: JsonSchema = { type: 'array', items: text(2_000) };

/** One line for each group that no enforced rule asks, in the order of `groups`. */
export function groupWarnings(
  groups: readonly string[],
  policies: Pick<PolicyHost, 'current'>,
): readonly string[] {
  if (groups.length === 0) return [];
  const rules = approvalGroups(policies);
  return groups
    .filter((group) => !rules.has(group))
    .map((group) => `no active policy asks the group \`${group}\`; ${toldAsked([...rules].toSorted())}`);
}

function approvalGroups(policies: Pick<PolicyHost, 'current'>): ReadonlySet<string> {
  const asks = [...policies.current().asks().values()];
  return new Set(asks.flatMap((rule) => (rule.kind === 'approval' ? groupsOf(rule) : [])));
}

function toldAsked(groups: readonly string[]): string {
  if (groups.length === 0) return 'the policies ask no group for approval';
  const left = groups.length - namedMax;
  const named = groups.slice(0, namedMax).join(', ');
  return `the policies ask ${left > 0 ? `${named} and ${left} more` : named}`;
}
