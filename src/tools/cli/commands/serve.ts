// `writ serve`: starts the service. Every setting is a flag; the environment and writ.yaml give the other
// values.

import type { Command } from 'commander';
import { flagOf, type SettingName, settings } from '../../../service/http/config.ts';
import { serve } from '../../../service/http/main.ts';
import { StartError } from '../../../service/http/start-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';
import { tellReady } from '../tasks/supervisor.ts';

export function defineServe(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--config <file>', 'configuration file (default: writ.yaml where there is one)')
    .option('--demo', 'serve simulated agents and people on data of their own, thrown away at the end');
  for (const name of names) {
    const { value, meaning } = descriptions[name];
    const preset = settings[name].default;
    command.option(
      `${flagOf(name)} <${value}>`,
      preset === null || preset === '' ? meaning : `${meaning} (default: ${preset})`,
    );
  }
  command.addHelpText('after', examples).action(async (options: Options) => {
    finish(await start(options));
  });
}

const examples = `
Examples:
  writ serve
  writ serve --demo
  writ serve --port 9000 --policies ./policies --data /var/lib/writ
  writ serve --bundle https://policies.example.com/writ.bundle --bundle-key "$BUNDLE_KEY"
  writ serve --store postgres://writ@db.example.com/writ --data /var/lib/writ
  WRIT_LOG_LEVEL=warn writ serve --config /etc/writ.yaml

Flags override environment variables (WRIT_PORT and so on), which override the file, which overrides the defaults.
SIGTERM and SIGINT stop the service in order, and a second signal at once; SIGHUP reloads the policies.`;

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
    meaning: 'whether a bundle that was made before the one in force may take over: true or false',
  },
  'bundle.poll_seconds': { value: 'seconds', meaning: 'how often another bundle is looked for' },
  data: { value: 'directory', meaning: 'the data directory, with the records' },
  store: {
    value: 'address',
    meaning:
      'a PostgreSQL database that keeps the records instead (WRIT_STORE hides a password from other users)',
  },
  'sandbox.token': {
    value: 'token',
    meaning: 'the token of POST /plants; made at the first start unless it is set',
  },
  'store.durability': {
    value: 'choice',
    meaning: 'what the server of the database promises: replicated (a standby has all), managed or single',
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

interface Options {
  readonly config?: string;
  readonly demo?: boolean;
}

async function start({ config, demo = false, ...given }: Options): Promise<ExitCode> {
  const values: Readonly<Record<string, string | undefined>> = given;
  const flags = Object.fromEntries(names.map((name) => [name, values[optionName(name)]]));
  try {
    if (demo) await startDemo({ config, flags });
    else await serve({ file: config, flags });
    await tellReady((line) => printError(`${line}\n`));
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    printError(`${error.message}\n`);
    return error.exitCode === 2 ? exitCodes.usage : exitCodes.wrong;
  }
}

type Flags = Readonly<Record<string, string | undefined>>;

/** What a demo may be told; everything else would let it reach what is real, or strangers reach it. */
const demoFlags: ReadonlySet<string> = new Set<SettingName>(['port', 'log.level']);

async function startDemo({ config, flags }: { readonly config?: string | undefined; readonly flags: Flags }) {
  const given = Object.keys(flags).filter((name) => flags[name] !== undefined && !demoFlags.has(name));
  const refused = [
    ...(config === undefined ? [] : ['--config']),
    ...given.map((name) => flagOf(name as SettingName)),
  ];
  if (refused.length > 0)
    throw new UsageError(
      `a demo has data and settings of its own: leave out ${refused.join(', ')}, or leave out --demo`,
    );
  const { openDemo } = await import('../../demo/demo.ts');
  const { demoWelcome } = await import('../../demo/demo-welcome.ts');
  const demo = await openDemo({
    port: flags.port,
    logLevel: flags['log.level'],
    onProgress: (text) => print(`${text}\n`),
  });
  if (demo !== null) print(demoWelcome(demo));
}

/** The name that the parser gives to the value of a flag: `--limits-burst` is `limitsBurst`. */
function optionName(name: SettingName): string {
  return flagOf(name)
    .slice(2)
    .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
}
