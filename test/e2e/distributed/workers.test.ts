// `writ serve --workers`: several processes behind one address grant no more than one process would,
// whichever of them is asked, killed or restarted. They start, report metrics and end as one service.

import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { writProcess } from '../../cli/writ.ts';
import { readExposition } from '../../service/http/exposition.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { keptPostgres } from '../../service/store/postgres-server.ts';
import { startService, temporary } from '../acceptance/service.ts';
import { post } from './call.ts';
import { type Agent, makeAgent, signature } from './world.ts';

const budget = 300;
const policy = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy limits on pay.send {
    allow all
    deny beyond when spent > ${budget} USD
  }`;
const body = '{"action_key":"pay.send","payload":{"amount":1,"currency":"USD"}}';

async function place(text = policy) {
  const server = await keptPostgres();
  const { name, url, drop } = await server.createEmptyDatabase();
  onTestFinished(drop);
  const policies = temporary('policies');
  writeFileSync(join(policies, 'a.policy'), text);
  const decisions = async () =>
    await server.query<{ id: string; decision: string }>(
      'SELECT id, outcome AS decision FROM requests',
      name,
    );
  return { url, policies, decisions };
}

async function startWorkers(count: number, text?: string) {
  const { url, policies, decisions } = await place(text);
  const env = { WRIT_STORE: url, WRIT_WORKERS: String(count) };
  const service = await startService({ policies, env, startMaxMs: 120_000 });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  const lines = (message: string) =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as { readonly pid: number; readonly worker_pid?: number });
  /** The process ids of the workers that are running. */
  const pids = () =>
    lines('listening')
      .map(({ pid }) => pid)
      .filter(isThere);
  return { ...service, store: { url, keyFile: join(service.data, 'writ.key') }, decisions, lines, pids };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Told {
  readonly id: string;
  readonly decision: string;
  readonly key: string;
  readonly nonce: string;
}

/** The decision in a reply; null for a reply without a decision and when no reply came. */
async function ask(
  url: string,
  agent: Agent,
  key: string | null,
  nonce: string | null,
): Promise<Told | null> {
  const headers: Record<string, string> = { 'x-agent-api-key': agent.apiKey };
  if (key !== null) headers['idempotency-key'] = key;
  if (nonce !== null) headers['x-service-signature'] = signature(agent, nonce, body);
  const reply = await post({ url: `${url}/v1/authorize`, headers, body, timeoutMs: 10_000 });
  if (reply?.status !== 200) return null;
  const { request_id: id, decision } = reply.body as {
    readonly request_id: string;
    readonly decision: string;
  };
  return { id, decision, key: key ?? '', nonce: nonce ?? '' };
}

/** The number of request ids for each value. */
function idsOf(told: readonly Told[], by: 'key' | 'nonce'): readonly number[] {
  const ids = new Map<string, Set<string>>();
  for (const one of told) {
    if (one[by] === '') continue;
    ids.set(one[by], (ids.get(one[by]) ?? new Set()).add(one.id));
  }
  return [...ids.values()].map(({ size }) => size);
}

test('workers grant what one may have, whichever of them are killed, and end as one service', async () => {
  const service = await startWorkers(3);
  const store = await openStore(service.store);
  onTestFinished(() => store.close());
  const agent = await makeAgent(store);
  await expect.poll(() => service.lines('listening').length).toBe(3);
  expect(service.pids()).toHaveLength(3);

  const told: Told[] = [];
  let isOver = false;
  // Two clients send each text at about the same time, over connections that lead to different workers.
  const client = async (client: number) => {
    for (let at = 0; !isOver; at += 1) {
      const name = `both-say-${client >> 1}-${at}`;
      const one = at % 2 === 0 ? ask(service.url, agent, name, null) : ask(service.url, agent, null, name);
      const reply = await one;
      if (reply !== null) told.push(reply);
      await sleep(10);
    }
  };
  const clients = Array.from({ length: 8 }, (_, at) => client(at));
  for (let killed = 1; killed <= 2; killed += 1) {
    await expect.poll(() => told.length).toBeGreaterThan(killed * 15);
    process.kill(service.pids()[killed % 2] ?? 0, 'SIGKILL');
    await expect.poll(() => service.lines('listening').length).toBe(3 + killed);
  }
  await expect.poll(() => told.some(({ decision }) => decision === 'DENY')).toBe(true);
  isOver = true;
  await Promise.all(clients);

  const decisions = await service.decisions();
  const granted = decisions.filter(({ decision }) => decision === 'ALLOW');
  expect(granted).toHaveLength(budget);
  const known = new Map(decisions.map(({ id, decision }) => [id, decision]));
  expect(told.filter(({ id, decision }) => known.get(id) !== decision)).toEqual([]);
  expect(Math.max(...idsOf(told, 'key'))).toBe(1);
  expect(Math.max(...idsOf(told, 'nonce'))).toBe(1);
  // Both clients of some text have asked, so the law has something to forbid.
  expect(told.filter(({ key }) => key !== '').length).toBeGreaterThan(idsOf(told, 'key').length);
  const { chain, differences } = await verifyStore(store);
  expect([chain.kind, differences]).toEqual(['whole', []]);
  await tellMetricsOfAll(service.url, agent);

  service.process.kill('SIGHUP');
  await expect.poll(() => service.lines('reloading policies').length).toBe(3);
  const left = service.pids();
  expect(await service.end('SIGTERM')).toBe(0);
  expect(left.filter(isThere)).toEqual([]);
});

test('64 sub-agents at once use a delegation of 10 exactly 10 times, whichever worker they reach', async () => {
  const service = await startWorkers(3);
  const store = await openStore(service.store);
  onTestFinished(() => store.close());
  const { apiKey } = await makeAgent(store);
  await expect.poll(() => service.lines('listening').length).toBe(3);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const delegate = async (key: string, uses: number | null) => {
    const reply = await post({
      url: `${service.url}/v1/delegations`,
      headers: { 'x-agent-api-key': key },
      body: JSON.stringify({ name: 'sub', actions: ['pay.*'], until, uses }),
      timeoutMs: 60_000,
    });
    expect(reply).toMatchObject({ status: 201 });
    return (reply!.body as { readonly api_key: string }).api_key;
  };
  const top = await delegate(apiKey, 10);
  const keys = [top, await delegate(top, null)];
  const replies = await Promise.all(
    Array.from({ length: 64 }, (_, at) =>
      post({
        url: `${service.url}/v1/authorize`,
        headers: { 'x-agent-api-key': keys[at % 2]! },
        body,
        timeoutMs: 60_000,
      }),
    ),
  );
  const statuses = replies.map((reply) => reply?.status).toSorted();
  expect(statuses).toEqual([...Array<number>(10).fill(200), ...Array<number>(54).fill(403)]);
  expect(await service.decisions()).toHaveLength(10);
});

/** Every worker reports the metrics of all workers. */
async function tellMetricsOfAll(url: string, agent: Agent): Promise<void> {
  const counted = async () => {
    const metrics = readExposition(await (await fetch(`${url}/metrics`)).text());
    const samples = (name: string) => metrics.find((metric) => metric.name === name)?.samples ?? [];
    const decisions = samples('writ_decisions_total').reduce((sum, { value }) => sum + value, 0);
    return { decisions, workers: samples('writ_replicas_ready').map(({ labels }) => labels.worker) };
  };
  const before = await counted();
  expect(before.workers).toEqual(['0', '1', '2']);
  for (let at = 0; at < 5; at += 1) await ask(url, agent, null, null);
  for (let at = 0; at < 3; at += 1) expect((await counted()).decisions).toBe(before.decisions + 5);
}

test('64 clients at once use a standing approval exactly as often as it may be used, over three workers', async () => {
  const service = await startWorkers(
    3,
    `approvers finance "Finance"
    action pay.send { amount: money(currency) 0.01.., currency: "USD" }
    policy known on pay.send {
      allow all
      escalate payees to finance within 1h standing per payload.currency for 8h up to 10 times
    }`,
  );
  const store = await openStore(service.store);
  onTestFinished(() => store.close());
  const agent = await makeAgent(store);
  const admin = await firstAdmin({ store });
  const rights = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const approver = await personWith({ url: service.url, store }, admin, rights);
  const first = await ask(service.url, agent, null, null);
  expect(first?.decision).toBe('ESCALATE');
  const vote = { method: 'POST', body: { comment: 'known', standing: {} } };
  expect((await approver.send(`/v1/requests/${first?.id}/approve`, vote)).body.status).toBe('approved');
  const told = await Promise.all(Array.from({ length: 64 }, () => ask(service.url, agent, null, null)));
  expect(told.filter((reply) => reply?.decision === 'ALLOW')).toHaveLength(10);
  const stored = await service.decisions();
  expect(stored.filter(({ decision }) => decision === 'ALLOW')).toHaveLength(10);
  expect((await approver.send('/v1/standing-approvals')).body.items).toMatchObject([{ used: 10 }]);
});

test('no worker is left where their supervisor is killed', async () => {
  const service = await startWorkers(2);
  await expect.poll(() => service.lines('listening').length).toBe(2);
  const workers = service.pids();
  expect(workers).toHaveLength(2);
  await service.end('SIGKILL');
  await expect.poll(() => workers.filter(isThere)).toEqual([]);
});

test('a first worker that cannot start says why, and nothing else is started', async () => {
  const broken = await place('policy p on pay.send { allow all }');
  const data = temporary('data');
  const serve = (policies: string, port: number) =>
    writProcess(['serve', '--policies', policies, '--data', data, '--port', String(port)], {
      env: { WRIT_STORE: broken.url, WRIT_WORKERS: '3', WRIT_STORE_DURABILITY: 'single' },
    });
  const { code, stdout, stderr } = await serve(broken.policies, 0);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.match(/correct them and start again/g)).toHaveLength(1);

  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const good = temporary('policies');
  writeFileSync(join(good, 'a.policy'), policy);
  const refused = await serve(good, port);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr.match(new RegExp(`port ${port} on 127.0.0.1 is in use`, 'g'))).toHaveLength(1);
});

test('a file is served by one process', async () => {
  const { code, stderr } = await writProcess(['serve', '--workers', '2']);
  expect(code).toBe(2);
  expect(stderr).toBe(
    'writ: store must be a database if workers is more than 1: only one process can serve a file\n',
  );
});
