// Checks the form of a person's roles and groups.

import { askedOwner } from '../store/contract/asked-owner.ts';
import type { FieldProblem, RolesAndGroups } from './access.ts';

const groupsMax = 50;
const groupForm = /^[a-z][a-z0-9_]{0,99}$/;

/** Returns problems in the form of roles and groups. Whether the giver may give them is checked elsewhere. */
export function rolesProblems({ roles, groups }: RolesAndGroups): FieldProblem[] {
  const isApprover = roles.includes('approver');
  return [
    ...(roles.length === 0 ? [{ field: 'roles', detail: 'name one role at least' }] : []),
    ...(groups.length > groupsMax ? [{ field: 'groups', detail: `name ${groupsMax} groups at most` }] : []),
    ...(groups.every((group) => groupForm.test(group))
      ? []
      : [{ field: 'groups', detail: 'name groups as policies do, such as `finance`' }]),
    ...(groups.includes(askedOwner)
      ? [{ field: 'groups', detail: '`owner` is no group: it is the control owner of the agent that asks' }]
      : []),
    ...(isApprover && groups.length === 0
      ? [{ field: 'groups', detail: 'name the groups that an approver approves for' }]
      : []),
  ];
}
