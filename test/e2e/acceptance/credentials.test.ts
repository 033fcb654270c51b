// Credentials as an operator handles them: the command changes agents, keys and signing secrets on the
// database of a running service, and the service applies each change within a second.

import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, writ } from '../../cli/writ.ts';
import { storeEnvironment } from '../../service/store/place.ts';
import { addAgent, ask, type Service, startService } from './service.ts';

const request = {
  action_key: 'payment.create',
  payload: { amount: 1, currency: 'USD', vendor: 'Staples', description: 'paper' },
};

let service: Service;

beforeAll(async () => {
  service = await start();
});

async function start(data?: string): Promise<Service> {
  const env = { WRIT_SIGNATURES_COMPATIBILITY: 'forbid' };
  return await startService({ policies: 'policies/payments', env, ...(data === undefined ? {} : { data }) });
}

afterAll(async () => {
  await service.end('SIGTERM');
});

async function agent(...args: readonly string[]): Promise<Ran> {
  return await writOn('agent', ...args);
}

async function writOn(...args: readonly string[]): Promise<Ran> {
  return await writ([...args, '--data', service.data], { env: await storeEnvironment(service.data) });
}

async function agentJson<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await agent(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

async function newAgent(): Promise<{ readonly name: string; readonly key: string }> {
  const name = `buyer-${randomUUID()}`;
  return { name, key: await addAgent(service.data, name) };
}

/** The decision or the error code for a request with this key. */
async function outcome(key: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const body = JSON.stringify(request);
  const sent = { 'content-type': 'application/json', 'x-agent-api-key': key, ...headers };
  const reply = await fetch(`${service.url}/v1/authorize`, { method: 'POST', headers: sent, body });
  const { decision, type } = (await reply.json()) as { decision?: string; type?: string };
  return decision ?? String(type).replace('urn:writ:error:', '');
}

/** Waits for the outcome; the time starts when the command has ended. */
async function expectSoon(key: string, expected: string): Promise<void> {
  await expect.poll(() => outcome(key), { interval: 50 }).toBe(expected);
}

function signatureOf(secret: string): string {
  const [time, nonce] = [Math.trunc(Date.now() / 1000), randomUUID()];
  const text = `v1:${time}:${nonce}:POST:/v1/authorize:${JSON.stringify(request)}`;
  return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

describe('the state of an agent', () => {
  test('disabled, enabled, and permanently revoked', async () => {
    const { name, key } = await newAgent();
    await expectSoon(key, 'ALLOW');
    expect(await agent('disable', name)).toMatchObject({ code: 0, stdout: `${name} is disabled\n` });
    await expectSoon(key, 'agent_disabled');
    await agent('enable', name);
    await expectSoon(key, 'ALLOW');
    expect(await agent('revoke', name)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await outcome(key)).toBe('ALLOW');
    expect(await agent('revoke', name, '--yes')).toMatchObject({ code: 0, stdout: `${name} is revoked\n` });
    await expectSoon(key, 'agent_revoked');
    for (const args of [['enable'], ['disable'], ['rotate'], ['signing', 'off']]) {
      const [command = '', ...rest] = args;
      const ran = await agent(command, name, ...rest);
      expect(ran).toMatchObject({ code: 1, stderr: `error: \`${name}\` is revoked permanently\n` });
    }
    expect(await outcome(key)).toBe('agent_revoked');
  });

  test('an unknown agent', async () => {
    for (const args of [['show'], ['disable'], ['rotate'], ['signing', 'required'], ['revoke', '--yes']]) {
      const [command = '', ...rest] = args;
      const ran = await agent(command, 'nobody', ...rest);
      expect(ran).toMatchObject({ code: 1, stderr: 'error: there is no agent `nobody`\n' });
    }
  });
});

interface Rotated {
  readonly api_key: string;
  readonly old_key_not_after: string;
}

interface Shown {
  readonly signing: string;
  readonly keys: readonly { readonly id: string; readonly not_after: string | null }[];
}

describe('keys', () => {
  test('rotated: both are valid, the old one is flagged in reply, record and log, and a third is refused', async () => {
    const { name, key } = await newAgent();
    await expectSoon(key, 'ALLOW');
    const rotated = await agentJson<Rotated>('rotate', name, '--grace', '30m');
    const inMinutes = (Date.parse(rotated.old_key_not_after) - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(25);
    expect(inMinutes).toBeLessThan(31);
    expect(await outcome(rotated.api_key)).toBe('ALLOW');
    await expect.poll(() => expiryHeader(key), { interval: 50 }).toBe(rotated.old_key_not_after);
    expect(await expiryHeader(rotated.api_key)).toBeNull();
    expect(service.output()).toContain('an agent used a rotated key');
    expect(await agent('rotate', name)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('two valid keys'),
    });
    const { keys } = await agentJson<Shown>('show', name);
    expect(keys.map(({ id, not_after }) => [id, not_after])).toEqual([
      [key.slice(5, 13), rotated.old_key_not_after],
      [rotated.api_key.slice(5, 13), null],
    ]);
    const records = await writOn('audit', 'export');
    const used = [
      ...records.stdout.matchAll(/\\"key\\":\{\\"id\\":\\"(\w{8})\\",\\"isReplaced\\":(true|false)\}/g),
    ];
    expect(used.filter(([, id]) => id === key.slice(5, 13)).map(([, , isReplaced]) => isReplaced)).toContain(
      'true',
    );
    expect(
      new Set(
        used.filter(([, id]) => id === rotated.api_key.slice(5, 13)).map(([, , isReplaced]) => isReplaced),
      ),
    ).toEqual(new Set(['false']));
  });

  test('rotated with `now`: every older key expires at once', async () => {
    const { name, key } = await newAgent();
    const second = await agentJson<Rotated>('rotate', name);
    const third = await agentJson<Rotated>('rotate', name, '--grace', 'now');
    await expectSoon(key, 'invalid_api_key');
    await expectSoon(second.api_key, 'invalid_api_key');
    expect(await outcome(third.api_key)).toBe('ALLOW');
  });

  test.each(['soon', '5', '1y', '-1h', ''])('an invalid time: `%s`', async (grace) => {
    expect(await agent('rotate', 'nobody', `--grace=${grace}`)).toMatchObject({ code: 2 });
  });
});

async function expiryHeader(key: string): Promise<string | null> {
  const reply = await fetch(`${service.url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
    body: JSON.stringify(request),
  });
  expect(reply.status).toBe(200);
  return reply.headers.get('x-agent-api-key-expires');
}

describe('signatures', () => {
  test('required, with another secret, optional, off', async () => {
    const { name, key } = await newAgent();
    const sign = async (mode: string, ...rest: readonly string[]) =>
      (await agentJson<{ signing_secret: string | null }>('signing', name, mode, ...rest)).signing_secret;
    const signed = (secret: string) => outcome(key, { 'x-service-signature': signatureOf(secret) });
    const first = (await sign('required')) ?? '';
    await expectSoon(key, 'invalid_signature');
    expect(await signed(first)).toBe('ALLOW');
    const second = (await sign('required', '--new-secret')) ?? '';
    await expect.poll(() => signed(first), { interval: 50 }).toBe('invalid_signature');
    // The record already refuses the first secret; the row in memory may be older for a moment.
    await expect.poll(() => signed(second), { interval: 50 }).toBe('ALLOW');
    const header = signatureOf(second);
    expect(await outcome(key, { 'x-service-signature': header })).toBe('ALLOW');
    expect(await outcome(key, { 'x-service-signature': header })).toBe('invalid_signature');
    expect(await sign('optional')).toBeNull();
    await expectSoon(key, 'ALLOW');
    expect(await outcome(key, { 'x-service-signature': 'malformed' })).toBe('invalid_signature');
    expect(await signed(second)).toBe('ALLOW');
    expect(await sign('off')).toBeNull();
    await expect
      .poll(() => outcome(key, { 'x-service-signature': 'malformed' }), { interval: 50 })
      .toBe('ALLOW');
    expect(await agent('signing', name, 'off', '--new-secret')).toMatchObject({ code: 2 });
    expect((await agentJson<Shown>('show', name)).signing).toBe('off');
  });

  test('the form without time and nonce is refused by a setting', async () => {
    const { name, key } = await newAgent();
    const { signing_secret: secret } = await agentJson<{ signing_secret: string }>(
      'signing',
      name,
      'required',
    );
    const digest = createHmac('sha256', secret).update(JSON.stringify(request)).digest('hex');
    await expectSoon(key, 'invalid_signature');
    expect(await outcome(key, { 'x-service-signature': `sha256=${digest}` })).toBe('invalid_signature');
    await service.end('SIGTERM');
    const allowing = await startService({ policies: 'policies/payments', data: service.data });
    try {
      const reply = await fetch(`${allowing.url}/v1/authorize`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-agent-api-key': key,
          'x-service-signature': `sha256=${digest}`,
        },
        body: JSON.stringify(request),
      });
      expect(await reply.json()).toMatchObject({ decision: 'ALLOW' });
    } finally {
      await allowing.end('SIGTERM');
      service = await start(service.data);
    }
  });
});

test('wrong keys are rate limited by address, without an effect on valid keys', async () => {
  const other = await startService({ policies: 'policies/payments' });
  const key = await addAgent(other.data, 'buyer');
  try {
    const bad = () => ask(other.url, `writ_${'0'.repeat(46)}`, request);
    const first = await Promise.all(Array.from({ length: 100 }, bad));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([401]));
    // The limit frees one attempt a second, so a few more attempts may still pass.
    let { status } = await bad();
    while (status === 401) ({ status } = await bad());
    expect(status).toBe(429);
    expect((await ask(other.url, key, request)).status).toBe(200);
  } finally {
    await other.end('SIGTERM');
  }
});
