// The roles of people with what each permits, and a choice among them.

import './roles.css';

export const roles = ['admin', 'operator', 'approver', 'owner', 'auditor'] as const;
export type Role = (typeof roles)[number];

const meanings: Readonly<Record<Role, string>> = {
  admin: 'everything, people and webhooks included',
  operator: 'agents, invitations, policies, the kill switch',
  approver: 'approves requests that wait for their groups',
  owner: 'looks after the agents they control',
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
  readonly problem?: string | null;
}

export function RoleChoice({
  legend = 'Roles',
  offered = roles,
  chosen,
  onChoose,
  problem = null,
}: RoleChoiceProps) {
  return (
    <fieldset class="role-choice">
      <legend class="field-legend">{legend}</legend>
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
      {problem !== null && <p class="field-problem">{problem}</p>}
    </fieldset>
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
