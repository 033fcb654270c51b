// The settings of the service, one row each. The effective configuration (`load.ts`), the flags of the command line
// (`cli/support/setting-flags.ts`), the environment variables, what `writ config` and `writ doctor` show, and the table
// in docs/service/configuration.md are made from these rows.

import type { Hours } from '../../language/value/hours.ts';
import { cursorStarts, siemBodies, siemFormats } from '../siem/siem-settings.ts';
import { durabilities } from '../store/contract/durability.ts';
import { pairsOf } from './pairs.ts';

type PlainKind =
  | ('text' | 'path' | 'path-or-address' | 'key' | 'secret' | 'address' | 'origin' | 'smtp')
  | ('database' | 'boolean' | 'networks' | 'issuer' | 'agent-issuers' | 'role-rules' | 'headers' | 'pairs')
  | ('siem-address' | 'fields' | 'log-name' | 'witnesses' | 'working-hours');

export interface Setting {
  readonly default: string | number | boolean | null;
  readonly kind:
    | { readonly is: PlainKind }
    | { readonly is: 'integer'; readonly from: number; readonly to: number }
    | { readonly is: 'choice'; readonly of: readonly string[] };
  /** The field of the configuration; absent where several settings make one field. */
  readonly field?: string;
  /** The field is the number of the setting times this, such as milliseconds for seconds. */
  readonly times?: number;
  /** What a flag's value is called in `--help`. */
  readonly placeholder: string;
  /** What the setting is for, without a final period. */
  readonly help: string;
  /** What only the documentation adds, in Markdown. */
  readonly more?: string;
  /** The default in the documentation, where it is not one value. */
  readonly defaultText?: string;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const logFormats = ['auto', 'text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

const besidePrefix = (prefix: string) =>
  `with \`${prefix}\` in the same file, write it as one key with a dot` as const;

/** The settings by dotted name, as in `writ.yaml`; `limits.burst` is `WRIT_LIMITS_BURST` and `--limits-burst`. */
export const settings = {
  host: {
    default: '127.0.0.1',
    kind: { is: 'text' },
    field: 'host',
    placeholder: 'address',
    help: 'the address to listen on',
  },
  port: {
    default: 8181,
    kind: { is: 'integer', from: 0, to: 65_535 },
    field: 'port',
    placeholder: 'port',
    help: 'the port to listen on; 0 takes any free port',
  },
  policies: {
    default: './policies',
    kind: { is: 'path' },
    field: 'policies',
    placeholder: 'directory',
    help: 'the policy directory',
  },
  'policies.compile_timeout': {
    default: 60,
    kind: { is: 'integer', from: 1, to: 3_600 },
    field: 'compileTimeoutMs',
    times: 1_000,
    placeholder: 'seconds',
    help: 'the time limit for compiling a change of the policies',
    more: besidePrefix('policies'),
  },
  bundle: {
    default: null,
    kind: { is: 'path-or-address' },
    placeholder: 'file or address',
    help: 'a bundle of policies (`writ build`) to follow instead of the policy directory',
    more: 'a path, or an `https:` or `http:` address; see [Policies from a bundle](policies.md#policies-from-a-bundle)',
  },
  'bundle.key': {
    default: null,
    kind: { is: 'key' },
    placeholder: 'key',
    help: 'the public key that must have signed the bundle, as `writ build` prints it',
    more: `required for an address; ${besidePrefix('bundle')}, and the three below as well`,
  },
  'bundle.allow_older': {
    default: false,
    kind: { is: 'boolean' },
    placeholder: 'boolean',
    help: 'whether a bundle older than the active one may be activated, for a rollback',
  },
  'bundle.bytes_max': {
    default: 64 * 1024 ** 2,
    kind: { is: 'integer', from: 1024 ** 2, to: 1024 ** 3 },
    placeholder: 'bytes',
    help: 'the maximum size of a bundle; a larger one is not read',
    more: 'ten thousand policies are about 10 MB',
  },
  'bundle.poll_seconds': {
    default: 10,
    kind: { is: 'integer', from: 1, to: 86_400 },
    placeholder: 'seconds',
    help: 'the interval between checks for a new bundle',
  },
  data: {
    default: './var',
    kind: { is: 'path' },
    field: 'data',
    placeholder: 'directory',
    help: 'the data directory, with the records',
  },
  store: {
    default: null,
    kind: { is: 'database' },
    field: 'store',
    placeholder: 'address',
    help: 'a PostgreSQL database for the records, such as postgres://writ@db.example.com/writ (WRIT_STORE hides a password from other users of the machine)',
    more: 'the data directory then contains only the master key',
  },
  'store.durability': {
    default: 'replicated',
    kind: { is: 'choice', of: durabilities },
    field: 'durability',
    placeholder: 'choice',
    help: 'what the database server guarantees for acknowledged records: replicated (a standby has them), managed or single',
    more: `see [Records in PostgreSQL](records.md#records-in-postgresql); ${besidePrefix('store')}`,
  },
  'store.wait_seconds': {
    default: 60,
    kind: { is: 'integer', from: 0, to: 86_400 },
    field: 'storeWaitMs',
    times: 1_000,
    placeholder: 'seconds',
    help: 'how long a start retries while the store is unreachable or locked, before it exits with code 1',
    more: `each attempt is logged; ${besidePrefix('store')}`,
  },
  workers: {
    default: 1,
    kind: { is: 'integer', from: 1, to: 64 },
    field: 'workers',
    placeholder: 'count',
    help: 'the number of processes that serve the address, at most 64; more than 1 requires --store',
  },
  'sandbox.token': {
    default: null,
    defaultText: 'created at the first start',
    kind: { is: 'secret' },
    field: 'sandboxToken',
    placeholder: 'token',
    help: 'the token for POST /plants; created at the first start if it is not set',
  },
  'limits.rate_per_minute': {
    default: 600,
    kind: { is: 'integer', from: 1, to: 1_000_000_000 },
    field: 'ratePerMinute',
    placeholder: 'count',
    help: 'requests per minute and agent',
  },
  'limits.burst': {
    default: 100,
    kind: { is: 'integer', from: 1, to: 1_000_000_000 },
    field: 'burst',
    placeholder: 'count',
    help: 'requests that an agent may send at once',
  },
  'limits.in_flight': {
    default: 256,
    kind: { is: 'integer', from: 1, to: 2_000 },
    field: 'inFlightMax',
    placeholder: 'count',
    help: 'concurrent decisions per agent',
  },
  'limits.waits': {
    default: 100,
    kind: { is: 'integer', from: 1, to: 2_000 },
    field: 'waitsMax',
    placeholder: 'count',
    help: 'replies held open per agent or person (long polling)',
  },
  connections_max: {
    default: 1_000,
    kind: { is: 'integer', from: 1, to: 1_000_000 },
    field: 'connectionsMax',
    placeholder: 'count',
    help: 'open connections',
  },
  'requests.open_max': {
    default: 20,
    kind: { is: 'integer', from: 1, to: 1_000_000 },
    field: 'openRequestsMax',
    placeholder: 'count',
    help: 'pending requests per agent',
  },
  'limits.body_bytes': {
    default: 256 * 1024,
    kind: { is: 'integer', from: 1_024, to: 16 * 1024 * 1024 },
    field: 'bodyBytesMax',
    placeholder: 'bytes',
    help: 'the maximum size of a request body',
  },
  'sso.issuer': {
    default: null,
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: 'the OpenID Connect provider for single sign-on; https, or http on this machine',
    more: 'see [Single sign-on](people.md#single-sign-on)',
  },
  'sso.client_id': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'id',
    help: "this service's client id at the provider",
  },
  'sso.client_secret': {
    default: null,
    kind: { is: 'secret' },
    placeholder: 'secret',
    help: "this service's client secret (WRIT_SSO_CLIENT_SECRET keeps it out of the process list)",
  },
  'sso.name': {
    default: 'single sign-on',
    kind: { is: 'text' },
    placeholder: 'name',
    help: "the provider's name on the sign-in button",
  },
  'sso.scopes': {
    default: 'openid email profile offline_access',
    kind: { is: 'text' },
    placeholder: 'scopes',
    help: 'the scopes to request',
  },
  'sso.groups_claim': {
    default: 'groups',
    kind: { is: 'text' },
    placeholder: 'name',
    help: "the token claim with a person's groups",
  },
  'sso.roles': {
    default: null,
    kind: { is: 'role-rules' },
    placeholder: 'rules',
    help: 'roles by group, such as "admins=admin, finance=approver:finance"',
  },
  'sso.recheck_seconds': {
    default: 120,
    kind: { is: 'integer', from: 10, to: 240 },
    placeholder: 'seconds',
    help: 'the interval at which each session is checked with the provider, 10 to 240',
  },
  'sso.only': {
    default: false,
    kind: { is: 'boolean' },
    placeholder: 'boolean',
    help: 'whether only admins may sign in with a password or passkey',
  },
  'sso.scim_token': {
    default: null,
    kind: { is: 'secret' },
    placeholder: 'token',
    help: 'the token with which the provider manages people over SCIM, at least 32 characters',
    more: 'see [SCIM](people.md#scim)',
  },
  'sso.external_id_claim': {
    default: 'sub',
    kind: { is: 'text' },
    placeholder: 'name',
    help: 'the token claim that equals `externalId` in SCIM',
  },
  'users.issuer': {
    default: null,
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: 'the issuer of tokens that name the user of an agent; https, or http on this machine',
    more: 'see [On whose behalf an agent asks](agents.md#on-whose-behalf-an-agent-asks)',
  },
  'users.audience': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'name',
    help: 'the required audience (`aud`) of those tokens',
  },
  'users.keys': {
    default: null,
    defaultText: 'from the discovery document',
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: "the address of the issuer's keys (JWKS); by default from its discovery document",
  },
  'users.roles_claim': {
    default: 'roles',
    kind: { is: 'text' },
    placeholder: 'name',
    help: 'the token claim with the roles of a user, or a path to it such as realm_access.roles',
  },
  'users.groups_claim': {
    default: 'groups',
    kind: { is: 'text' },
    placeholder: 'name',
    help: 'the token claim with the groups of a user, or a path to it',
  },
  'agents.issuers': {
    default: null,
    kind: { is: 'agent-issuers' },
    placeholder: 'issuers',
    help: 'the issuers of tokens that identify agents, separated by commas, such as "https://issuer.example.com audience=https://writ.example.com"',
    more: 'a list, or one text; each issuer may add `keys=` and `lifetime=`; see [Agents without keys](workload-identity.md)',
  },
  receipts: {
    default: true,
    kind: { is: 'boolean' },
    field: 'areReceiptsOn',
    placeholder: 'boolean',
    help: 'whether grants have receipts',
    more: 'see [Receipts](receipts.md)',
  },
  'transparency.name': {
    default: null,
    defaultText: 'the host of `public_url`, and `/writ`',
    kind: { is: 'log-name' },
    placeholder: 'name',
    help: 'the name of the transparency log, which its checkpoints and its key have',
    more: 'a changed name is another log to those who verify; see [Transparency log](transparency-log.md)',
  },
  'transparency.witnesses': {
    default: '',
    kind: { is: 'witnesses' },
    placeholder: 'witnesses',
    help: 'witnesses that cosign checkpoints, each its verifier key and its address, separated by commas',
    more: 'see [Witnesses](transparency-log.md#witnesses)',
  },
  'transparency.quorum': {
    default: null,
    defaultText: 'more than half of them',
    kind: { is: 'integer', from: 0, to: 16 },
    placeholder: 'count',
    help: 'how many witnesses have to cosign a checkpoint before it is published',
  },
  'proposals.agents': {
    default: false,
    kind: { is: 'boolean' },
    field: 'mayAgentsPropose',
    placeholder: 'boolean',
    help: 'whether agents and enforcement points may propose changes of the policies',
    more: 'see [Proposals](proposals.md)',
  },
  'proposals.accept_narrowing': {
    default: false,
    kind: { is: 'boolean' },
    field: 'isNarrowingAccepted',
    placeholder: 'boolean',
    help: 'whether a proposal that is proved to allow nothing more is accepted at once',
    more: 'see [Proposals](proposals.md#accepted-by-a-setting)',
  },
  'signatures.compatibility': {
    default: 'allow',
    kind: { is: 'choice', of: ['allow', 'forbid'] },
    field: 'bodySignatures',
    placeholder: 'choice',
    help: 'allow or forbid signatures of the body only, without time and nonce',
  },
  'meters.trust_agent_reports': {
    default: false,
    kind: { is: 'boolean' },
    field: 'areAgentReportsTrusted',
    placeholder: 'boolean',
    help: "whether an agent's own report that it did not use a grant removes the grant from the meters",
  },
  'clock.behind': {
    default: 'refuse',
    kind: { is: 'choice', of: ['refuse', 'accept'] },
    field: 'clockBehind',
    placeholder: 'choice',
    help: 'refuse or accept a start while the newest record is over a minute ahead of the clock',
    more: 'with `accept`, older grants may last longer than they should',
  },
  'otel.endpoint': {
    default: null,
    kind: { is: 'address' },
    field: 'otelEndpoint',
    placeholder: 'address',
    help: 'the base address of an OpenTelemetry collector for traces (OTLP over HTTP)',
    more: 'traces go to `v1/traces` under it',
  },
  'otel.traces_endpoint': {
    default: null,
    kind: { is: 'address' },
    field: 'otelTracesEndpoint',
    placeholder: 'address',
    help: 'the whole address for traces, in place of `otel.endpoint`',
  },
  'otel.headers': {
    default: '',
    kind: { is: 'headers' },
    field: 'otelHeaders',
    placeholder: 'pairs',
    help: 'headers for the collector, such as authorization=Bearer%20TOKEN, separated by commas',
  },
  'otel.service_name': {
    default: 'writ',
    kind: { is: 'text' },
    field: 'otelServiceName',
    placeholder: 'name',
    help: 'the name of the service in traces',
  },
  'otel.resource_attributes': {
    default: '',
    kind: { is: 'pairs' },
    field: 'otelResourceAttributes',
    placeholder: 'pairs',
    help: 'more attributes of the service in traces, such as deployment.environment.name=production',
  },
  'otel.disabled': {
    default: false,
    kind: { is: 'boolean' },
    field: 'isOtelDisabled',
    placeholder: 'boolean',
    help: 'whether traces are off although a collector is named',
  },
  'siem.url': {
    default: null,
    kind: { is: 'siem-address' },
    placeholder: 'address',
    help: 'the receiver of records: https, http on this machine, or syslog+tls for CEF',
    more: 'see [Records to a SIEM](siem.md)',
  },
  'siem.format': {
    default: 'ocsf',
    kind: { is: 'choice', of: siemFormats },
    placeholder: 'format',
    help: 'ocsf (JSON), otlp (OpenTelemetry logs) or cef (syslog over TLS)',
  },
  'siem.name': {
    default: 'siem',
    kind: { is: 'text' },
    placeholder: 'name',
    help: 'the name by which the service remembers how far the receiver has the records',
    more: 'keep it when the receiver moves to another address; a new name begins at `siem.start`',
  },
  'siem.start': {
    default: 'now',
    kind: { is: 'choice', of: cursorStarts },
    placeholder: 'choice',
    help: 'where a new name begins: now, or with the beginning of the records',
  },
  'siem.body': {
    default: 'array',
    kind: { is: 'choice', of: siemBodies },
    placeholder: 'choice',
    help: 'how OCSF events are sent: array (JSON), lines (JSON Lines) or splunk (HTTP Event Collector)',
  },
  'siem.headers': {
    default: '',
    kind: { is: 'headers' },
    placeholder: 'pairs',
    help: 'headers for the receiver, such as authorization=Bearer%20TOKEN, separated by commas (WRIT_SIEM_HEADERS keeps them out of the process list)',
  },
  'siem.payload_fields': {
    default: '',
    kind: { is: 'fields' },
    placeholder: 'fields',
    help: 'payload fields that are sent, such as "amount recipient.country"; by default none',
    more: 'a list, or separated by spaces; secret fields are never sent',
  },
  'siem.batch_records': {
    default: 500,
    kind: { is: 'integer', from: 1, to: 10_000 },
    placeholder: 'count',
    help: 'the most records of a batch',
  },
  'siem.batch_bytes': {
    default: 1024 ** 2,
    kind: { is: 'integer', from: 10 * 1024, to: 64 * 1024 ** 2 },
    placeholder: 'bytes',
    help: 'the most bytes of a batch before compression; a larger record is sent alone',
  },
  'siem.timeout_seconds': {
    default: 30,
    kind: { is: 'integer', from: 1, to: 600 },
    placeholder: 'seconds',
    help: 'how long the receiver may take for a batch',
  },
  'siem.gzip': {
    default: true,
    kind: { is: 'boolean' },
    placeholder: 'boolean',
    help: 'whether batches over HTTPS are compressed',
  },
  'siem.ca': {
    default: null,
    defaultText: 'the usual authorities',
    kind: { is: 'path' },
    placeholder: 'file',
    help: "the authority (PEM) that must have signed the receiver's certificate",
  },
  'siem.certificate': {
    default: null,
    kind: { is: 'path' },
    placeholder: 'file',
    help: "this service's certificate (PEM) for receivers that require one",
  },
  'siem.key': {
    default: null,
    kind: { is: 'path' },
    placeholder: 'file',
    help: 'the key (PEM) of that certificate',
  },
  'siem.skip': {
    default: null,
    kind: { is: 'integer', from: 1, to: Number.MAX_SAFE_INTEGER },
    placeholder: 'number',
    help: 'the number of a record that the receiver refuses; it gets an event about the gap instead',
    more: 'see [When the stream has stopped](siem.md#when-the-stream-has-stopped)',
  },
  public_url: {
    default: null,
    defaultText: 'the address it listens on, a loopback address as `localhost`',
    kind: { is: 'origin' },
    field: 'publicUrl',
    placeholder: 'address',
    help: 'the address at which people reach the service (default: the address it listens on)',
    more: 'passkeys, cookies and links belong to it; set it behind a proxy',
  },
  trusted_proxies: {
    default: '',
    kind: { is: 'networks' },
    field: 'trustedProxies',
    placeholder: 'networks',
    help: 'networks of proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8',
    more: "a list, or separated by spaces; the client's address is the last one outside these networks",
  },
  'people.new_factor_minutes': {
    default: 60,
    kind: { is: 'integer', from: 0, to: 7 * 24 * 60 },
    field: 'newFactorMs',
    times: 60_000,
    placeholder: 'minutes',
    help: 'how long a new second factor cannot be used for a step-up',
  },
  'reminders.before_minutes': {
    default: 60,
    kind: { is: 'integer', from: 0, to: 31 * 24 * 60 },
    field: 'reminderBeforeMs',
    times: 60_000,
    placeholder: 'minutes',
    help: 'how long before a pending request expires, or asks its fallback, people are reminded; 0 for never',
    more: 'see [Reminders](stand-ins.md#reminders)',
  },
  'reminders.hours': {
    default: '',
    defaultText: 'all hours',
    kind: { is: 'working-hours' },
    field: 'workingHours',
    placeholder: 'hours',
    help: 'working hours, in which people are reminded, such as "mon-fri 09:00-17:00 Europe/Berlin, security=mon-sun 06:00-22:00 UTC"',
  },
  'webhooks.allow_private': {
    default: false,
    kind: { is: 'boolean' },
    field: 'areWebhooksPrivate',
    placeholder: 'boolean',
    help: 'whether webhooks may use private addresses and http',
  },
  'smtp.url': {
    default: null,
    kind: { is: 'smtp' },
    placeholder: 'address',
    help: 'the mail server, such as smtps://user:password@mail.example.com',
    more: '`smtp:` uses STARTTLS when the server offers it',
  },
  'smtp.from': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'address',
    help: 'the sender of e-mail',
  },
  'slack.bot_token': {
    default: null,
    kind: { is: 'secret' },
    placeholder: 'token',
    help: 'the bot token of the Slack app, for messages about requests (WRIT_SLACK_BOT_TOKEN keeps it out of the process list)',
    more: 'see [Approve in Slack](../integrations/SLACK.md)',
  },
  'slack.signing_secret': {
    default: null,
    kind: { is: 'secret' },
    placeholder: 'secret',
    help: 'the signing secret of the Slack app, by which requests of Slack are known',
  },
  'slack.channel': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'id',
    help: 'the id of the Slack channel for requests, such as C0123456789',
  },
  'slack.channels': {
    default: '',
    kind: { is: 'pairs' },
    placeholder: 'pairs',
    help: 'the Slack channels of single groups, such as finance=C0123456789, separated by commas',
  },
  'slack.api': {
    default: 'https://slack.com/api',
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: "the address of Slack's Web API; https, or http on this machine",
  },
  'teams.app_id': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'id',
    help: 'the app id of the bot in Microsoft Teams, for messages about requests',
    more: 'see [Approve in Teams](../integrations/TEAMS.md)',
  },
  'teams.app_secret': {
    default: null,
    kind: { is: 'secret' },
    placeholder: 'secret',
    help: 'the client secret of the bot (WRIT_TEAMS_APP_SECRET keeps it out of the process list)',
  },
  'teams.tenant': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'id',
    help: 'the id of the Microsoft Entra tenant whose people may act',
  },
  'teams.channel': {
    default: null,
    kind: { is: 'text' },
    placeholder: 'id',
    help: 'the id of the Teams channel for requests, such as 19:abc@thread.tacv2',
  },
  'teams.channels': {
    default: '',
    kind: { is: 'pairs' },
    placeholder: 'pairs',
    help: 'the Teams channels of single groups, such as finance=19:abc@thread.tacv2, separated by commas',
  },
  'teams.service_url': {
    default: 'https://smba.trafficmanager.net/teams',
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: 'the address of the Bot Framework connector; https, or http on this machine',
  },
  'teams.login': {
    default: 'https://login.microsoftonline.com',
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: 'the address of Microsoft Entra; https, or http on this machine',
  },
  'teams.metadata': {
    default: 'https://login.botframework.com/v1/.well-known/openidconfiguration',
    kind: { is: 'issuer' },
    placeholder: 'address',
    help: "the address of the connector's OpenID metadata; https, or http on this machine",
  },
  'log.level': {
    default: 'info',
    kind: { is: 'choice', of: logLevels },
    field: 'logLevel',
    placeholder: 'level',
    help: 'trace, debug, info, warn, error or silent',
  },
  'log.format': {
    default: 'auto',
    kind: { is: 'choice', of: logFormats },
    field: 'logFormat',
    placeholder: 'format',
    help: 'text for people, json for programs, or auto: text on a terminal, else json',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settings;
type Rows = typeof settings;

/** The value of a setting as its kind says. */
export type SettingValue<N extends SettingName> =
  | KindValue<Rows[N]['kind']>
  | (Rows[N]['default'] extends null ? null : never);

type KindValue<Kind extends Setting['kind']> = Kind extends { readonly is: 'integer' }
  ? number
  : Kind extends { readonly is: 'boolean' }
    ? boolean
    : Kind extends { readonly is: 'choice'; readonly of: readonly (infer Choice)[] }
      ? Choice
      : Kind extends { readonly is: 'networks' | 'fields' }
        ? readonly string[]
        : Kind extends { readonly is: 'headers' | 'pairs' }
          ? ReadonlyMap<string, string>
          : Kind extends { readonly is: 'working-hours' }
            ? ReadonlyMap<string, Hours>
            : string;

/** The fields of the configuration that are one setting each; times are in milliseconds. */
export type PlainConfig = {
  readonly [N in SettingName as Rows[N] extends { readonly field: infer F extends string }
    ? F
    : never]: SettingValue<N>;
};

export const settingNames = Object.keys(settings) as readonly SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

/** The environment variable of a setting: `limits.rate_per_minute` → `WRIT_LIMITS_RATE_PER_MINUTE`. */
export function environmentVariableOf(name: SettingName): string {
  return `WRIT_${name.replace('.', '_').toUpperCase()}`;
}

export interface StandardVariable {
  readonly variable: string;
  readonly setting: SettingName;
  /** Returns the value of the setting; null when the variable says nothing. */
  readonly read?: (text: string) => string | null;
}

const trueWhen = (word: string) => (text: string) => (text.toLowerCase() === word ? 'true' : null);

/**
 * Variables that many programs read; of two for one setting the later counts, and a variable with Writ's own
 * name takes precedence. They may be set for all programs of a machine, so a value that Writ cannot use is
 * ignored.
 */
export const standardVariables: readonly StandardVariable[] = [
  { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', setting: 'otel.endpoint' },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', setting: 'otel.traces_endpoint' },
  { variable: 'OTEL_EXPORTER_OTLP_HEADERS', setting: 'otel.headers' },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', setting: 'otel.headers' },
  { variable: 'OTEL_RESOURCE_ATTRIBUTES', setting: 'otel.service_name', read: serviceNameIn },
  { variable: 'OTEL_SERVICE_NAME', setting: 'otel.service_name' },
  { variable: 'OTEL_RESOURCE_ATTRIBUTES', setting: 'otel.resource_attributes' },
  { variable: 'OTEL_SDK_DISABLED', setting: 'otel.disabled', read: trueWhen('true') },
  { variable: 'OTEL_TRACES_EXPORTER', setting: 'otel.disabled', read: trueWhen('none') },
];

/** The attribute `service.name`, for where nothing else names the service. */
function serviceNameIn(attributes: string): string | null {
  return pairsOf(attributes)?.get('service.name') ?? null;
}

/** The flag of a setting: `limits.rate_per_minute` → `--limits-rate-per-minute`. */
export function flagOf(name: SettingName): string {
  return `--${name.replaceAll(/[._]/g, '-')}`;
}
