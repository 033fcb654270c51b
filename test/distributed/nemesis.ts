// Clients that ask several replicas at once for what one may have: the rest of a budget, a nonce, an idempotency key; people who
// stop and revoke meanwhile; and what breaks. All that was told is kept, with the times at which it was asked and answered.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../src/language/value/random.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { nemesis } from './faults.ts';
import { owners, people } from './people.ts';
import { createToldLog } from './told.ts';
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
  const { next: random } = createRandom(options.seed);
  const noted = { told: createToldLog(), votes: [], outcomes: [], proofs: [], stops: [], starts: [] };
  const empty = {
    ...noted,
    services: [],
    agents: [],
    faults: new Map(),
    longest: new Map(),
    rates: new Map(),
  };
  const world: World = { ...options, ...empty, random, session: 0, isOver: false };
  for (let count = 0; count < 4; count += 1) world.agents.push(await makeAgent(options.store));
  const clients = Array.from({ length: options.clientCount }, (_, at) => client(world, at));
  const others = [managers(world), people(world), owners(world)];
  const fromMs = performance.now();
  await nemesis(world);
  const tookS = (performance.now() - fromMs) / 1000;
  const services = await Promise.all(world.services);
  world.isOver = true;
  await Promise.all([...clients, ...others]);
  // Deadlines pass meanwhile, and replicas look for these each second.
  await Promise.all([drainAll(world), sleep(soonMs + sweptWithinMs)]);
  return { ...world, services, tookS, counts: world.told.counts };
}

/** On average. */
const afterFailureMs = 100;

/** Mostly all ask for the same budget; now and then for one of their own, or twice for the same. */
async function client(world: World, at: number): Promise<void> {
  const { random, pauseMs } = world;
  let own = randomUUID();
  /** Of a replica; another one after that has not answered. */
  let place = at;
  while (!world.isOver) {
    if (pauseMs > 0) await sleep(2 * random() * pauseMs);
    const { all } = world.replicas;
    const url = all[place % all.length]?.service?.url;
    const agent = world.agents[Math.floor(random() * world.agents.length)];
    if (url === undefined || agent === undefined) {
      place += 1;
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
      const hasFailed = answer === null || answer.status >= 500;
      if (hasFailed) place = Math.floor(random() * all.length);
      // Who is stopped or revoked asks again soon, and not at once; where nothing works, asking only takes from what recovers.
      if (hasFailed) await sleep((0.5 + random()) * afterFailureMs);
      else if (answer.status !== 200) await sleep(20);
      // One that asked for the least and was refused has seen its end.
      const isUsedUp = answer?.decision === 'DENY' && call.amount === 1;
      if (isUsedUp && !isShared) own = randomUUID();
      if (isUsedUp && isShared && world.session === before) world.session += 1;
    }
  }
}

/** At once. */
const drainsMax = 32;

/**
 * What is left of each budget is used. While all meters are read anew, which takes longer the more was granted, all is refused: a
 * budget counts as used when nothing more is granted of any.
 */
async function drainAll(world: World): Promise<void> {
  const agent = await agentAtLast(world.store);
  for (let granted = 1; granted > 0; ) {
    granted = 0;
    let next = 0;
    const drains = Array.from({ length: drainsMax }, async () => {
      while (next <= world.session) {
        const session = next;
        next += 1;
        const more = await drain(world, agent, `shared-${session}`);
        granted += more;
      }
    });
    await Promise.all(drains);
  }
}

/** Yields how often it was granted something; a refusal counts when it stays. */
async function drain(world: World, agent: Agent, session: string): Promise<number> {
  let granted = 0;
  for (let refusals = 0, failures = 0; refusals < 3 && failures < 100; ) {
    // One whose slot was taken while it was stopped decides nothing any more.
    const all = urls(world);
    const url = all[failures % all.length] ?? '';
    const answer = (await ask(world, url, agent, { amount: 1, session }))?.decision;
    if (answer === 'DENY') refusals += 1;
    else if (answer !== 'ALLOW') failures += 1;
    if (answer === 'ALLOW') granted += 1;
    else await sleep(100);
  }
  return granted;
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
  const { random, replicas } = world;
  for (let edition = 2; !world.isOver; ) {
    await sleep((0.5 + random()) * world.betweenChangesMs);
    try {
      const dice = random();
      if (dice < 0.5) await revokeOne(world);
      else if (dice < 0.8) {
        await stopFor(world, 150);
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

/** Whoever did not answer may have turned it on all the same, and may yet. */
const doubtMs = 3_000;

async function stopFor({ store, stops }: World, ms: number): Promise<void> {
  const id = randomUUID();
  try {
    await turnOn(store, id);
  } catch {
    await turnOff(store, id);
    await sleep(doubtMs);
    return await turnOff(store, id);
  }
  const stop: Stop = { kind: 'switched', subject: area, fromMs: performance.now(), untilMs: Infinity };
  stops.push(stop);
  await sleep(ms);
  stop.untilMs = performance.now();
  await turnOff(store, id);
}

async function turnOn({ documents }: Store, id: string): Promise<void> {
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
