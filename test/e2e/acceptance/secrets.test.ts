// Searches everything that leaves the service for every secret of the run: replies, metrics, the log at its
// most verbose level, exports, dumps, listings, settings, traces, the database and its backup.

import { createHmac, randomUUID } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writ } from '../../cli/writ.ts';
import { isOnPostgres } from '../../service/store/place.ts';
import { type Service, startService, temporary } from './service.ts';

const sandboxToken = `sandbox-${randomUUID()}`;
const fieldSecret = `field-${randomUUID()}`;
const policies = `
action vault.open { token: secret string, door: string }
policy vault on vault.* {
  allow all because "door {payload.door}"
}
`;

/** The test searches the database file, its backup and its master key. */
const inFile = test.skipIf(isOnPostgres);

const leaked: string[] = [];

/** All printed and sent text, by its source. */
const gathered = new Map<string, string>();

async function run(name: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await writ(args, { env: { WRIT_SANDBOX_TOKEN: sandboxToken } });
  gathered.set(name, `${stdout}${stderr}`);
  return stdout;
}

async function startCollector(): Promise<string> {
  const server = createServer((request, response) => {
    request.on('data', (chunk) => gathered.set('traces', (gathered.get('traces') ?? '') + String(chunk)));
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

let replies = 0;

async function send(service: Service, path: string, init: RequestInit = {}): Promise<Response> {
  const reply = await fetch(`${service.url}${path}`, init);
  const headers = JSON.stringify([...reply.headers]);
  gathered.set(`reply ${++replies} ${path}`, `${headers}\n${await reply.clone().text()}`);
  return reply;
}

async function ask(service: Service, key: string, body: string, headers: Record<string, string> = {}) {
  const sent = { 'content-type': 'application/json', 'x-agent-api-key': key, ...headers };
  return await send(service, '/v1/authorize', { method: 'POST', headers: sent, body });
}

function signature(secret: string, body: string): string {
  const [time, nonce] = [Math.trunc(Date.now() / 1000), randomUUID()];
  const text = `v1:${time}:${nonce}:POST:/v1/authorize:${body}`;
  return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

inFile('no secret of the run is anywhere but where it was shown once', async () => {
  const data = temporary('secrets');
  const folder = temporary('policies');
  writeFileSync(join(folder, 'vault.policy'), policies);
  const service = await startService({
    policies: folder,
    data,
    env: {
      WRIT_LOG_LEVEL: 'trace',
      WRIT_SANDBOX_TOKEN: sandboxToken,
      OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector(),
    },
  });
  const common = ['--data', data, '--json'];
  const made = async (...args: readonly string[]) => {
    const stdout = await run('(shown once)', 'agent', ...args, ...common);
    return JSON.parse(stdout) as { api_key: string; signing_secret: string };
  };
  const { api_key: first } = await made('add', 'keeper', '--tier', 'low', '--owner', 'ops');
  const { api_key: second } = await made('rotate', 'keeper');
  const { signing_secret: oldSecret } = await made('signing', 'keeper', 'optional');
  const { signing_secret: newSecret } = await made('signing', 'keeper', 'optional', '--new-secret');
  gathered.delete('(shown once)');
  const firstKey = /writ_\w{46}/.exec(service.output())?.[0] ?? '';

  const good = JSON.stringify({ action_key: 'vault.open', payload: { token: fieldSecret, door: 'north' } });
  for (const key of [first, second, firstKey]) expect((await ask(service, key, good)).status).toBe(200);
  const signed = await ask(service, second, good, { 'x-service-signature': signature(newSecret, good) });
  const { request_id: id } = (await signed.json()) as { request_id: string };
  await ask(service, second, good, { 'x-service-signature': signature(oldSecret, good) });
  await ask(service, second, good, { 'x-service-signature': newSecret, 'idempotency-key': 'once' });
  await ask(service, `${first.slice(0, -1)}!`, good);
  await ask(service, `${first.slice(0, 13)}${second.slice(13)}`, good);
  // Bodies that are refused; in each, a different check meets the secret.
  const wrong = [
    ...[
      `{"action_key":"vault.open","payload":{"token":"${fieldSecret}","door":1}}`,
      `{"token":"${fieldSecret}"`,
    ],
    ...[
      `{"action_key":"${fieldSecret}","payload":{"token":"${fieldSecret}"}}`.replace(
        fieldSecret,
        'vault.open',
      ),
    ],
    ...[`{"action_key":"vault.open","payload":{"Token":"${fieldSecret}"}}`, `["${fieldSecret}"]`],
    ...[`{"action_key":"vault.open","payload":{"token":["${fieldSecret}"],"door":"x"}}`],
  ];
  for (const body of wrong) await ask(service, second, body);
  await send(service, '/plants', {
    method: 'POST',
    headers: { authorization: `Bearer ${sandboxToken}` },
    body: '{"id":1,"name":"Fern"}',
  });
  await send(service, '/plants', { method: 'POST', headers: { authorization: `Bearer ${sandboxToken}x` } });
  for (const path of ['/metrics', '/readyz', '/healthz', '/openapi.json', '/nowhere'])
    await send(service, path);
  await send(service, `/v1/requests/${id}`, { headers: { 'x-agent-api-key': second } });
  // A set that does not compile is reported in the log and by /readyz.
  writeFileSync(join(folder, 'vault.policy'), `${policies} rubbish`);
  service.process.kill('SIGHUP');
  await expect.poll(async () => (await send(service, '/readyz')).text()).toContain('stale');
  writeFileSync(join(folder, 'vault.policy'), policies);

  await run('agent list', 'agent', 'list', ...common);
  await run('agent show', 'agent', 'show', 'keeper', ...common);
  for (const format of ['jsonl', 'csv'])
    await run(`export ${format}`, 'audit', 'export', '--format', format, '--data', data);
  await run('verify', 'audit', 'verify', '--data', data);
  await run('checkpoint', 'audit', 'checkpoint', '--data', data);
  await run('replay', 'audit', 'replay', '--all', '--policies', folder, '--data', data);
  await run('explain', 'explain', id, '--policies', folder, '--data', data);
  await run('explain as JSON', 'explain', id, '--policies', folder, '--data', data, '--json');
  await run('config', 'config');
  await run('config as JSON', 'config', '--json');
  for (const stage of ['tokens', 'tree', 'model', 'program', 'function'])
    await run(`dump ${stage}`, 'dump', '--stage', stage, folder);
  const backup = join(temporary('backup'), 'copy.db');
  await run('backup', 'backup', backup, '--data', data);
  expect(await service.end('SIGTERM')).toBe(0);

  // All other lines are the welcome, which shows the first key.
  const logLines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  gathered.set('log', logLines.join('\n'));
  for (const file of readdirSync(data).filter((name) => !name.endsWith('.key')))
    gathered.set(`file ${file}`, readFileSync(join(data, file), 'latin1'));
  cpSync(backup, `${backup}.read`);
  gathered.set('backup file', readFileSync(`${backup}.read`, 'latin1'));
  const masterKey = readFileSync(join(data, 'writ.db.key'), 'utf8').trim();

  expect(gathered.get('log')).toContain('an agent used a rotated key');
  expect(gathered.get('export jsonl')).toContain('hmac-sha256:');
  expect(gathered.get('traces')).toContain('writ.decision');
  expect(gathered.get('file writ.db')).toContain('keeper');
  expect(gathered.get('backup file')).toContain('keeper');
  expect(gathered.get('explain')).toContain('vault');
  const secrets: Readonly<Record<string, string>> = {
    first,
    second,
    firstKey,
    oldSecret,
    newSecret,
    sandboxToken,
    fieldSecret,
    masterKey,
    'secret of the first key': first.slice(13, 45),
    'secret of the second key': second.slice(13, 45),
    'signing secret without its beginning': newSecret.slice(8),
    'master key as bytes': Buffer.from(masterKey, 'hex').toString('latin1'),
  };
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length).toBeGreaterThan(20);
    for (const [place, text] of gathered) if (text.includes(secret)) leaked.push(`${name} in ${place}`);
  }
  expect(leaked).toEqual([]);
  expect(gathered.size).toBeGreaterThan(40);
});
