// Clients that ask several replicas at once for what one may have: the rest of a budget, a nonce, an idempotency key; people who
// stop and revoke meanwhile; and what breaks. All that was told is kept, with the times at which it was asked and answered.

import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../src/language/value/random.ts';
import { addAgent, setSigning } from '../../src/service/agents/registry.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import type { Replicas } from './replicas.ts';
import type { ServerPair } from './server-pair.ts';

export interface Told {
  readonly id: string | null;
  readonly agent: string;
  readonly decision: string | null;
  readonly status: number;
  readonly key: string | null;
  readonly nonce: string | null;
  /** On one clock for all. */
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

/** What a person said of a request that waits, and what came back. */
export interface Vote {
  readonly id: string;
  readonly agent: string;
  readonly word: 'approve' | 'reject';
  /** How the request stands, as the reply says; null where the vote was not taken. */
  readonly said: string | null;
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

export interface Stop {
  readonly kind: 'revoked' | 'switched';
  /** The agent, or the area. */
  readonly subject: string;
  /** When the reply had come, and when it was taken back; never for a revocation. */
  readonly fromMs: number;
  untilMs: number;
}

export interface History {
  readonly told: readonly Told[];
  readonly votes: readonly Vote[];
  readonly stops: readonly Stop[];
  readonly faults: ReadonlyMap<string, number>;
  /** After each failover: how long until something was decided again, in milliseconds; infinite where nothing was. */
  readonly services: readonly number[];
}

export const budget = 120;
const area = 'pay';

/** Whoever has no answer by then asks again elsewhere, and does not know. */
const patienceMs = 1_500;

export function policyText(edition: number): string {
  return `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  action pay.ask { amount: money(currency) 0.01.., currency: "USD" }
  approvers finance "Finance"
  meter spent = sum(payload.amount) in USD of pay.send per session over 24h
  policy budget on pay.send {
    allow all because "edition ${edition}"
    deny beyond when spent > ${budget} USD
  }
  policy people on pay.ask {
    allow all for 1h
    escalate big to finance within 1h when payload.amount > 0 USD
  }`;
}

interface Agent {
  readonly id: string;
  readonly apiKey: string;
  readonly secret: string;
}

type Headers = Readonly<Record<string, string>>;

interface RunOptions {
  readonly server: ServerPair;
  readonly replicas: Replicas;
  /** As the command line has it: it changes agents and switches, and does not serve. */
  readonly store: Store;
  /** Two who may approve, as the headers of their calls. */
  readonly voters: readonly Headers[];
  readonly seconds: number;
  readonly seed: number;
  readonly clientCount?: number;
  /** Between two calls of a client, on average. */
  readonly pauseMs?: number;
}

export async function run(options: RunOptions): Promise<History> {
  const { clientCount = 24 } = options;
  const told: Told[] = [];
  const votes: Vote[] = [];
  const stops: Stop[] = [];
  const faults = new Map<string, number>();
  const services: Promise<number>[] = [];
  const { next: random } = createRandom(options.seed);
  const world: World = {
    ...options,
    told,
    votes,
    stops,
    faults,
    services,
    random,
    agents: [],
    session: 0,
    isOver: false,
  };
  for (let count = 0; count < 4; count += 1) world.agents.push(await makeAgent(options.store));
  const clients = Array.from({ length: clientCount }, (_, at) => client(world, at));
  const others = [managers(world), people(world)];
  await nemesis(world);
  const waited = await Promise.all(services);
  world.isOver = true;
  await Promise.all([...clients, ...others]);
  await drain(world);
  return { told, votes, stops, faults, services: waited };
}

interface World extends RunOptions {
  readonly told: Told[];
  readonly votes: Vote[];
  readonly stops: Stop[];
  readonly faults: Map<string, number>;
  readonly services: Promise<number>[];
  readonly random: () => number;
  readonly agents: Agent[];
  /** Whose budget is used now; the next one once it is used up. */
  session: number;
  isOver: boolean;
}

async function makeAgent(store: Store): Promise<Agent> {
  const name = `agent-${randomUUID()}`;
  const added = await addAgent(store, { name, riskTier: 'low', controlOwner: 'o@example.com', tags: [] });
  if (added.kind !== 'added') throw new Error(added.kind);
  const { id } = added.agent;
  const signed = await setSigning(store, {
    agentId: id,
    signing: 'optional',

    nowMs: Date.now(),
  });
  if (signed.kind !== 'changed' || signed.signingSecret === null) throw new Error(signed.kind);
  return { id, apiKey: added.apiKey, secret: signed.signingSecret };
}

function urls({ replicas }: World): readonly string[] {
  return replicas.all.flatMap(({ service }) => service?.url ?? []);
}

interface Call {
  /** `pay.send` unless said otherwise. */
  readonly action?: 'pay.ask';
  readonly amount: number;
  readonly session: string;
  readonly key?: string;
  readonly nonce?: string;
}

/** Null where no answer came. */
async function ask(world: World, url: string, agent: Agent, call: Call): Promise<string | null> {
  const { action: action_key = 'pay.send', amount } = call;
  const body = JSON.stringify({ action_key, payload: { amount, currency: 'USD' } });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-agent-api-key': agent.apiKey,
    'x-agent-session': call.session,
  };
  if (call.key !== undefined) headers['idempotency-key'] = call.key;
  if (call.nonce !== undefined) headers['x-service-signature'] = signature(agent, call.nonce, body);
  const begunAtMs = performance.now();
  try {
    const reply = await fetch(`${url}/v1/authorize`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(patienceMs),
    });
    const answer = (await reply.json()) as { readonly decision?: string; readonly request_id?: string };
    const { decision = null, request_id: id = null } = answer;
    const { key = null, nonce = null } = call;
    const endedAtMs = performance.now();
    world.told.push({
      id,
      agent: agent.id,
      decision,
      status: reply.status,
      key,
      nonce,
      begunAtMs,
      endedAtMs,
    });
    return decision ?? String(reply.status);
  } catch {
    return null;
  }
}

function signature({ secret }: Agent, nonce: string, body: string): string {
  const time = Math.floor(Date.now() / 1000);
  const hmac = createHmac('sha256', secret).update(`v1:${time}:${nonce}:POST:/v1/authorize:${body}`);
  return `t=${time},n=${nonce},v1=${hmac.digest('hex')}`;
}

/** Mostly all ask for the same budget; now and then for one of their own, or twice for the same. */
async function client(world: World, at: number): Promise<void> {
  const { random } = world;
  const own = randomUUID();
  while (!world.isOver) {
    if (world.pauseMs !== undefined) await sleep(2 * random() * world.pauseMs);
    const { all } = world.replicas;
    const url = all[at % all.length]?.service?.url;
    const agent = world.agents[Math.floor(random() * world.agents.length)];
    if (url === undefined || agent === undefined) {
      await sleep(20);
      continue;
    }
    const isShared = random() < 0.6;
    const before = world.session;
    const call: Call = { amount: 1 + Math.floor(random() * 3), session: isShared ? `shared-${before}` : own };
    const dice = random();
    if (dice < 0.06) await askAll(world, agent, { ...call, key: randomUUID() });
    else if (dice < 0.12) await askAll(world, agent, { ...call, nonce: randomUUID() });
    else {
      const answer = await ask(world, url, agent, call);
      if (answer === null || answer === '500') await sleep(20);
      // One that asked for the least and was refused has seen its end.
      if (isShared && answer === 'DENY' && call.amount === 1 && world.session === before) world.session += 1;
    }
  }
}

/** The same to every replica at once. */
async function askAll(world: World, agent: Agent, call: Call): Promise<void> {
  await Promise.all(urls(world).map((url) => ask(world, url, agent, call)));
}

/** What is left of each budget is used. A meter is unknown while it is read anew, so a refusal counts when it stays. */
async function drain(world: World): Promise<void> {
  const agent = await agentAtLast(world.store);
  for (let session = 0; session <= world.session; session += 1) {
    for (let refusals = 0, failures = 0; refusals < 3 && failures < 100; ) {
      // One whose slot was taken while it was stopped decides nothing any more.
      const all = urls(world);
      const url = all[failures % all.length] ?? '';
      const answer = await ask(world, url, agent, { amount: 1, session: `shared-${session}` });
      if (answer === 'DENY') refusals += 1;
      else if (answer !== 'ALLOW') failures += 1;
      if (answer !== 'ALLOW') await sleep(100);
    }
  }
}

/** The server may just be coming back. */
async function agentAtLast(store: Store): Promise<Agent> {
  for (;;) {
    try {
      return await makeAgent(store);
    } catch {
      await sleep(50);
    }
  }
}

/** Two people vote on the same request at the same time, at two replicas: one word ends it, whichever it is. */
async function people(world: World): Promise<void> {
  const { random, told, voters } = world;
  while (!world.isOver) {
    await sleep(30 + random() * 60);
    const all = urls(world);
    const at = Math.floor(random() * all.length);
    const agent = world.agents[Math.floor(random() * world.agents.length)];
    const url = all[at];
    if (agent === undefined || url === undefined) continue;
    const session = randomUUID();
    const from = told.length;
    if ((await ask(world, url, agent, { action: 'pay.ask', amount: 1, session })) !== 'ESCALATE') continue;
    const { id } =
      told.slice(from).find((one) => one.decision === 'ESCALATE' && one.agent === agent.id) ?? {};
    if (id === undefined || id === null) continue;
    const pairs = [
      ['approve', 'approve'],
      ['approve', 'reject'],
      ['reject', 'reject'],
    ] as const;
    await Promise.all(
      pairs[Math.floor(random() * pairs.length)]!.map((word, who) =>
        vote(world, `${all[(at + who) % all.length]}/v1/requests/${id}/${word}`, {
          id,
          agent: agent.id,
          word,
          headers: voters[who] ?? {},
        }),
      ),
    );
  }
}

interface Voting {
  readonly id: string;
  readonly agent: string;
  readonly word: Vote['word'];
  readonly headers: Headers;
}

async function vote(world: World, url: string, { id, agent, word, headers }: Voting): Promise<void> {
  const begunAtMs = performance.now();
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ comment: 'looked at' }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const { status } = (await reply.json()) as { readonly status: string };
    const said = reply.status === 200 ? status : null;
    world.votes.push({ id, agent, word, said, begunAtMs, endedAtMs: performance.now() });
  } catch {
    // Whoever has no answer does not know.
  }
}

/** Agents are revoked, and new ones come; all is stopped for a moment; policies change. */
async function managers(world: World): Promise<void> {
  const { store, random, stops, replicas } = world;
  for (let edition = 2; !world.isOver; ) {
    await sleep(300 + random() * 500);
    try {
      const dice = random();
      if (dice < 0.5) await revokeOne(world);
      else if (dice < 0.8) {
        const stop: Stop = { kind: 'switched', subject: area, fromMs: Infinity, untilMs: Infinity };
        const id = await turnOn(store);
        stops.push({ ...stop, fromMs: performance.now() });
        await sleep(150);
        const kept = stops.at(-1)!;
        kept.untilMs = performance.now();
        await turnOff(store, id);
      } else {
        replicas.writePolicies(policyText(edition));
        edition += 1;
      }
    } catch {
      // The server is not there.
    }
  }
}

async function revokeOne(world: World): Promise<void> {
  const { agents, store, stops, random } = world;
  agents.push(await makeAgent(store));
  const [gone] = agents.splice(Math.floor(random() * (agents.length - 1)), 1);
  if (gone === undefined) return;
  if ((await store.agents.setStatus({ agentId: gone.id, status: 'revoked', atMs: Date.now() })) !== 'changed')
    return;
  stops.push({ kind: 'revoked', subject: gone.id, fromMs: performance.now(), untilMs: Infinity });
}

async function turnOn({ documents }: Store): Promise<string> {
  const id = randomUUID();
  const createdAtMs = Date.now();
  const json = JSON.stringify({
    id,
    scope: { kind: 'area', area },
    reason: 'a test',
    createdAtMs,
    createdBy: 'p',
    createdByName: 'p',
  });
  const put = { kind: 'switch', id, seen: 0, name: null, parent: null, createdAtMs, endsAtMs: null, json };
  const after = { scope: { kind: 'area', area }, reason: 'a test' };
  await documents.write([put], {
    atMs: createdAtMs,
    who: 'p',
    what: 'switch-turned-on',
    subject: id,
    before: null,
    after,
  });
  return id;
}

/** Until it is off: it would stop all for ever. */
async function turnOff({ documents }: Store, id: string): Promise<void> {
  const change = {
    atMs: Date.now(),
    who: 'p',
    what: 'switch-turned-off',
    subject: id,
    before: null,
    after: null,
  };
  for (;;) {
    try {
      const result = await documents.write([{ isRemoval: true, kind: 'switch', id, seen: 1 }], change);
      if (result === 'changed' || (await documents.find('switch', id)) === null) return;
    } catch {
      await sleep(50);
    }
  }
}

const kinds = ['failover', 'killed', 'slow', 'stopped', 'cut', 'server'] as const;
/** Each kind has its turn, however short the run is; the server fails over to its standby and back. */
const turns = [...kinds, 'failover'] as const;
/** And people end so many requests, of either word. */
const endedMin = 3;

const serviceMaxMs = 20_000;

/** How long after a standby has become the primary something is granted again. */
async function untilDecided({ told }: World): Promise<number> {
  const fromMs = performance.now();
  while (performance.now() - fromMs < serviceMaxMs) {
    const next = told.find(({ decision, begunAtMs }) => decision !== null && begunAtMs > fromMs);
    if (next !== undefined) return next.endedAtMs - fromMs;
    await sleep(10);
  }
  return Number.POSITIVE_INFINITY;
}

async function nemesis(world: World): Promise<void> {
  const { random, seconds, faults, votes, replicas, server } = world;
  const note = (fault: string) => faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const endsAtMs = performance.now() + seconds * 1000;
  const isDue = () => performance.now() < endsAtMs || !ended('approved') || !ended('rejected');
  const ended = (word: string) => votes.filter(({ said }) => said === word).length >= endedMin;
  for (let round = 0; round < turns.length || isDue(); round += 1) {
    await sleep(400 + random() * 800);
    const replica = replicas.all[Math.floor(random() * replicas.all.length)]!;
    const kind = turns[round] ?? kinds[Math.floor(random() ** 0.7 * kinds.length)]!;
    note(kind);
    switch (kind) {
      case 'killed':
        await replica.service?.end('SIGKILL');
        replica.service = null;
        await replicas.start(replica);
        break;
      case 'stopped':
        replica.service?.process.kill('SIGSTOP');
        await sleep(300 + random() * 1_200);
        replica.service?.process.kill('SIGCONT');
        break;
      case 'cut':
        replica.wire.cut();
        await sleep(300 + random() * 900);
        replica.wire.mend();
        break;
      case 'slow':
        replica.wire.slow(10 + random() * 80);
        await sleep(300 + random() * 1_200);
        replica.wire.slow(0);
        break;
      case 'failover':
        await server.failOver(() => void world.services.push(untilDecided(world)));
        break;
      case 'server':
        await server.kill();
        await sleep(100);
        await server.start();
        break;
    }
  }
}
