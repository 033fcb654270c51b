// `writ doctor` on installations with one broken thing each: it names that thing and its fix, and reports
// nothing else.

import { generateKeyPairSync, sign } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NamedFinding } from '../../../src/cli/commands/doctor.ts';
import { diskFinding, examineRoom } from '../../../src/cli/doctor/machine.ts';
import { examineAddress } from '../../../src/cli/doctor/network.ts';
import { compileToProgram } from '../../../src/pipeline.ts';
import { readSources } from '../../../src/service/policies/bundles/read-sources.ts';
import { writeBundle } from '../../../src/service/policies/compiled/bundle.ts';
import { createSetCompiler } from '../../../src/service/policies/set-compiler.ts';
import { loadConfig } from '../../../src/service/settings/load.ts';
import { type Cursor, cursorsIn, firstCursor } from '../../../src/service/siem/cursor.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { authority, ofStranger } from '../../service/siem/certificates.ts';
import { startHttpReceiver, startSyslogReceiver } from '../../service/siem/receivers.ts';
import { writtenFile } from '../../service/siem/stream.ts';
import { requestRow, temporaryFolder } from '../../service/store/rows.ts';
import { startMailServer } from '../../service/webhooks/mail-server.ts';
import { writ } from '../writ.ts';

const policy = 'action a.b { n: integer }\npolicy p on a.b { allow x when payload.n > 1 }\n';
let folder = '';
let data = '';
let database = '';

/** A store that was served once, policies, and a free port. */
beforeEach(async () => {
  folder = temporaryFolder();
  data = join(folder, 'var');
  database = join(data, 'writ.db');
  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies/a.policy'), policy);
  const store = await openStore({ path: database });
  await store.requests.append(requestRow(), { openMax: 1 });
  await store.close();
});

interface Said {
  readonly ok: boolean;
  readonly findings: readonly NamedFinding[];
}

async function doctor(
  env: Readonly<Record<string, string>> = {},
): Promise<Said & { readonly code: number | null }> {
  const { code, stdout, stderr } = await writ(['doctor', '--json', '--port', '0'], { cwd: folder, env });
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Said) };
}

/** The findings that are not in order, as `PART STATE`. The speed of this machine's disk does not count. */
const faultsIn = ({ findings }: Said) =>
  findings
    .filter(
      ({ state, what }) => state === 'wrong' || (state === 'warning' && !what.startsWith('a commit takes')),
    )
    .map(({ part, state }) => `${part} ${state}`);

/** Expects exactly one fault; returns its text and its fix. */
async function fault(part: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const said = await doctor(env);
  const [state] = faultsIn(said).map((one) => one.split(' ')[1]);
  expect(faultsIn(said)).toEqual([`${part} ${state}`]);
  expect(said.code).toBe(state === 'wrong' ? 1 : 0);
  const found = said.findings.find((one) => one.part === part && one.state === state);
  return found !== undefined && 'fix' in found ? `${found.what} | ${found.fix}` : '';
}

/** The port of a server of the test. */
async function listening(server: ReturnType<typeof createServer>, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((done) => server.listen(0, host, done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const serving = async (answer: RequestListener) =>
  `http://127.0.0.1:${await listening(createHttpServer(answer))}`;

async function change(statement: string): Promise<void> {
  const opened = new Database(database);
  opened.exec(statement);
  opened.close();
}

test('finds nothing wrong with a good installation, and does not change it', async () => {
  const bytes = () => [database, `${database}.key`].map((path) => readFileSync(path).toString('base64'));
  const before = bytes();
  const said = await doctor();
  expect([said.code, said.ok, faultsIn(said)]).toEqual([0, true, []]);
  expect(bytes()).toEqual(before);
  // SQLite leaves its shared-memory files beside the database.
  expect(readdirSync(data).filter((name) => !name.startsWith('writ.db'))).toEqual([]);
  const empty = await writ(['doctor', '--port', '0', '--data', 'nothing/yet'], { cwd: folder });
  expect([empty.code, empty.stdout]).toEqual([0, expect.stringContaining('the first start creates it')]);
  expect(existsSync(join(folder, 'nothing'))).toBe(false);
});

test('counts each rule once, as the service and `writ build` do', async () => {
  writeFileSync(
    join(folder, 'policies/a.policy'),
    'action a.b, a.c, a.d { n: integer }\npolicy p on a.* { allow x when payload.n > 1\n deny y when payload.n > 9 }\n',
  );
  const { findings } = await doctor();
  expect(findings.find(({ part }) => part === 'policies')?.what).toMatch(/: 1 file, 2 rules$/);
  const built = await writ(['build', 'policies', '-o', 'a.writ'], { cwd: folder });
  expect(built.stdout).toMatch(/: 2 rules, /);
  const compiled = createSetCompiler()(await readSources(join(folder, 'policies')));
  expect(compiled.result).toMatchObject({ kind: 'compiled', set: { rules: 2 } });
});

test('prints each fault with its fix', async () => {
  chmodSync(`${database}.key`, 0o644);
  const { code, stdout } = await writ(['doctor', '--port', '0'], { cwd: folder });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^wrong {4}key +others may read.*\n +fix: run `chmod 600 .*writ\.db\.key`$/m);
});

test('settings', async () => {
  const { code, findings } = await doctor({ WRIT_PROT: '1' });
  expect([code, findings]).toEqual([1, [expect.objectContaining({ part: 'settings', state: 'wrong' })]]);
  expect(findings[0]?.what).toContain('did you mean `WRIT_PORT`');
});

describe('the machine', () => {
  test('a data directory that is not writable', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await fault('data', { WRIT_DATA: join(folder, 'file/var') })).toMatch(/cannot be written.*chown/);
  });

  test.each([
    [{ type: 0, bsize: 4096, bavail: 1_000 }, 'wrong', /3 MiB are free.*/],
    [{ type: 0, bsize: 4096, bavail: 200_000 }, 'warning', /fewer than a million requests/],
    [{ type: 0x6969, bsize: 4096, bavail: 9_000_000 }, 'wrong', /network file system/],
    [{ type: 0, bsize: 4096, bavail: 9_000_000 }, 'ok', /35156 MiB are free/],
  ])('a disk of %j is %s', (room, state, what) => {
    const loaded = loadConfig({ directory: folder, environment: {}, flags: {} });
    if (!loaded.ok) throw new Error(loaded.problems.join());
    expect(examineRoom(loaded.config, () => room)).toMatchObject({
      state,
      what: expect.stringMatching(what),
    });
  });

  test('a disk with slow commits', () => {
    expect(diskFinding(0.2, 'here')).toMatchObject({ state: 'ok' });
    expect(diskFinding(80, 'here')).toMatchObject({ state: 'warning', fix: expect.stringContaining('SSD') });
  });

  test('a port that another program uses', async () => {
    const port = await listening(createServer());
    const { code, stdout } = await writ(['doctor', '--port', String(port)], { cwd: folder });
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/wrong +port .*in use.*\n +fix: stop that program/),
    ]);
  });

  test('a port that the service uses', async () => {
    const store = await openStore({ path: database });
    onTestFinished(() => store.close());
    await store.serve();
    const port = await listening(createServer());
    const { code, stdout } = await writ(['doctor', '--port', String(port)], { cwd: folder });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/served by a process[\s\S]*while the service runs/),
    ]);
  });
});

describe('the records', () => {
  test.each([
    ['lost', () => rmSync(`${database}.key`), /key.*is missing/],
    [
      'of another store',
      () => writeFileSync(`${database}.key`, 'ab'.repeat(32)),
      /not the master key of this/,
    ],
    ['cut', () => writeFileSync(`${database}.key`, 'ab'), /64 hexadecimal digits/],
    ['readable by others', () => chmodSync(`${database}.key`, 0o640), /mode 0640.*chmod 600/],
    ['in a directory that everybody writes', () => chmodSync(data, 0o777), /exchange files.*chmod o-w/],
    ['without its database', () => rmSync(database), /restore the database from a backup/],
  ])('a master key %s', async (_name, spoil, what) => {
    spoil();
    expect(await fault('key')).toMatch(what);
  });

  test.each([
    ['no database', () => writeFileSync(database, 'x'.repeat(9_000)), /not a database.*restore it/],
    ['of a later version', () => change('PRAGMA user_version = 999'), /later version.*restore a backup/],
    [
      'changed by hand',
      () => change("INSERT INTO settings VALUES ('by hand', '')"),
      /outside of the service.*writ audit verify/,
    ],
  ])('a store %s', async (_name, spoil, what) => {
    await spoil();
    expect(await fault('store')).toMatch(what);
  });

  test('a database that does not answer', async () => {
    // Nothing listens on port 1.
    const said = await fault('store', { WRIT_STORE: 'postgres://writ@127.0.0.1:1/writ' });
    expect(said).toMatch(/127\.0\.0\.1:1\/writ cannot be reached \| start the database/);
  });

  test('a clock that is behind the records', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const store = await openStore({ path: database });
    const atMs = Date.now();
    await store.requests.append(requestRow({ createdAtMs: atMs, decidedAtMs: atMs }), { openMax: 1 });
    await store.close();
    expect(await fault('clock')).toMatch(/the newest record is from.*correct the clock/);
  });

  test('a clock that differs from other clocks', async () => {
    const address = await serving((_request, reply) => {
      reply.setHeader('date', new Date(Date.now() + 120_000).toUTCString());
      reply.end();
    });
    expect(await fault('clock', { WRIT_PUBLIC_URL: address })).toMatch(
      /the clock of 127\.0\.0\.1.*timedatectl/,
    );
  });
});

describe('the policies', () => {
  test('with an error', async () => {
    writeFileSync(join(folder, 'policies/a.policy'), policy.replace('payload.n', 'n'));
    expect(await fault('policies')).toMatch(/have an error: .*\| node \S+writ\.js check /);
  });

  test('that are missing', async () => {
    rmSync(join(folder, 'policies'), { recursive: true });
    expect(await fault('policies')).toMatch(/does not exist \| node \S+writ\.js init /);
  });

  test('whose proofs do not cover the payloads that the service accepts', async () => {
    expect(await fault('policies', { WRIT_LIMITS_BODY_BYTES: '300000' })).toBe(
      'proofs of guarantees cover payloads of up to 262144 bytes, and limits.body_bytes is 300000 | set limits.body_bytes to at most 262144',
    );
  });

  test('that every user can change', async () => {
    chmodSync(join(folder, 'policies'), 0o777);
    expect(await fault('policies')).toMatch(/every user.*chmod -R o-w/);
  });
});

describe('a bundle', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'jwk' }).x ?? '';
  const bundleAt = (madeMs: number, isSigned = true) => {
    const { packed } = compileToProgram({
      files: [{ path: 'a.policy', text: policy }],
      readListFile: () => ({ code: 'list-file-missing', message: '' }),
    });
    const texts = [{ path: 'a.policy', kind: 'policy' as const, text: policy }];
    return writeBundle(
      { madeMs, commit: null, texts, program: packed! },
      isSigned ? { key, sign: (bytes) => sign(null, bytes, privateKey) } : null,
    );
  };
  const settings = { WRIT_BUNDLE: 'policies.writ', WRIT_BUNDLE_KEY: key };
  const put = (bytes: Uint8Array) => writeFileSync(join(folder, 'policies.writ'), bytes);

  test('that is valid', async () => {
    put(await bundleAt(2_000));
    expect(faultsIn(await doctor(settings))).toEqual([]);
  });

  test('that is missing, damaged, not signed, or by another key', async () => {
    expect(await fault('bundle', settings)).toMatch(/cannot be read.*writ build/);
    const bytes = await bundleAt(2_000);
    put(bytes.map((byte, at) => (at === 200 ? byte ^ 1 : byte)));
    expect(await fault('bundle', settings)).toMatch(/damaged/);
    put(await bundleAt(2_000, false));
    expect(await fault('bundle', settings)).toMatch(/is not signed/);
    expect(await fault('bundle', { WRIT_BUNDLE: 'policies.writ' })).toMatch(/accepted from anyone.*--sign/);
    put(bytes);
    expect(await fault('bundle', { ...settings, WRIT_BUNDLE_KEY: 'A'.repeat(43) })).toMatch(
      /with another key/,
    );
  });

  test('that is older than the active one', async () => {
    mkdirSync(join(data, 'bundle'));
    writeFileSync(join(data, 'bundle/last.writ'), await bundleAt(3_000));
    put(await bundleAt(2_000));
    expect(await fault('bundle', settings)).toMatch(/earlier than the active one.*allow_older/);
  });
});

describe('the address', () => {
  const certificates = join(import.meta.dirname, 'certificates');
  const textOf = (name: string) => readFileSync(join(certificates, `${name}.pem`), 'utf8');
  const examine = (publicUrl: string, trustedProxies: readonly string[] = ['127.0.0.1/32']) => {
    const loaded = loadConfig({
      directory: folder,
      environment: {},
      flags: { public_url: publicUrl, trusted_proxies: trustedProxies.join(' ') },
    });
    if (!loaded.ok) throw new Error(loaded.problems.join());
    return examineAddress(loaded.config);
  };

  async function served(certificate: string, isAuthorityKnown = true): Promise<string> {
    const usual = getCACertificates('default');
    if (isAuthorityKnown) setDefaultCACertificates([...usual, textOf('authority')]);
    onTestFinished(() => setDefaultCACertificates(usual));
    const server = createTlsServer({ key: textOf('key'), cert: textOf(certificate) });
    return `https://localhost:${await listening(server, 'localhost')}`;
  }

  test('with a valid certificate', async () => {
    const address = await served('right');
    expect(await examine(address)).toMatchObject({ state: 'ok' });
    expect(await examine(address, [])).toMatchObject({
      state: 'warning',
      fix: expect.stringContaining('trusted_proxies'),
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2119-12-30') });
    onTestFinished(() => void vi.useRealTimers());
    expect(await examine(address)).toMatchObject({
      state: 'warning',
      what: expect.stringContaining('in 2 days'),
    });
  });

  test.each([
    ['expired', 'expired', true, 'CERT_HAS_EXPIRED', /renew/],
    ['for another name', 'other', true, 'ERR_TLS_CERT_ALTNAME_INVALID', /for this name/],
    ['of an unknown authority', 'right', false, 'UNABLE_TO', /NODE_EXTRA_CA_CERTS/],
  ])('with a certificate %s', async (_name, certificate, isKnown, what, fix) => {
    const found = await examine(await served(certificate, isKnown));
    expect(found).toMatchObject({
      state: 'wrong',
      what: expect.stringContaining(what),
      fix: expect.stringMatching(fix),
    });
  });

  test('where no service answers, or without encryption', async () => {
    expect(await fault('address', { WRIT_PUBLIC_URL: 'https://127.0.0.1:1' })).toMatch(
      /ECONNREFUSED.*start the proxy/,
    );
    expect(await fault('address', { WRIT_PUBLIC_URL: 'http://writ.invalid' })).toMatch(
      /not encrypted.*proxy for TLS/,
    );
  });

  test('that links lack where others can reach the service, or get its mails', async () => {
    const links = /^no public_url: links .* begin with http:\/\/localhost:\d+ \| set public_url/;
    expect(await fault('address', { WRIT_HOST: '0.0.0.0' })).toMatch(links);
    const smtp = { 'smtp.url': 'smtp://mail.example.com', 'smtp.from': 'writ@example.com' };
    const loaded = loadConfig({ directory: folder, environment: {}, flags: smtp });
    if (!loaded.ok) throw new Error(loaded.problems.join());
    expect(await examineAddress(loaded.config)).toMatchObject({ state: 'warning' });
  });
});

describe('mail', () => {
  const from = { WRIT_SMTP_FROM: 'writ@example.com', WRIT_PUBLIC_URL: 'http://localhost:8181' };

  test('whose server answers', async () => {
    const { url, taken } = await startMailServer();
    expect(faultsIn(await doctor({ WRIT_SMTP_URL: url, ...from }))).toEqual([]);
    expect(taken).toEqual([]);
  });

  test('whose server is unreachable, or refuses the credentials', async () => {
    expect(await fault('mail', { WRIT_SMTP_URL: 'smtp://127.0.0.1:1', ...from })).toMatch(
      /refuses the connection.*smtp\.url/,
    );
    const server = createServer((socket) => {
      socket.write('220 test\r\n');
      socket.on('data', (chunk) => {
        const isGreeting = String(chunk).startsWith('EHLO');
        socket.write(isGreeting ? '250-test\r\n250 AUTH PLAIN LOGIN\r\n' : '535 who are you\r\n');
      });
      socket.on('error', () => undefined);
    });
    const url = `smtp://user:secret-word@127.0.0.1:${await listening(server)}`;
    const said = await fault('mail', { WRIT_SMTP_URL: url, ...from });
    expect(said).toMatch(/EAUTH.*user and password/);
    expect(said).not.toContain('secret-word');
  });
});

describe('a chat', () => {
  const own = { WRIT_PUBLIC_URL: 'http://localhost:8181' };
  const ofSlack = { WRIT_SLACK_SIGNING_SECRET: 'abc', WRIT_SLACK_CHANNEL: 'C1', ...own };
  const ofTeams = {
    WRIT_TEAMS_APP_ID: 'app',
    WRIT_TEAMS_TENANT: 'tenant',
    WRIT_TEAMS_CHANNEL: '19:a',
    ...own,
  };

  test('that accepts the service, or does not', async () => {
    const api = await serving((request, reply) => {
      const isKnown = request.headers.authorization === 'Bearer xoxb-good';
      reply.end(JSON.stringify(isKnown ? { ok: true, team_id: 'T1' } : { ok: false, error: 'invalid_auth' }));
    });
    const slack = { ...ofSlack, WRIT_SLACK_API: api };
    expect(faultsIn(await doctor({ ...slack, WRIT_SLACK_BOT_TOKEN: 'xoxb-good' }))).toEqual([]);
    const said = await fault('slack', { ...slack, WRIT_SLACK_BOT_TOKEN: 'xoxb-secret-word' });
    expect(said).toMatch(/Slack refused auth\.test: invalid_auth.*slack\.bot_token/);
    expect(said).not.toContain('xoxb-secret-word');
  });

  test('whose tokens or keys cannot be had', async () => {
    const login: string = await serving((request, reply) => {
      if (request.url === '/tenant/oauth2/v2.0/token')
        reply.end(JSON.stringify({ access_token: 'token', expires_in: 3_600 }));
      else if (request.url === '/keys') reply.end('{"keys":[]}');
      else reply.end(JSON.stringify({ issuer: 'https://api.botframework.com', jwks_uri: `${login}/keys` }));
    });
    const teams = { ...ofTeams, WRIT_TEAMS_APP_SECRET: 'secret-word', WRIT_TEAMS_LOGIN: login };
    expect(faultsIn(await doctor({ ...teams, WRIT_TEAMS_METADATA: `${login}/metadata` }))).toEqual([]);
    expect(await fault('teams', { ...teams, WRIT_TEAMS_METADATA: 'http://127.0.0.1:1/metadata' })).toMatch(
      /keys of the connector cannot be read.*teams\.metadata/,
    );
    const said = await fault('teams', { ...teams, WRIT_TEAMS_LOGIN: 'http://127.0.0.1:1' });
    expect(said).toMatch(/Entra did not answer.*teams\.app_id/);
    expect(said).not.toContain('secret-word');
  });
});

describe('an issuer', () => {
  const issuerWith = async (document: (own: string) => object, keys: object) => {
    const own: string = await serving((request, reply) => {
      const isKeys = request.url === '/keys';
      reply.end(JSON.stringify(isKeys ? keys : document(own)));
    });
    return own;
  };
  const right = (own: string) => ({ issuer: own, jwks_uri: `${own}/keys` });
  const signOn = (issuer: string) => ({
    WRIT_SSO_ISSUER: issuer,
    WRIT_SSO_CLIENT_ID: 'writ',
    WRIT_SSO_ROLES: 'admins=admin',
  });

  test('of single sign-on', async () => {
    const keys = { keys: [{ kty: 'OKP' }] };
    expect(faultsIn(await doctor(signOn(await issuerWith(right, keys))))).toEqual([]);
    const other = await issuerWith((own) => ({ ...right(own), issuer: 'https://other.example.com' }), keys);
    expect(await fault('sign-on', signOn(other))).toMatch(/another issuer.*exactly the issuer/);
    expect(await fault('sign-on', signOn(await issuerWith(right, { keys: [] })))).toMatch(/has no keys/);
    expect(await fault('sign-on', signOn('http://127.0.0.1:1'))).toMatch(/ECONNREFUSED|bad port/);
  });

  test('of users', async () => {
    const users = (issuer: string) => ({ WRIT_USERS_ISSUER: issuer, WRIT_USERS_AUDIENCE: 'writ' });
    expect(await fault('users', users(await issuerWith(right, {})))).toMatch(/no keys.*users\.issuer/);
  });

  test('of agents', async () => {
    const keys = { keys: [{ kty: 'OKP' }] };
    const issuers = (...all: string[]) => ({
      WRIT_AGENTS_ISSUERS: all.map((issuer) => `${issuer} audience=https://writ.example.com`).join(','),
    });
    const good = await issuerWith(right, keys);
    expect(faultsIn(await doctor(issuers(good)))).toEqual([]);
    const bad = await issuerWith(right, {});
    expect(await fault('workloads', issuers(good, bad))).toMatch(/no keys.*agents\.issuers/);
  });
});

describe('the receiver of records', () => {
  const siem = (url: string, more: Readonly<Record<string, string>> = {}) => ({
    WRIT_SIEM_URL: url,
    WRIT_SIEM_CA: writtenFile('ca.pem', authority),
    ...more,
  });
  const withCursor = async (change: Partial<Cursor>) => {
    const store = await openStore({ path: database });
    const cursor = await firstCursor(store.chain, { id: 'siem', start: 'beginning', nowMs: Date.now() });
    const { version = 0 } = (await cursorsIn(store).find('siem')) ?? {};
    await store.documents.write([cursorsIn(store).put({ ...cursor, ...change }, version)], null);
    await store.close();
  };
  const lineOf = ({ findings }: Said) => {
    const found = findings.find(({ part }) => part === 'siem');
    return `${found?.state}: ${found?.what}`;
  };

  test('is unused, new, or has all records', async () => {
    expect(lineOf(await doctor())).toBe('unused: no siem.url: records are not sent to a SIEM');
    const { url } = await startHttpReceiver();
    const { host } = new URL(url);
    expect(lineOf(await doctor(siem(url)))).toBe(
      `ok: ${host} can be reached; nothing was sent under the name siem yet`,
    );
    await withCursor({ sequence: 1 });
    expect(lineOf(await doctor(siem(url)))).toBe(`ok: ${host} has all records`);
  });

  test('cannot be reached, or has another name', async () => {
    expect(await fault('siem', siem('https://localhost:1/'))).toMatch(/ECONNREFUSED.*reachable/);
    const { url } = await startHttpReceiver(ofStranger);
    expect(await fault('siem', siem(url))).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
    const missing = { WRIT_SIEM_CA: join(folder, 'none.pem') };
    expect(await fault('siem', siem(url, missing))).toMatch(/ENOENT/);
  });

  test('is behind, has refused a record, or has a gap', async () => {
    const { url } = await startSyslogReceiver();
    const cef = siem(url, { WRIT_SIEM_FORMAT: 'cef' });
    await withCursor({ failure: { reason: 'ECONNRESET', sinceMs: 1 } });
    expect(await fault('siem', cef)).toMatch(
      /lacks 1 record, the oldest from 2026-03-02T10:00:00.000Z: ECONNRESET/,
    );
    await withCursor({ refused: { sequence: 1, reason: 'no such field', sinceMs: 1 } });
    expect(await fault('siem', cef)).toMatch(/refuses record 1 \(no such field\).*siem\.skip/);
    await withCursor({ sequence: 9, gap: { firstSequence: 1, sequence: 3, atMs: Date.now() } });
    expect(await fault('siem', cef)).toMatch(/did not get the records 1 to 3/);
  });
});
