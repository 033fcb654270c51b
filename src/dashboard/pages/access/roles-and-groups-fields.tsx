// The fields for a person's roles and groups. They offer the groups that policies ask for approval and those
// that the person already has: a group that no policy asks is most likely a typing error.

import { useRef } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { FieldGroup } from '../../parts/form/field.tsx';
import { type Role, RoleChoice, roles } from '../../parts/form/roles.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';

export interface RolesAndGroups {
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
}

interface RolesAndGroupsFieldsProps {
  readonly rolesAndGroups: RolesAndGroups;
  readonly onChange: (rolesAndGroups: RolesAndGroups) => void;
}

/** Only an admin may give these roles, and any group. */
export const rolesOfAdmins: readonly Role[] = ['admin', 'operator', 'approver'];
/** The control owner of the requesting agent, which is not a group that people can be given. */
const implied = 'owner';

export function RolesAndGroupsFields({ rolesAndGroups, onChange }: RolesAndGroupsFieldsProps) {
  const isAdmin = useGrant('people.change') === 'yes';
  return (
    <>
      <RoleChoice
        offered={isAdmin ? roles : roles.filter((role) => !rolesOfAdmins.includes(role))}
        chosen={rolesAndGroups.roles}
        onChoose={(chosen) => onChange({ ...rolesAndGroups, roles: chosen })}
      />
      {isAdmin && <GroupFields rolesAndGroups={rolesAndGroups} onChange={onChange} />}
    </>
  );
}

function GroupFields({ rolesAndGroups, onChange }: RolesAndGroupsFieldsProps) {
  const policies = useResource('getPolicies', { query: { limit: '1' } }, ['policies']);
  const usedGroups = (policies.data?.approvers ?? []).filter(({ name }) => name !== implied);
  const held = useRef(rolesAndGroups.groups).current;
  const others = held.filter((group) => !usedGroups.some(({ name }) => name === group));
  const groups = [...usedGroups, ...others.map((name) => ({ name, title: 'no policy uses it now' }))];
  return (
    <>
      <ProblemNote problem={policies.problem} onRetry={policies.reload} />
      <FieldGroup legend="Groups that they approve for" name="groups">
        {groups.map(({ name, title }) => (
          <label class="choice" key={name}>
            <input
              type="checkbox"
              checked={rolesAndGroups.groups.includes(name)}
              onChange={({ currentTarget: { checked } }) => {
                const rest = rolesAndGroups.groups.filter((one) => one !== name);
                onChange({ ...rolesAndGroups, groups: checked ? [...rest, name] : rest });
              }}
            />
            <span>
              {name} <span class="access-soft">{title}</span>
            </span>
          </label>
        ))}
        {groups.length === 0 && policies.data !== null && (
          <p class="access-soft">No policy asks a group for approval yet.</p>
        )}
      </FieldGroup>
    </>
  );
}
