// Which groups of the provider give which roles and groups here, from a setting such as `writ-admins=admin,
// finance=approver:finance, staff=auditor`. INVARIANT: a person in none of the named groups has no role.

import type { RolesAndGroups } from '../access.ts';
import { type Role, roles } from '../operations.ts';

export interface RoleRule {
  /** The provider's name of the group. */
  readonly claimed: string;
  readonly role: Role;
  /** The groups that an approver approves for. */
  readonly groups: readonly string[];
}

const ruleForm = /^([^=,]+)=([a-z]+)(?::([a-z][a-z0-9_]*(?:\+[a-z][a-z0-9_]*)*))?$/;

/** Reads the setting; null when the text is not such a list. */
export function parseRoleRules(text: string): readonly RoleRule[] | null {
  const parts = text.split(',').map((part) => part.trim());
  const rules = parts.filter((part) => part !== '').map(parseRule);
  return rules.length > 0 && rules.every((rule) => rule !== null) ? rules : null;
}

function parseRule(text: string): RoleRule | null {
  const [, claimed = '', word, list] = ruleForm.exec(text) ?? [];
  const role = roles.find((one) => one === word);
  const groups = list?.split('+') ?? [];
  if (role === undefined || (role === 'approver') !== groups.length > 0) return null;
  return { claimed: claimed.trim(), role, groups };
}

/**
 * Returns the roles and groups that these groups of the provider give; null when no rule names any of them.
 */
export function mapGroups(rules: readonly RoleRule[], claimed: readonly string[]): RolesAndGroups | null {
  const mine = rules.filter((rule) => claimed.includes(rule.claimed));
  if (mine.length === 0) return null;
  return {
    roles: roles.filter((role) => mine.some((rule) => rule.role === role)),
    groups: [...new Set(mine.flatMap(({ groups }) => groups))].toSorted(),
  };
}
