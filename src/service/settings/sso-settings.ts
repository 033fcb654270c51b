// Settings of single sign-on. INVARIANT: the settings are set as a whole or not at all, and who somebody is
// arrives over an encrypted connection.

import { parseRoleRules } from '../people/sso/mapping.ts';
import type { SsoSettings } from '../people/sso/provider.ts';

export const ssoSettings = {
  'sso.issuer': { default: null, kind: { is: 'issuer' } },
  'sso.client_id': { default: null, kind: { is: 'text' } },
  'sso.client_secret': { default: null, kind: { is: 'secret' } },
  'sso.name': { default: 'single sign-on', kind: { is: 'text' } },
  'sso.scopes': { default: 'openid email profile offline_access', kind: { is: 'text' } },
  'sso.groups_claim': { default: 'groups', kind: { is: 'text' } },
  'sso.roles': { default: null, kind: { is: 'role-rules' } },
  'sso.recheck_seconds': { default: 120, kind: { is: 'integer', from: 10, to: 240 } },
  'sso.only': { default: false, kind: { is: 'boolean' } },
  'sso.scim_token': { default: null, kind: { is: 'secret' } },
  'sso.external_id_claim': { default: 'sub', kind: { is: 'text' } },
} as const;

/** The shortest token of SCIM, too long to be guessed. */
const scimTokenLengthMin = 32;

/** Finds the value of a setting by its name; null when the setting is not set. */
type SsoValues = (name: keyof typeof ssoSettings) => string | number | boolean | null;

/**
 * Settings of single sign-on that are missing or too short, as lines for the person who starts the service.
 */
export function ssoProblems(settingOf: SsoValues): readonly string[] {
  if (settingOf('sso.issuer') !== null) {
    const missing = (['sso.client_id', 'sso.roles'] as const)
      .filter((name) => settingOf(name) === null)
      .map((name) => `${name} must be set where sso.issuer is`);
    const token = settingOf('sso.scim_token');
    const isShort = token !== null && String(token).length < scimTokenLengthMin;
    return isShort ? [...missing, `sso.scim_token has at least ${scimTokenLengthMin} characters`] : missing;
  }
  const without = (['sso.client_id', 'sso.client_secret', 'sso.roles', 'sso.scim_token'] as const).find(
    (name) => settingOf(name) !== null,
  );
  if (without !== undefined) return [`sso.issuer must be set where ${without} is`];
  return settingOf('sso.only') === true ? ['sso.issuer must be set where sso.only is'] : [];
}

/** The settings of the provider; null when none is configured. */
export function ssoOf(settingOf: SsoValues): SsoSettings | null {
  const issuer = settingOf('sso.issuer');
  if (issuer === null) return null;
  const secret = settingOf('sso.client_secret');
  const scimToken = settingOf('sso.scim_token');
  return {
    issuer: String(issuer),
    clientId: String(settingOf('sso.client_id')),
    clientSecret: secret === null ? null : String(secret),
    name: String(settingOf('sso.name')),
    scopes: String(settingOf('sso.scopes')),
    groupsClaim: String(settingOf('sso.groups_claim')),
    rules: parseRoleRules(String(settingOf('sso.roles'))) ?? [],
    recheckMs: Number(settingOf('sso.recheck_seconds')) * 1_000,
    isOnlyWay: settingOf('sso.only') === true,
    scimToken: scimToken === null ? null : String(scimToken),
    externalIdClaim: String(settingOf('sso.external_id_claim')),
  };
}

/**
 * Whether an address may be that of an issuer: by `https:`, or on this machine. Otherwise an attacker between
 * the service and the provider could claim to be anybody.
 */
export function isIssuer(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** The text of role rules; null when they are not valid. */
export function roleRulesText(value: unknown): string | null {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return typeof text === 'string' && parseRoleRules(text) !== null ? text : null;
}
