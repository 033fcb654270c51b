// Clients that ask several replicas at once for what only one may have: the rest of a budget, a nonce, an
// idempotency key. Meanwhile people stop and revoke, and faults happen. All replies are kept, with the times
// of the requests and the replies.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../src/language/value/random.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { fallbacks } from './fallbacks.ts';
import { nemesis } from './faults.ts';
import { owners, people } from './people.ts';
import { plans } from './plans.ts';
import { standIns } from './stand-ins.ts';
import { standingApprovals } from './standing.ts';
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
  revokeAgent,
  type Stop,
  soonMs,
  urls,
  type World,
} from './world.ts';

/** A deadline that passes is recorded within this time. */
const sweptWithinMs = 2_500;

export async function run(options: RunOptions): Promise<History> {
  const { next: random } = createRandom(options.seed);
  const noted = {
    told: createToldLog(),
    votes: [],
    outcomes: [],
    proofs: [],
    stops: [],
    starts: [],
    revokedStanding: [],
    plans: [],
  };
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
  const others = [
    managers(world),
    people(world),
    owners(world),
    standingApprovals(world),
    plans(world),
    fallbacks(world),
    standIns(world),
  ];
  const fromMs = performance.now();
  await nemesis(world);
  const tookS = (performance.now() - fromMs) / 1000;
  const services = await Promise.all(world.services);
  world.isOver = true;
  await Promise.all([...clients, ...others]);
  // Deadlines pass meanwhile; replicas look for them every second.
  await Promise.all([drainAll(world), sleep(soonMs + sweptWithinMs)]);
  return { ...world, services, tookS, counts: world.told.counts };
}

/** The average pause of a client after a failed call, in milliseconds. */
const afterFailureMs = 100;

/**
 * A client mostly spends from the budget that all clients share; now and then from a budget of its own, or
 * asks twice with the same key.
 */
async function client(world: World, at: number): Promise<void> {
  const { random, pauseMs } = world;
  let own = randomUUID();
  /** The replica that the client calls; another one after a call that failed. */
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
      // A client that is stopped or revoked asks again after a short pause. After a failure it waits longer,
      // because its calls would slow down the recovery.
      if (hasFailed) await sleep((0.5 + random()) * afterFailureMs);
      else if (answer.status !== 200) await sleep(20);
      // A refusal of the smallest amount shows that the budget is used up.
      const isUsedUp = answer?.decision === 'DENY' && call.amount === 1;
      if (isUsedUp && !isShared) own = randomUUID();
      if (isUsedUp && isShared && world.session === before) world.session += 1;
    }
  }
}

/** How many budgets are drained at once. */
const drainsMax = 32;

/**
 * Uses up the rest of each budget. While all meters are read again, which takes longer the more was granted,
 * everything is refused. So a budget counts as used up only when nothing more is granted from any budget.
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

/** Spends until nothing is left; returns the number of grants. Only a refusal that is repeated counts. */
async function drain(world: World, agent: Agent, session: string): Promise<number> {
  let granted = 0;
  for (let refusals = 0, failures = 0; refusals < 3 && failures < 100; ) {
    // A replica that lost its slot while it was stopped no longer decides, so the replicas take turns.
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

/** Makes an agent; retries while the server is restarting. */
async function agentAtLast(store: Store): Promise<Agent> {
  for (;;) {
    try {
      return await makeAgent(store);
    } catch {
      await sleep(50);
    }
  }
}

/** Revokes agents and adds new ones, stops everything for a moment, and changes policies. */
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
      // The server is not reachable.
    }
  }
}

async function revokeOne(world: World): Promise<void> {
  const { agents, store, random } = world;
  agents.push(await makeAgent(store));
  const [gone] = agents.splice(Math.floor(random() * (agents.length - 1)), 1);
  if (gone !== undefined) await revokeAgent(world, gone);
}

/** A switch whose write got no answer may be on all the same, or may yet be turned on. */
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
    what: 'kill-switch-created',
    subject: id,
    before: null,
    after,
  });
}

/** Tries until the switch is off, because it would stop everything for ever. */
async function turnOff({ documents }: Store, id: string): Promise<void> {
  const change = {
    atMs: Date.now(),
    who: 'p',
    what: 'kill-switch-deactivated',
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
