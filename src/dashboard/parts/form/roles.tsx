// The roles of people with what each permits, and a choice among them.

import { FieldGroup } from './field.tsx';
import './roles.css';

export const roles = ['admin', 'operator', 'approver', 'owner', 'auditor'] as const;
export type Role = (typeof roles)[number];

const meanings: Readonly<Record<Role, string>> = {
  admin: 'everything, people and webhooks included',
  operator: 'agents, invitations, policies, the kill switch',
  approver: 'approves pending requests of their groups',
  owner: 'steps up and answers for their agents',
  auditor: 'sees everything, changes nothing',
};

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

interface RoleChoiceProps {
  readonly legend?: string;
  readonly offered?: readonly Role[];
  readonly chosen: readonly Role[];
  readonly onChoose: (roles: readonly Role[]) => void;
  /** Name of the field in the body of the call. */
  readonly name?: string;
}

export function RoleChoice({
  legend = 'Roles',
  offered = roles,
  chosen,
  onChoose,
  name = 'roles',
}: RoleChoiceProps) {
  return (
    <FieldGroup legend={legend} name={name} class="role-choice">
      {offered.map((role) => (
        <label class="choice" key={role}>
          <input
            type="checkbox"
            checked={chosen.includes(role)}
            onChange={({ currentTarget: { checked } }) =>
              onChoose(roles.filter((one) => (one === role ? checked : chosen.includes(one))))
            }
          />
          <span>
            {role} <span class="role-meaning">{meanings[role]}</span>
          </span>
        </label>
      ))}
    </FieldGroup>
  );
}

/** Words such as roles, shown as small marks for lists. */
export function Marks({ words }: { readonly words: readonly string[] }) {
  if (words.length === 0) return <span class="marks-none">none</span>;
  return (
    <ul class="marks">
      {words.map((word) => (
        <li key={word}>
          <bdi>{word}</bdi>
        </li>
      ))}
    </ul>
  );
}
