// Settings for the people on whose behalf agents ask. INVARIANT: issuer and audience are set together, and
// keys arrive over an encrypted connection.

import type { UserSettings } from '../users/on-behalf.ts';

export const userSettings = {
  'users.issuer': { default: null, kind: { is: 'issuer' } },
  'users.audience': { default: null, kind: { is: 'text' } },
  'users.keys': { default: null, kind: { is: 'issuer' } },
  'users.roles_claim': { default: 'roles', kind: { is: 'text' } },
  'users.groups_claim': { default: 'groups', kind: { is: 'text' } },
} as const;

/** Finds the value of a setting by its name; null when the setting is not set. */
type UserValues = (name: keyof typeof userSettings) => string | number | boolean | null;

/** Settings of the issuer that are missing, as lines for the person who starts the service. */
export function userProblems(settingOf: UserValues): readonly string[] {
  if (settingOf('users.issuer') !== null)
    return settingOf('users.audience') === null ? ['users.audience must be set where users.issuer is'] : [];
  const without = (['users.audience', 'users.keys'] as const).find((name) => settingOf(name) !== null);
  return without === undefined ? [] : [`users.issuer must be set where ${without} is`];
}

/** The settings of the issuer; null when none is configured. */
export function usersOf(settingOf: UserValues): UserSettings | null {
  const issuer = settingOf('users.issuer');
  if (issuer === null) return null;
  const keys = settingOf('users.keys');
  return {
    issuer: String(issuer),
    audience: String(settingOf('users.audience')),
    keys: keys === null ? null : String(keys),
    rolesClaim: String(settingOf('users.roles_claim')),
    groupsClaim: String(settingOf('users.groups_claim')),
  };
}
