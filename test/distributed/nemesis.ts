// Clients that ask several replicas at once for what one may have: the rest of a budget, a nonce, an idempotency key; people who
// stop and revoke meanwhile; and what breaks. All that was told is kept, with the times at which it was asked and answered.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../src/language/value/random.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { owners, people } from './people.ts';
import {
  type Agent,
  area,
  ask,
  askAll,
  type Call,
  type History,
  makeAgent,
  policyText,
  type RunOptions,
  type Stop,
  soonMs,
  urls,
  type World,
} from './world.ts';

/** Deadlines that have passed are recorded by then. */
const sweptWithinMs = 2_500;

export async function run(options: RunOptions): Promise<History> {
  const { clientCount = 24 } = options;
  const { next: random } = createRandom(options.seed);
  const noted = { told: [], votes: [], outcomes: [], proofs: [], stops: [], starts: [] };
  const empty = { ...noted, services: [], agents: [] };
  const world: World = { ...options, ...empty, faults: new Map(), random, session: 0, isOver: false };
  for (let count = 0; count < 4; count += 1) world.agents.push(await makeAgent(options.store));
  const clients = Array.from({ length: clientCount }, (_, at) => client(world, at));
  const others = [managers(world), people(world), owners(world)];
  await nemesis(world);
  const services = await Promise.all(world.services);
  world.isOver = true;
  await Promise.all([...clients, ...others]);
  // Deadlines pass meanwhile, and replicas look for these each second.
  await Promise.all([drain(world), sleep(soonMs + sweptWithinMs)]);
  return { ...world, services };
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
      if (answer === null || answer.status === 500) await sleep(20);
      // One that asked for the least and was refused has seen its end.
      if (isShared && answer?.decision === 'DENY' && call.amount === 1 && world.session === before)
        world.session += 1;
    }
  }
}

/** What is left of each budget is used. A meter is unknown while it is read anew, so a refusal counts when it stays. */
async function drain(world: World): Promise<void> {
  const agent = await agentAtLast(world.store);
  for (let session = 0; session <= world.session; session += 1) {
    for (let refusals = 0, failures = 0; refusals < 3 && failures < 100; ) {
      // One whose slot was taken while it was stopped decides nothing any more.
      const all = urls(world);
      const url = all[failures % all.length] ?? '';
      const told = await ask(world, url, agent, { amount: 1, session: `shared-${session}` });
      const answer = told?.decision;
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
/** And people end so many requests, of either word, */
const endedMin = 3;
/** and step up so often. */
const steppedUpMin = 2;

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

async function timed(work: () => Promise<void>): Promise<number> {
  const fromMs = performance.now();
  await work();
  return performance.now() - fromMs;
}

async function nemesis(world: World): Promise<void> {
  const { random, seconds, faults, votes, proofs, replicas, server } = world;
  const note = (fault: string) => faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const endsAtMs = performance.now() + seconds * 1000;
  const isDue = () =>
    performance.now() < endsAtMs || !ended('approved') || !ended('rejected') || !haveSteppedUp();
  const ended = (word: string) => votes.filter(({ said }) => said === word).length >= endedMin;
  const haveSteppedUp = () => proofs.filter(({ granted }) => granted.length > 0).length >= steppedUpMin;
  for (let round = 0; round < turns.length || isDue(); round += 1) {
    await sleep(400 + random() * 800);
    const replica = replicas.all[Math.floor(random() * replicas.all.length)]!;
    const kind = turns[round] ?? kinds[Math.floor(random() ** 0.7 * kinds.length)]!;
    note(kind);
    switch (kind) {
      case 'killed':
        await replica.service?.end('SIGKILL');
        replica.service = null;
        world.starts.push(await timed(() => replicas.start(replica)));
        break;
      case 'stopped':
        replica.service?.process.kill('SIGSTOP');
        await sleep(300 + random() * 1_200);
        replica.service?.process.kill('SIGCONT');
        break;
      case 'cut':
        replica.wire.cut();
        await sleep(300 + random() * 900);
        replica.wire.fix();
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
