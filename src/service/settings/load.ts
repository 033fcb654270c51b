// Turns settings from all their sources into the effective configuration. Flags take precedence over the
// environment (`WRIT_*`), that over `writ.yaml`, and that over the defaults. INVARIANT: a name that nothing
// reads is an error, so a misspelt setting is never silently ignored.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import type { Hours } from '../../language/value/hours.ts';
import { faultOfFile } from '../file-fault.ts';
import { parseRoleRules } from '../people/sso/mapping.ts';
import type { SsoSettings } from '../people/sso/provider.ts';
import type { BundleSettings } from '../policies/bundles/bundled-policies.ts';
import { isSiemAddress, type SiemSettings } from '../siem/siem-settings.ts';
import { isKeyName } from '../transparency-log/signed-note.ts';
import { readWitnesses, type Witness } from '../transparency-log/witnesses.ts';
import type { UserSettings } from '../users/on-behalf.ts';
import type { WorkloadIssuer } from '../workloads/read-token.ts';
import { isAddress, isDatabaseAddress, isIssuer, isSmtpAddress, networksOf } from './address-forms.ts';
import { issuersOf, issuersText } from './agent-issuers.ts';
import { chatProblems, type SlackSettings, slackOf, type TeamsSettings, teamsOf } from './chat.ts';
import { headersOf, pairsOf } from './pairs.ts';
import { fieldsOf, siemOf, siemProblems } from './siem.ts';
import {
  environmentVariableOf,
  flagOf,
  isSettingName,
  type PlainConfig,
  type Setting,
  type SettingName,
  settingNames,
  settings,
  standardVariables,
} from './table.ts';
import { workingHoursOf } from './working-hours.ts';

// Settings of single sign-on. INVARIANT: the settings are set as a whole or not at all, and who somebody is
// arrives over an encrypted connection.

/** The shortest token of SCIM, too long to be guessed. */
const scimTokenLengthMin = 32;

/**
 * Settings of single sign-on that are missing or too short, as lines for the person who starts the service.
 */
function ssoProblems(settingOf: ValueOfSetting): readonly string[] {
  if (settingOf('sso.issuer') !== null) {
    const missing = (['sso.client_id', 'sso.roles'] as const)
      .filter((name) => settingOf(name) === null)
      .map((name) => `${name} is required with sso.issuer`);
    const token = settingOf('sso.scim_token');
    const isShort = token !== null && String(token).length < scimTokenLengthMin;
    return isShort
      ? [...missing, `sso.scim_token must have at least ${scimTokenLengthMin} characters`]
      : missing;
  }
  const without = (['sso.client_id', 'sso.client_secret', 'sso.roles', 'sso.scim_token'] as const).find(
    (name) => settingOf(name) !== null,
  );
  if (without !== undefined) return [`sso.issuer is required with ${without}`];
  return settingOf('sso.only') === true ? ['sso.issuer is required with sso.only'] : [];
}

/** The settings of the provider; null when none is configured. */
function ssoOf(settingOf: ValueOfSetting): SsoSettings | null {
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

/** The text of role rules; null when they are not valid. */
function roleRulesText(value: unknown): string | null {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return typeof text === 'string' && parseRoleRules(text) !== null ? text : null;
}

// Settings of a bundle that the service follows instead of the policy directory. INVARIANT: a bundle from
// another machine must be signed.

function isWebAddress(source: string): boolean {
  return /^https?:/.test(source);
}

/**
 * Settings of the bundle that are missing or contradict each other, as lines for the person who starts the
 * service.
 */
function bundleProblems(settingOf: ValueOfSetting, isDirectorySet: boolean): readonly string[] {
  const [source, key] = [settingOf('bundle'), settingOf('bundle.key')];
  if (source === null) return key === null ? [] : ['bundle is required with bundle.key'];
  if (isDirectorySet) return ['policies and bundle cannot both be set: the service follows one of them'];
  return isWebAddress(String(source)) && key === null
    ? ['bundle.key is required if bundle is an address: it names the required signer']
    : [];
}

/** The bundle that the service follows; null when it follows the policy directory. */
function bundleOf(settingOf: ValueOfSetting): BundleSettings | null {
  const [source, key] = [settingOf('bundle'), settingOf('bundle.key')];
  if (source === null) return null;
  return {
    source: String(source),
    key: key === null ? null : String(key),
    isOlderAllowed: settingOf('bundle.allow_older') === true,
    bytesMax: Number(settingOf('bundle.bytes_max')),
    pollMs: Number(settingOf('bundle.poll_seconds')) * 1_000,
  };
}

// Settings for the people on whose behalf agents ask. INVARIANT: issuer and audience are set together, and
// keys arrive over an encrypted connection.

/** Settings of the issuer that are missing, as lines for the person who starts the service. */
function userProblems(settingOf: ValueOfSetting): readonly string[] {
  if (settingOf('users.issuer') !== null)
    return settingOf('users.audience') === null ? ['users.audience is required with users.issuer'] : [];
  const without = (['users.audience', 'users.keys'] as const).find((name) => settingOf(name) !== null);
  return without === undefined ? [] : [`users.issuer is required with ${without}`];
}

/** The settings of the issuer; null when none is configured. */
function usersOf(settingOf: ValueOfSetting): UserSettings | null {
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

// Settings of the transparency log.

export interface TransparencySettings {
  /** Null for the name that follows from the service's address. */
  readonly name: string | null;
  readonly witnesses: readonly Witness[];
  readonly quorum: number;
}

function transparencyProblems(settingOf: ValueOfSetting): readonly string[] {
  const { witnesses, quorum } = transparencyOf(settingOf);
  return quorum > witnesses.length
    ? [`transparency.quorum must be at most the number of witnesses, ${witnesses.length}`]
    : [];
}

function transparencyOf(settingOf: ValueOfSetting): TransparencySettings {
  const [name, quorum] = [settingOf('transparency.name'), settingOf('transparency.quorum')];
  const witnesses = readWitnesses(String(settingOf('transparency.witnesses'))) ?? [];
  return {
    name: name === null ? null : String(name),
    witnesses,
    quorum: quorum === null ? majorityOf(witnesses.length) : Number(quorum),
  };
}

function majorityOf(count: number): number {
  return count === 0 ? 0 : Math.floor(count / 2) + 1;
}

/** The effective configuration: a field for each setting, or for each group of settings that belong together. */
export interface Config extends PlainConfig {
  /** The bundle to follow instead of the policy directory; null to follow the directory. */
  readonly bundle: BundleSettings | null;
  /** The provider of single sign-on; null without single sign-on. */
  readonly sso: SsoSettings | null;
  /** The issuer of tokens that name the user of an agent; null without one. */
  readonly users: UserSettings | null;
  readonly transparency: TransparencySettings;
  /** The issuers of tokens that identify agents; empty when agents have keys only. */
  readonly agentIssuers: readonly WorkloadIssuer[];
  /** The mail server and the sender's address; null to send no e-mail. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
  /** The receiver of records; null without one. */
  readonly siem: SiemSettings | null;
  /** The Slack app; null without one. */
  readonly slack: SlackSettings | null;
  /** The bot in Microsoft Teams; null without one. */
  readonly teams: TeamsSettings | null;
  /** Standard variables with a value that cannot be used, each a line like a problem. */
  readonly ignoredVariables: readonly string[];
}

/** The settings that the HTTP application takes as they are. */
const appSettings = [
  ...([
    'bodyBytesMax',
    'openRequestsMax',
    'inFlightMax',
    'waitsMax',
    'connectionsMax',
    'newFactorMs',
    'reminderBeforeMs',
  ] as const),
  ...([
    'bodySignatures',
    'areAgentReportsTrusted',
    'areWebhooksPrivate',
    'areReceiptsOn',
    'mayAgentsPropose',
    'isNarrowingAccepted',
  ] as const),
  ...([
    'trustedProxies',
    'workingHours',
    'sso',
    'users',
    'agentIssuers',
    'transparency',
    'smtp',
    'siem',
    'slack',
    'teams',
  ] as const),
] satisfies readonly (keyof Config)[];

export type AppSettings = Pick<Config, (typeof appSettings)[number]>;

export function appSettingsOf(config: AppSettings): AppSettings {
  return Object.fromEntries(appSettings.map((name) => [name, config[name]])) as AppSettings;
}

interface SettingView {
  readonly name: SettingName;
  /** The effective value as text; secrets are masked. */
  readonly shown: string;
  /** Where the value comes from: `default`, the file's path, or the name of the variable or flag. */
  readonly origin: string;
}

type Value = string | number | boolean | null;

/** Finds the value of a setting by its name; null when the setting is not set. */
type ValueOfSetting = (name: SettingName) => Value;

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly settings: readonly SettingView[] }
  /** Each problem is one line in lower case, without a final period. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ConfigSources {
  /** The directory from which relative paths start, and in which `writ.yaml` is looked for. */
  readonly directory: string;
  /** A configuration file that must exist; without it, `writ.yaml` is read if it exists. */
  readonly file?: string | undefined;
  /** What the configuration file will hold: an editor's text that is not saved yet. */
  readonly text?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Flags by setting name; the flag of `limits.burst` is `--limits-burst`. */
  readonly flags: Readonly<Partial<Record<SettingName, string | number | undefined>>>;
}

/**
 * Loads the configuration. Never throws; reports every problem, not only the first, although checks of
 * several settings together run only when each setting is right by itself.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: string[] = [];
  const ignored: string[] = [];
  const givenValues = new Map<SettingName, GivenValue>();
  for (const one of [
    ...readFile(sources, problems),
    ...readStandardVariables(sources, ignored),
    ...readEnvironment(sources, problems),
    ...readFlags(sources),
  ]) {
    givenValues.set(one.name, one);
  }
  const values = new Map<SettingName, Value>();
  for (const name of settingNames) {
    const setting: Setting = settings[name];
    const value = takeValue(givenValues.get(name) ?? { name, value: setting.default, ...unset(sources) });
    if (typeof value === 'object' && value !== null) problems.push(value.problem);
    else values.set(name, value);
  }
  const isFromMissing = values.get('smtp.url') !== null && values.get('smtp.from') === null;
  if (isFromMissing && problems.length === 0) problems.push('smtp.from is required with smtp.url');
  if (problems.length === 0 && Number(values.get('workers')) > 1 && values.get('store') === null)
    problems.push('store must be a database if workers is more than 1: only one process can serve a file');
  if (problems.length === 0)
    problems.push(...bundleProblems((name) => values.get(name) ?? null, givenValues.has('policies')));
  if (problems.length === 0) problems.push(...ssoProblems((name) => values.get(name) ?? null));
  if (problems.length === 0) problems.push(...userProblems((name) => values.get(name) ?? null));
  if (problems.length === 0) problems.push(...transparencyProblems((name) => values.get(name) ?? null));
  if (problems.length === 0) problems.push(...siemProblems((name) => values.get(name) ?? null));
  if (problems.length === 0) problems.push(...chatProblems((name) => values.get(name) ?? null));
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    config: { ...configOf(values), ignoredVariables: ignored },
    settings: settingNames.map((name) => show(name, values, givenValues)),
  };
}

interface GivenValue {
  readonly name: SettingName;
  readonly value: unknown;
  readonly origin: string;
  /** The directory from which a relative path starts. */
  readonly base: string;
}

function unset({ directory }: ConfigSources): Pick<GivenValue, 'origin' | 'base'> {
  return { origin: 'default', base: directory };
}

function readFile(
  { directory, file, text: given }: ConfigSources,
  problems: string[],
): readonly GivenValue[] {
  const path = resolve(directory, file ?? 'writ.yaml');
  let text: string;
  try {
    text = given ?? readFileSync(path, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (file !== undefined || !isMissing) problems.push(`${path} ${faultOfFile(error)}`);
    return [];
  }
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    problems.push(`${path}: ${document.errors[0]?.message.split('\n')[0]?.replace(/:$/, '')}`);
    return [];
  }
  const fileValues: GivenValue[] = [];
  for (const [name, value] of flatten(document.toJS() as unknown)) {
    if (isSettingName(name)) fileValues.push({ name, value, origin: path, base: dirname(path) });
    else problems.push(`${path}: unknown key \`${name}\`${suggest(name, settingNames)}`);
  }
  return fileValues;
}

/** Turns nested maps into dotted names with their values. */
function flatten(value: unknown, prefix = ''): readonly (readonly [string, unknown])[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap)
    return prefix === '' ? (value === null ? [] : [['(the whole file)', value]]) : [[prefix, value]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flatten(inner, prefix === '' ? key : `${prefix}.${key}`),
  );
}

const variables = new Map(settingNames.map((name) => [environmentVariableOf(name), name]));
/**
 * Variables that Kubernetes sets for every pod when a service is called `writ`, and variables of the commands
 * and agents that call a service.
 */
const foreignVariable = /^WRIT_(?:SERVICE_|PORT_\d|URL$|TOKEN$|TOKEN_FILE$|API_KEY$|AGENT$)/;

/** What is no use in a variable for all programs goes to `ignored`: it is no fault of this service's settings. */
function readStandardVariables(
  { directory, environment }: ConfigSources,
  ignored: string[],
): readonly GivenValue[] {
  const givenValues: GivenValue[] = [];
  for (const { variable, setting: name, read = (text: string) => text } of standardVariables) {
    const text = environment[variable];
    // An empty variable counts as unset, as the makers of these variables define it.
    const value = text ? read(text) : null;
    if (value === null) continue;
    const one = { name, value, origin: variable, base: directory };
    const taken = takeValue(one);
    if (typeof taken === 'object' && taken !== null) ignored.push(taken.problem);
    else givenValues.push(one);
  }
  return givenValues;
}

function readEnvironment(
  { directory, environment }: ConfigSources,
  problems: string[],
): readonly GivenValue[] {
  const givenValues: GivenValue[] = [];
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith('WRIT_') || value === undefined || foreignVariable.test(variable)) continue;
    const name = variables.get(variable);
    if (name !== undefined) givenValues.push({ name, value, origin: variable, base: directory });
    else problems.push(`unknown environment variable \`${variable}\`${suggest(variable, variables.keys())}`);
  }
  return givenValues;
}

function readFlags({ directory, flags }: ConfigSources): readonly GivenValue[] {
  return settingNames
    .filter((name) => flags[name] !== undefined)
    .map((name) => ({ name, value: flags[name], origin: flagOf(name), base: directory }));
}

function suggest(name: string, candidates: Iterable<string>): string {
  const nearest = nearestOf(name, candidates);
  return nearest === null ? '' : `; did you mean \`${nearest}\``;
}

/** The value that a setting takes, or the problem with the value found. */
function takeValue({ name, value, origin, base }: GivenValue): Value | { readonly problem: string } {
  const { kind }: Setting = settings[name];
  const wants = (what: string) => ({ problem: `${name} (from ${origin}) must be ${what}` });
  if (value === null) return origin === 'default' ? null : wants('set to a value');
  // Some values are sent in headers of mail and HTTP, and all are logged.
  if (typeof value === 'string' && /\p{Cc}/u.test(value)) return wants('a string without control characters');
  switch (kind.is) {
    case 'text':
    case 'secret':
      return typeof value === 'string' && value !== '' ? value : wants('a non-empty string');
    case 'address':
    case 'origin':
      return isAddress(value) ? value : wants('an http or https address without a password');
    case 'issuer':
      return isAddress(value) && isIssuer(value)
        ? value
        : wants('an https address; http only on this machine');
    case 'siem-address':
      return typeof value === 'string' && isSiemAddress(value)
        ? value
        : wants('an https or syslog+tls address without a password; http only on this machine');
    case 'fields':
      return fieldsOf(value) ?? wants('paths of fields such as `amount recipient.country`');
    case 'role-rules':
      return roleRulesText(value) ?? wants('such as `admins=admin, finance=approver:finance, staff=auditor`');
    case 'log-name':
      return typeof value === 'string' && isKeyName(value)
        ? value
        : wants('a name without spaces and plus signs, such as writ.example.com/writ');
    case 'witnesses': {
      const text = Array.isArray(value) ? value.join(', ') : value;
      return typeof text === 'string' && readWitnesses(text) !== null
        ? text
        : wants('such as `NAME+ID+KEY https://witness.example.com`, separated by commas');
    }
    case 'agent-issuers':
      return (
        issuersText(value, base) ??
        wants('a list of issuers such as `https://issuer.example.com audience=https://writ.example.com`')
      );
    case 'smtp':
      return isSmtpAddress(value) ? value : wants('an smtp or smtps address');
    case 'database':
      return isDatabaseAddress(value) ? value : wants('an address such as postgres://user@host/database');
    case 'networks': {
      const networks = networksOf(value);
      return networks === null ? wants('networks such as 10.0.0.0/8 or ::1, separated by spaces') : networks;
    }
    case 'headers':
      return typeof value === 'string' && headersOf(value) !== null
        ? value
        : wants('such as `name=value,other=value`, with names and values of headers');
    case 'pairs':
      return typeof value === 'string' && pairsOf(value) !== null
        ? value
        : wants('such as `name=value,other=value`');
    case 'working-hours':
      return typeof value === 'string' && workingHoursOf(value) !== null
        ? value
        : wants('such as `mon-fri 09:00-17:00 Europe/Berlin, security=mon-sun 06:00-22:00 UTC`');
    case 'boolean':
      if (value === true || value === 'true') return true;
      return value === false || value === 'false' ? false : wants('true or false');
    case 'path':
      return typeof value === 'string' && value !== '' ? resolve(base, value) : wants('a path');
    case 'path-or-address':
      if (typeof value !== 'string' || value === '') return wants('a path, or an http or https address');
      if (!isWebAddress(value)) return resolve(base, value);
      return isAddress(value) ? value : wants('an http or https address without a password');
    case 'key':
      return typeof value === 'string' && /^[\w-]{43}$/.test(value)
        ? value
        : wants('the public key that `writ build` prints, 43 characters');
    case 'choice':
      return typeof value === 'string' && kind.of.includes(value)
        ? value
        : wants(`one of ${kind.of.join(', ')}`);
    case 'integer': {
      const isWritten = typeof value === 'string' && /^\d{1,15}$/.test(value);
      const number = isWritten ? Number(value) : value;
      const isTaken =
        typeof number === 'number' && Number.isInteger(number) && number >= kind.from && number <= kind.to;
      return isTaken ? number : wants(`a whole number from ${kind.from} to ${kind.to}`);
    }
  }
}

function configOf(values: ReadonlyMap<SettingName, Value>): Omit<Config, 'ignoredVariables'> {
  const of = (name: SettingName) => values.get(name) ?? null;
  const [smtpUrl, smtpFrom] = [of('smtp.url'), of('smtp.from')];
  const smtp =
    smtpUrl === null || smtpFrom === null ? null : { url: String(smtpUrl), from: String(smtpFrom) };
  const groups = {
    bundle: bundleOf(of),
    sso: ssoOf(of),
    users: usersOf(of),
    transparency: transparencyOf(of),
    agentIssuers: issuersOf(of('agents.issuers')),
    smtp,
    siem: siemOf(of),
    slack: slackOf(of),
    teams: teamsOf(of),
  };
  return { ...plainConfig(of), ...groups };
}

/** The default of each field that is one setting. */
export const configDefaults: PlainConfig = plainConfig((name) => settings[name].default);

function plainConfig(of: ValueOfSetting): PlainConfig {
  const fields: [string, Value | readonly string[] | ReadonlyMap<string, string | Hours>][] = [];
  for (const name of settingNames) {
    const { field, times, kind }: Setting = settings[name];
    if (field === undefined) continue;
    const value = of(name);
    if (kind.is === 'networks')
      fields.push([
        field,
        String(value)
          .split(' ')
          .filter((one) => one !== ''),
      ]);
    else if (kind.is === 'headers' || kind.is === 'pairs')
      fields.push([field, pairsOf(String(value ?? '')) ?? new Map()]);
    else if (kind.is === 'working-hours')
      fields.push([field, workingHoursOf(String(value ?? '')) ?? new Map()]);
    else if (kind.is === 'origin')
      fields.push([field, value === null ? null : new URL(String(value)).origin]);
    else fields.push([field, times === undefined ? value : Number(value) * times]);
  }
  // `takeValue` has checked each value against the kind of its setting.
  return Object.fromEntries(fields) as PlainConfig;
}

const secretKinds: readonly Setting['kind']['is'][] = ['secret', 'smtp', 'database', 'headers'];

function show(
  name: SettingName,
  values: ReadonlyMap<SettingName, Value>,
  givenValues: ReadonlyMap<SettingName, GivenValue>,
): SettingView {
  const value = values.get(name) ?? null;
  const { kind }: Setting = settings[name];
  const shown =
    value === null || value === '' ? '(none)' : secretKinds.includes(kind.is) ? '********' : String(value);
  return { name, shown, origin: givenValues.get(name)?.origin ?? 'default' };
}
