// Turns every setting of the service into a flag of a command line.

import type { Command } from 'commander';
import { flagOf, type SettingName, settings } from '../../service/settings/settings.ts';

/** The values of the flags; undefined for a flag that was not given. */
export type SettingFlags = Readonly<Record<string, string | undefined>>;

const names = Object.keys(settings) as readonly SettingName[];

const descriptions = {
  host: { value: 'address', meaning: 'the address to listen on' },
  port: { value: 'port', meaning: 'the port to listen on; 0 takes a free one' },
  policies: { value: 'directory', meaning: 'the policy directory' },
  'policies.compile_timeout': {
    value: 'seconds',
    meaning: 'how long compiling a change of the policies may take',
  },
  bundle: {
    value: 'file or address',
    meaning: 'a bundle of policies (writ build) to follow in place of the directory',
  },
  'bundle.key': { value: 'key', meaning: 'whose signature the bundle must have: as `writ build` shows it' },
  'bundle.allow_older': {
    value: 'boolean',
    meaning: 'whether a bundle that was made before the active one may take over: true or false',
  },
  'bundle.bytes_max': { value: 'bytes', meaning: 'the largest bundle' },
  'bundle.poll_seconds': { value: 'seconds', meaning: 'how often another bundle is looked for' },
  data: { value: 'directory', meaning: 'the data directory, with the records' },
  store: {
    value: 'address',
    meaning:
      'a PostgreSQL database that keeps the records instead (WRIT_STORE hides a password from other users)',
  },
  workers: { value: 'count', meaning: 'processes that serve the address; more than 1 needs --store' },
  'sandbox.token': {
    value: 'token',
    meaning: 'the token of POST /plants; made at the first start unless it is set',
  },
  'store.durability': {
    value: 'choice',
    meaning: 'what the server of the database promises: replicated (a standby has all), managed or single',
  },
  'store.wait_seconds': {
    value: 'seconds',
    meaning: 'how long a start tries to reach a store that is away or locked',
  },
  'limits.rate_per_minute': { value: 'count', meaning: 'requests of one agent a minute' },
  'limits.in_flight': { value: 'count', meaning: 'decisions of one agent in progress at once' },
  'limits.waits': { value: 'count', meaning: 'replies held for one agent or person at once' },
  connections_max: { value: 'count', meaning: 'connections that may be open' },
  'limits.burst': { value: 'count', meaning: 'requests of one agent at once' },
  'requests.open_max': { value: 'n', meaning: 'requests of one agent that may wait for people' },
  'limits.body_bytes': { value: 'bytes', meaning: 'the largest body' },
  'signatures.compatibility': {
    value: 'choice',
    meaning: 'allow or forbid signatures over the body alone, without time and nonce',
  },
  'meters.trust_agent_reports': {
    value: 'boolean',
    meaning:
      "whether an agent's own report that it did not use a grant releases it from the meters: true or false",
  },
  'clock.behind': {
    value: 'choice',
    meaning: "refuse or accept to start where the newest record is ahead of this machine's clock",
  },
  'sso.issuer': { value: 'address', meaning: 'the OpenID Connect provider of single sign-on' },
  'sso.client_id': { value: 'id', meaning: 'what the provider calls this service' },
  'sso.client_secret': {
    value: 'secret',
    meaning: 'what the provider knows this service by (WRIT_SSO_CLIENT_SECRET hides it from other users)',
  },
  'sso.name': { value: 'name', meaning: 'of the provider, on the button of the sign-in page' },
  'sso.scopes': { value: 'scopes', meaning: 'what the provider is asked for' },
  'sso.groups_claim': { value: 'name', meaning: 'the claim that holds the groups of a person' },
  'sso.roles': {
    value: 'rules',
    meaning: 'which groups give which roles, such as "admins=admin, finance=approver:finance"',
  },
  'sso.recheck_seconds': { value: 'seconds', meaning: 'how often the provider is asked about each session' },
  'sso.scim_token': { value: 'token', meaning: 'with which the provider says by SCIM who is here' },
  'sso.external_id_claim': { value: 'name', meaning: 'the claim that holds what SCIM calls externalId' },
  'sso.only': {
    value: 'boolean',
    meaning: 'whether passwords and passkeys let in admins alone: true or false',
  },
  'users.issuer': { value: 'address', meaning: 'whose tokens say on whose behalf agents ask' },
  'users.audience': { value: 'name', meaning: 'what those tokens call this service' },
  'users.keys': { value: 'address', meaning: "where the issuer's keys are (JWKS; default: by discovery)" },
  'users.roles_claim': { value: 'name', meaning: 'the claim that holds the roles of a user' },
  'users.groups_claim': { value: 'name', meaning: 'the claim that holds the groups of a user' },
  receipts: { value: 'boolean', meaning: 'whether grants have receipts: true or false' },
  'otel.endpoint': {
    value: 'address',
    meaning: 'where an OpenTelemetry collector takes traces (OTLP over HTTP)',
  },
  public_url: { value: 'address', meaning: 'where people reach the service (default: where it listens)' },
  trusted_proxies: {
    value: 'networks',
    meaning: 'networks of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8',
  },
  'people.new_factor_minutes': {
    value: 'minutes',
    meaning: 'how long a new second factor cannot step up',
  },
  'webhooks.allow_private': {
    value: 'boolean',
    meaning: 'whether webhooks may be sent to addresses that are not public',
  },
  'smtp.url': {
    value: 'address',
    meaning: 'the mail server, such as smtps://user:password@mail.example.com',
  },
  'smtp.from': { value: 'address', meaning: 'the sender of e-mail' },
  'log.level': { value: 'level', meaning: 'trace, debug, info, warn, error or silent' },
} as const satisfies Readonly<Record<SettingName, { readonly value: string; readonly meaning: string }>>;

export function withSettings(command: Command): Command {
  for (const name of names) {
    const { value, meaning } = descriptions[name];
    const preset = settings[name].default;
    command.option(
      `${flagOf(name)} <${value}>`,
      preset === null || preset === '' ? meaning : `${meaning} (default: ${preset})`,
    );
  }
  return command;
}

/** The flags among the options that a command was given. */
export function settingsGiven(options: object): SettingFlags {
  const values = options as SettingFlags;
  return Object.fromEntries(names.map((name) => [name, values[optionName(name)]]));
}

/** The name that the parser gives to the value of a flag: `--limits-burst` is `limitsBurst`. */
function optionName(name: SettingName): string {
  return flagOf(name)
    .slice(2)
    .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
}
