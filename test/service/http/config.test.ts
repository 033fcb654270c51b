// Where a setting comes from, and the error for a setting that cannot be used.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type ConfigSources, loadConfig } from '../../../src/service/settings/load.ts';
import { settings as allSettings } from '../../../src/service/settings/table.ts';
import { temporaryDirectory } from './service.ts';

function load(sources: Partial<ConfigSources> & { yaml?: string }) {
  const directory = temporaryDirectory();
  if (sources.yaml !== undefined) writeFileSync(join(directory, 'writ.yaml'), sources.yaml);
  return { directory, loaded: loadConfig({ directory, environment: {}, flags: {}, ...sources }) };
}

function problemsOf(sources: Parameters<typeof load>[0]): string {
  const { directory, loaded } = load(sources);
  return loaded.ok ? '' : loaded.problems.join('\n').replaceAll(`${directory}/`, '');
}

test('defaults', () => {
  const { directory, loaded } = load({});
  expect(loaded).toMatchObject({
    ok: true,
    config: {
      host: '127.0.0.1',
      port: 8181,
      policies: join(directory, 'policies'),
      compileTimeoutMs: 60_000,
      data: join(directory, 'var'),
      sandboxToken: null,
      ratePerMinute: 600,
      burst: 100,
      bodyBytesMax: 262_144,
      openRequestsMax: 20,
      logLevel: 'info',
      bodySignatures: 'allow',
      clockBehind: 'refuse',
      durability: 'replicated',
      otelEndpoint: null,
      areAgentReportsTrusted: false,
      publicUrl: null,
      areWebhooksPrivate: false,
      smtp: null,
    },
  });
});

test('flags override the environment, which overrides the file', () => {
  const yaml = 'host: "::"\nport: 1\nlimits:\n  burst: 1\n  rate_per_minute: 1\nsandbox:\n  token: abc\n';
  const environment = { WRIT_PORT: '2', WRIT_LIMITS_RATE_PER_MINUTE: '2', PATH: '/bin' };
  const { directory, loaded } = load({ yaml, environment, flags: { port: '3', host: undefined } });
  expect(loaded).toMatchObject({
    config: { host: '::', port: 3, burst: 1, ratePerMinute: 2, sandboxToken: 'abc' },
  });
  const origins = loaded.ok
    ? Object.fromEntries(loaded.settings.map(({ name, origin }) => [name, origin]))
    : {};
  expect(origins).toMatchObject({
    port: '--port',
    'limits.rate_per_minute': 'WRIT_LIMITS_RATE_PER_MINUTE',
    data: 'default',
    host: join(directory, 'writ.yaml'),
  });
  expect(JSON.stringify(loaded.ok && loaded.settings)).not.toContain('abc');
});

test('the collector address can come from the standard OpenTelemetry variable', () => {
  const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  const { loaded } = load({ environment: standard });
  expect(loaded).toMatchObject({ config: { otelEndpoint: 'http://collector:4318' } });
  const own = { ...standard, WRIT_OTEL_ENDPOINT: 'https://other' };
  expect(load({ environment: own }).loaded).toMatchObject({ config: { otelEndpoint: 'https://other' } });
  const none = { OTEL_EXPORTER_OTLP_ENDPOINT: '' };
  expect(load({ environment: none }).loaded).toMatchObject({ config: { otelEndpoint: null } });
});

test('OpenTelemetry variables follow the specification, and invalid values are ignored', () => {
  const environment = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/traces',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20hush, x-tenant = a',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,region=eu%2C1',
    OTEL_SDK_DISABLED: 'TRUE',
  };
  const { loaded } = load({ environment });
  expect(loaded).toMatchObject({
    config: {
      otelTracesEndpoint: 'https://collector/traces',
      otelServiceName: 'other',
      isOtelDisabled: true,
      ignoredVariables: [],
    },
  });
  const { config, settings: shown } = loaded as Extract<typeof loaded, { ok: true }>;
  expect(Object.fromEntries(config.otelHeaders)).toEqual({ authorization: 'Basic hush', 'x-tenant': 'a' });
  expect(config.otelResourceAttributes.get('region')).toBe('eu,1');
  expect(JSON.stringify(shown)).not.toContain('hush');
  const named = { ...environment, OTEL_SERVICE_NAME: 'gate', OTEL_SDK_DISABLED: '1' };
  expect(load({ environment: named }).loaded).toMatchObject({
    config: { otelServiceName: 'gate', isOtelDisabled: false },
  });
  const off = load({ environment: { OTEL_TRACES_EXPORTER: 'none' } }).loaded;
  expect(off).toMatchObject({ config: { isOtelDisabled: true } });
  const wrong = load({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'x', OTEL_EXPORTER_OTLP_HEADERS: 'x' } });
  expect(wrong.loaded).toMatchObject({
    config: {
      otelEndpoint: null,
      ignoredVariables: [
        'otel.endpoint (from OTEL_EXPORTER_OTLP_ENDPOINT) must be an http or https address without a password',
        expect.stringContaining('otel.headers (from OTEL_EXPORTER_OTLP_HEADERS) must be such as'),
      ],
    },
  });
});

test('accepts the words of choice settings', () => {
  const yaml = 'signatures:\n  compatibility: forbid\nclock:\n  behind: accept\n';
  expect(load({ yaml }).loaded).toMatchObject({
    config: { bodySignatures: 'forbid', clockBehind: 'accept' },
  });
});

test('reads trusted proxies, and the waiting time of new second factors', () => {
  const configOf = (sources: Parameters<typeof load>[0]) => {
    const { loaded } = load(sources);
    return loaded.ok ? loaded.config : null;
  };
  expect(configOf({})).toMatchObject({ trustedProxies: [], newFactorMs: 3_600_000 });
  const networks = ['10.0.0.0/8', '::1', '2001:db8::/32'];
  const yaml = `trusted_proxies: [${networks.map((one) => `"${one}"`).join(', ')}]\npeople:\n  new_factor_minutes: 5\n`;
  expect(configOf({ yaml })).toMatchObject({ trustedProxies: networks, newFactorMs: 300_000 });
  const environment = { WRIT_TRUSTED_PROXIES: networks.join(', '), WRIT_PEOPLE_NEW_FACTOR_MINUTES: '0' };
  expect(configOf({ environment })).toMatchObject({ trustedProxies: networks, newFactorMs: 0 });
  for (const wrong of ['10.0.0.0/33', '::1/129', 'proxy.example.com', '10.0.0.0/8/8', 'true', '10.0.0.0/']) {
    expect(problemsOf({ environment: { WRIT_TRUSTED_PROXIES: wrong } })).toMatch(/must be networks such as/);
  }
  expect(problemsOf({ yaml: 'trusted_proxies: [1]\n' })).toMatch(/must be networks such as/);
  expect(problemsOf({ yaml: 'trusted_proxies: true\n' })).toMatch(/must be networks such as/);
});

test('the public address, webhooks and mail', () => {
  const yaml =
    'public_url: https://writ.example.com/\nwebhooks:\n  allow_private: true\nsmtp:\n  url: smtps://writ:s3cret@mail.example.com\n  from: writ@example.com\n';
  const { loaded } = load({ yaml });
  expect(loaded).toMatchObject({
    config: {
      publicUrl: 'https://writ.example.com',
      areWebhooksPrivate: true,
      smtp: { url: 'smtps://writ:s3cret@mail.example.com', from: 'writ@example.com' },
    },
  });
  expect(JSON.stringify(loaded.ok && loaded.settings)).not.toContain('s3cret');
  expect(load({ environment: { WRIT_WEBHOOKS_ALLOW_PRIVATE: 'false' } }).loaded).toMatchObject({
    config: { areWebhooksPrivate: false },
  });
  expect(problemsOf({ environment: { WRIT_WEBHOOKS_ALLOW_PRIVATE: 'yes' } })).toMatch(
    /must be true or false/,
  );
  expect(problemsOf({ yaml: 'smtp:\n  url: http://mail\n' })).toMatch(/must be an smtp or smtps address/);
  expect(problemsOf({ yaml: 'smtp:\n  url: smtp://mail\n' })).toBe('smtp.from is required with smtp.url');
  // The service ignores the variables of commands that call a service.
  const environment = {
    WRIT_URL: 'http://x',
    WRIT_TOKEN: 'writp_x',
    WRIT_TOKEN_FILE: '/run/token',
    WRIT_API_KEY: 'writ_x',
    WRIT_AGENT: 'a',
  };
  expect(load({ environment }).loaded.ok).toBe(true);
});

test('issuers of agents are a list of maps or of texts, or one text', () => {
  const yaml = `
agents:
  issuers:
    - { issuer: 'https://a.example', audience: 'https://writ.example.com', keys: keys.json, lifetime: 900 }
    - https://b.example audience=writ keys=https://b.example/keys
`;
  const { directory, loaded } = load({ yaml });
  const a = { issuer: 'https://a.example', audience: 'https://writ.example.com', lifetimeSeconds: 900 };
  const keys = pathToFileURL(join(directory, 'keys.json')).href;
  const b = { issuer: 'https://b.example', audience: 'writ', lifetimeSeconds: 86_400 };
  const both = [
    { ...a, keys },
    { ...b, keys: 'https://b.example/keys' },
  ];
  expect(loaded).toMatchObject({ config: { agentIssuers: both } });
  const text =
    'https://a.example audience=https://writ.example.com lifetime=900, https://b.example audience=writ';
  expect(load({ environment: { WRIT_AGENTS_ISSUERS: text } }).loaded).toMatchObject({
    config: { agentIssuers: [a, { ...b, keys: null }] },
  });
  expect(load({}).loaded).toMatchObject({ config: { agentIssuers: [] } });
});

test.each([
  'https://a.example',
  'http://a.example audience=writ',
  'https://a.example audience=sts.amazonaws.com',
  'https://a.example audience=a audience=b',
  'https://a.example audience=a issuer=https://b.example',
  'https://a.example audience=a, https://a.example audience=b',
  'https://a.example audience=a lifetime=0',
  'https://a.example audience=a lifetime=soon',
  'https://a.example audience=a keys=http://a.example/keys',
  'https://a.example audience=a secret=b',
])('no issuers of agents are %s', (text) => {
  expect(load({ environment: { WRIT_AGENTS_ISSUERS: text } }).loaded).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('agents.issuers')],
  });
});

test('paths in a file are relative to the file', () => {
  const { directory, loaded } = load({ yaml: 'policies: rules\ndata: /srv/writ\n' });
  expect(loaded).toMatchObject({ config: { policies: join(directory, 'rules'), data: '/srv/writ' } });
});

test.each([
  ['prot: 1', {}, 'writ.yaml: unknown key `prot`; did you mean `port`'],
  ['limits:\n  brust: 1', {}, 'writ.yaml: unknown key `limits.brust`; did you mean `limits.burst`'],
  ['limits: 7', {}, 'writ.yaml: unknown key `limits`'],
  ['- a', {}, 'writ.yaml: unknown key `(the whole file)`'],
  ['port: [', {}, 'writ.yaml: '],
  ['port: 1\nport: 2', {}, 'writ.yaml: Map keys must be unique'],
  ['port: 70000', {}, 'port (from writ.yaml) must be a whole number from 0 to 65535'],
  ['port:', {}, 'port (from writ.yaml) must be set to a value'],
  ['host: 7', {}, 'host (from writ.yaml) must be a non-empty string'],
  ['', { WRIT_PROT: '1' }, 'unknown environment variable `WRIT_PROT`; did you mean `WRIT_PORT`'],
  ['', { WRIT_PORT: 'tcp://10.0.0.1:80' }, 'port (from WRIT_PORT) must be a whole number'],
  ['', { WRIT_LOG_LEVEL: 'loud' }, 'log.level (from WRIT_LOG_LEVEL) must be one of trace, debug, info'],
  ['', { WRIT_OTEL_ENDPOINT: 'collector:4318' }, 'otel.endpoint (from WRIT_OTEL_ENDPOINT) must be an http'],
  ['', { WRIT_OTEL_ENDPOINT: 'http://a:hush@b' }, 'must be an http or https address without a password'],
  ['', { WRIT_OTEL_HEADERS: 'no pair' }, 'otel.headers (from WRIT_OTEL_HEADERS) must be such as'],
  [
    'signatures:\n  compatibility: no',
    {},
    'signatures.compatibility (from writ.yaml) must be one of allow, forbid',
  ],
  ['', { WRIT_LIMITS_BURST: '0' }, 'limits.burst (from WRIT_LIMITS_BURST) must be'],
])('%j with %j is refused', (yaml, environment, message) => {
  expect(problemsOf({ yaml, environment })).toContain(message);
});

test('reports all problems at once', () => {
  expect(problemsOf({ yaml: 'a: 1\nport: x', environment: { WRIT_HOST: '' } }).split('\n')).toHaveLength(3);
});

test('ignores the variables that Kubernetes sets for a service called writ', () => {
  expect(problemsOf({ environment: { WRIT_SERVICE_HOST: '10.0.0.1', WRIT_PORT_8181_TCP: 'x' } })).toBe('');
});

test('a named file must exist', () => {
  expect(problemsOf({ file: 'other.yaml' })).toBe('other.yaml does not exist');
});

test('`writ config` prints each effective value and its origin, and no secret', async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'writ.yaml'), 'port: 9000\nsandbox:\n  token: hush-hush\n');
  const writ = fileURLToPath(new URL('../../../src/cli/writ.js', import.meta.url));
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    spawnSync(process.execPath, [writ, 'config', ...args], {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...environment },
    });
  const text = run([], { WRIT_HOST: '::1' });
  expect(text.status).toBe(0);
  expect(text.stdout).toMatch(new RegExp(`^port +9000 +${join(directory, 'writ.yaml')}$`, 'm'));
  expect(text.stdout).toMatch(/^host +::1 +WRIT_HOST$/m);
  expect(text.stdout).toMatch(/^log\.level +info +default$/m);
  expect(text.stdout).toMatch(/^sandbox\.token +\*{8} /m);
  const { settings } = JSON.parse(run(['--json']).stdout) as { settings: readonly object[] };
  expect(settings).toContainEqual({ name: 'port', value: '9000', origin: join(directory, 'writ.yaml') });
  expect(settings).toHaveLength(Object.keys(allSettings).length);
  const wrong = run([], { WRIT_PROT: '1' });
  expect(wrong).toMatchObject({ status: 2, stdout: '' });
  expect(wrong.stderr).toContain('did you mean `WRIT_PORT`');
  expect(text.stdout + wrong.stderr + JSON.stringify(settings)).not.toContain('hush');
});

test.each(['smtp.from', 'host', 'sandbox.token', 'otel.endpoint', 'public_url', 'data'])(
  'a line break in %s is refused: the value would stand in a header or a line of the log',
  (name) => {
    const variable = `WRIT_${name.replaceAll('.', '_').toUpperCase()}`;
    for (const value of ['http://a.example/\r\nBcc: eve@example.com', 'a\nb', 'a\u0000']) {
      expect(load({ environment: { [variable]: value } }).loaded).toMatchObject({
        ok: false,
        problems: [expect.stringContaining('control characters')],
      });
    }
  },
);

test('a bundle replaces the directory, and one from a URL must be signed', () => {
  const key = 'k'.repeat(43);
  const away = 'bundle: https://policies.example.com/policies.writ';
  expect(problemsOf({ yaml: away })).toMatch(/^bundle\.key is required if bundle is an address/);
  expect(problemsOf({ yaml: `bundle.key: ${key}` })).toBe('bundle is required with bundle.key');
  expect(problemsOf({ yaml: 'bundle: a.writ\npolicies: rules' })).toMatch(/^policies and bundle cannot both/);
  expect(problemsOf({ yaml: 'bundle: a.writ\nbundle.key: short' })).toContain('must be the public key');
  expect(problemsOf({ yaml: 'bundle: http://me:secret@example.com/a' })).toContain('without a password');
  expect(load({ yaml: 'bundle: a.writ' }).loaded).toMatchObject({
    config: {
      bundle: { source: expect.stringMatching(/^\/.*\/a\.writ$/), key: null, isOlderAllowed: false },
    },
  });
  expect(load({ yaml: `${away}\nbundle.key: ${key}\nbundle.poll_seconds: 5` }).loaded).toMatchObject({
    config: { bundle: { source: 'https://policies.example.com/policies.writ', key, pollMs: 5_000 } },
  });
});

test('the settings of the token issuer must be complete, and its address encrypted', () => {
  const issuer = 'https://id.example.com';
  expect(problemsOf({ yaml: `users: { issuer: ${issuer} }` })).toBe(
    'users.audience is required with users.issuer',
  );
  expect(problemsOf({ yaml: 'users: { audience: writ }' })).toBe(
    'users.issuer is required with users.audience',
  );
  expect(problemsOf({ yaml: `users: { keys: ${issuer}/keys }` })).toBe(
    'users.issuer is required with users.keys',
  );
  const plain = 'users: { issuer: https://id.example.com, audience: writ, keys: http://id.example.com/keys }';
  expect(problemsOf({ yaml: plain })).toContain('users.keys (from writ.yaml) must be an https address');
  const { loaded } = load({ yaml: `users: { issuer: ${issuer}, audience: writ, groups_claim: teams }` });
  expect(loaded).toMatchObject({
    config: { users: { issuer, audience: 'writ', keys: null, rolesClaim: 'roles', groupsClaim: 'teams' } },
  });
});

test('the witnesses of the transparency log, and how many of them have to cosign', () => {
  const key = 'witness.example.com+f849e433+BBtd2AYVPTlNQOkxxL3gK6mAf8Rlm6u+LTA5ijSz1kXX';
  const witness = `${key} https://witness.example.com/`;
  const transparencyOf = (flags: ConfigSources['flags']) => {
    const { loaded } = load({ flags });
    return loaded.ok ? loaded.config.transparency : loaded.problems.join('\n');
  };
  expect(transparencyOf({})).toEqual({ name: null, witnesses: [], quorum: 0 });
  expect(
    transparencyOf({ 'transparency.witnesses': witness, 'transparency.name': 'a.example/b' }),
  ).toMatchObject({
    name: 'a.example/b',
    witnesses: [{ key: { name: 'witness.example.com' }, address: 'https://witness.example.com' }],
    quorum: 1,
  });
  expect(transparencyOf({ 'transparency.witnesses': witness, 'transparency.quorum': 0 })).toMatchObject({
    quorum: 0,
  });
  expect(transparencyOf({ 'transparency.quorum': 1 })).toBe(
    'transparency.quorum must be at most the number of witnesses, 0',
  );
  expect(transparencyOf({ 'transparency.name': 'two words' })).toContain('must be a name without spaces');
  for (const wrong of [key, `${key.replace('f849', '0000')} https://w.example`, `${key} gopher://w.example`])
    expect(transparencyOf({ 'transparency.witnesses': wrong })).toContain('transparency.witnesses');
});

describe('the receiver of records', () => {
  const siem = (lines: string) =>
    load({ yaml: `siem:\n  url: https://siem.example.com/in\n${lines}` }).loaded;

  test('is set as a whole, with the defaults of what is left out', () => {
    expect(load({ yaml: '' }).loaded).toMatchObject({ config: { siem: null } });
    expect(
      siem('  headers: authorization=Bearer%20t\n  payload_fields: [amount, to.country]\n'),
    ).toMatchObject({
      config: {
        siem: {
          name: 'siem',
          url: 'https://siem.example.com/in',
          format: 'ocsf',
          body: 'array',
          start: 'now',
          headers: new Map([['authorization', 'Bearer t']]),
          payloadFields: ['amount', 'to.country'],
          recordsMax: 500,
          bytesMax: 1_048_576,
          timeoutMs: 30_000,
          isCompressed: true,
          ca: null,
          skip: null,
        },
      },
    });
    const loaded = siem('  headers: x-api-key=s3cret\n');
    expect(JSON.stringify(loaded.ok && loaded.settings)).not.toContain('s3cret');
  });

  test.each([
    ['siem:\n  url: http://siem.example.com/\n', /siem\.url .* must be an https or syslog\+tls address/],
    ['siem:\n  url: syslog://siem.example.com\n', /siem\.url .* must be/],
    ['siem:\n  url: https://a:b@siem.example.com\n', /siem\.url .* must be/],
    ['siem:\n  url: https://siem.example.com\n  format: cef\n', /cef requires a siem\.url with syslog\+tls/],
    ['siem:\n  url: syslog+tls://siem.example.com\n', /all other formats one with https/],
    [
      'siem:\n  url: https://siem.example.com\n  key: k.pem\n',
      /siem\.certificate and siem\.key are set together/,
    ],
    ['siem:\n  format: otlp\n', /siem\.url is required with siem\.format/],
    [
      'siem:\n  url: https://siem.example.com\n  payload_fields: [a..b]\n',
      /payload_fields .* paths of fields/,
    ],
    ['siem:\n  url: https://siem.example.com\n  skip: 0\n', /siem\.skip .* a whole number from 1/],
  ])('%j is refused', (yaml, problem) => {
    expect(problemsOf({ yaml })).toMatch(problem);
  });

  test.each(['http://localhost:4318/v1/logs', 'http://127.0.0.1:4318/v1/logs', 'http://[::1]:4318/v1/logs'])(
    'may be without encryption on this machine: %s',
    (url) => {
      expect(load({ yaml: `siem:\n  url: ${url}\n  format: otlp\n` }).loaded).toMatchObject({
        config: { siem: { url } },
      });
    },
  );
});
