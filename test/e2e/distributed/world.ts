// What the faults and the clients share: the policies, the replicas, the calls, and all replies with the
// times of the requests and the replies.

import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAgent, setSigning } from '../../../src/service/agents/registry.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { post } from './call.ts';
import type { Replicas } from './replicas.ts';
import type { ServerPair } from './server-pair.ts';
import type { StandInPeople } from './stand-ins.ts';
import type { Told, ToldLog } from './told.ts';

/** A person's vote on a request that waits, and the reply. */
export interface Vote {
  readonly id: string;
  readonly agent: string;
  readonly word: 'approve' | 'reject';
  /** The status of the request in the reply; null when the vote was not accepted. */
  readonly said: string | null;
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

/** An outcome that an agent reported for one of its grants, at several replicas at once. */
export interface Outcome {
  readonly id: string;
  readonly executed: boolean;
  readonly isTaken: boolean;
}

/** A code that a person showed for two requests at once, and perhaps again for two others. */
export interface Proof {
  /** The time step of the code. */
  readonly step: number;
  readonly person: string;
  readonly requests: readonly string[];
  /** The requests that a reply called granted by this code. */
  readonly granted: readonly string[];
}

/** A plan as a reply showed it. */
export interface ToldPlan {
  readonly id: string;
  /** The id in the first reply under the same idempotency key. */
  readonly twin: string;
  readonly requests: readonly string[];
}

/** A standing approval that was revoked, and when the reply arrived. */
export interface RevokedStanding {
  readonly id: string;
  readonly atMs: number;
}

export interface Stop {
  readonly kind: 'revoked' | 'switched';
  /** The id of the agent, or the area that was stopped. */
  readonly subject: string;
  /** When the reply arrived, and when the stop was undone; infinity for a revocation. */
  readonly fromMs: number;
  untilMs: number;
}

export interface Rate {
  decisions: number;
  tookMs: number;
}

export interface History {
  readonly told: AsyncIterable<Told> | Iterable<Told>;
  readonly votes: readonly Vote[];
  readonly outcomes: readonly Outcome[];
  readonly proofs: readonly Proof[];
  readonly stops: readonly Stop[];
  readonly revokedStanding: readonly RevokedStanding[];
  readonly plans: readonly ToldPlan[];
  readonly faults: ReadonlyMap<string, number>;
  /** For each failover, the milliseconds until the next decision; infinite when there was none. */
  readonly services: readonly number[];
  /** For each replica that was killed, the milliseconds until its next process served. */
  readonly starts: readonly number[];
  /** By the kind of fault: the longest time in which nothing was granted, in milliseconds. */
  readonly longest: ReadonlyMap<string, number>;
  /**
   * By the kind of fault that was under way, or `none`: the number of decisions, and the time in
   * milliseconds.
   */
  readonly rates: ReadonlyMap<string, Rate>;
  /** Counts of all replies, by decision, or by HTTP status for replies without a decision. */
  readonly counts: ReadonlyMap<string, number>;
  /** Seconds until the last fault was over. */
  readonly tookS: number;
}

export const budget = 120;
export const area = 'pay';

/** A client without an answer after this time asks again elsewhere, and does not know the outcome. */
const timeoutMs = 3_000;
/** Longer, because a password is hashed first, behind those of others. */
export const peopleTimeoutMs = 10_000;

/** How long people have to answer `pay.soon`. */
export const soonMs = 1_000;

/** When `pay.pair` asks its fallback; people are reminded after three quarters of that. */
const pairSeconds = 20;

/** How long an approved step of a plan may be executed. */
export const stepSeconds = 5;

export function policyText(edition: number): string {
  return `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  action pay.ask, pay.soon, pay.own, pay.then, pay.pair { amount: money(currency) 0.01.., currency: "USD" }
  action pay.known { amount: money(currency) 0.01.., currency: "USD", vendor: string }
  action pay.step { amount: money(currency) 0.01.., currency: "USD", vendor: string }
  approvers finance "Finance"
  approvers nobody "Nobody"
  approvers spare "Spare"
  meter spent = sum(payload.amount) in USD of pay.send per session over 24h
  policy budget on pay.send {
    allow all because "edition ${edition}"
    deny beyond when spent > ${budget} USD
  }
  policy people on pay.ask {
    allow all for 1h
    escalate big to finance within 1h when payload.amount > 0 USD
  }
  policy late on pay.soon {
    allow all for 1h
    escalate big to finance within ${soonMs / 1_000}s when payload.amount > 0 USD
  }
  policy steps on pay.step {
    allow all for ${stepSeconds}s
    escalate each to finance within 1h
  }
  policy fallback on pay.then {
    allow all for 1h
    escalate big to nobody within ${soonMs / 1_000}s then to finance within 1h when payload.amount > 0 USD
  }
  policy pair on pay.pair {
    allow all for 1h
    escalate two to finance needs 2 within ${pairSeconds}s then to spare within 1h when payload.amount > 0 USD
  }
  policy owners on pay.own {
    allow all for 1h
    reauth each_time when payload.amount > 0 USD
  }
  policy known on pay.known {
    allow all
    escalate vendors to finance within 1h standing per payload.vendor for 8h up to 10 times
  }`;
}

export interface Agent {
  readonly id: string;
  readonly apiKey: string;
  readonly secret: string;
}

export type Headers = Readonly<Record<string, string>>;

export interface Owner {
  readonly email: string;
  readonly password: string;
  readonly headers: Headers;
  /** The secret of the owner's one-time codes. */
  readonly secret: string;
}

export interface RunOptions {
  readonly server: ServerPair;
  readonly replicas: Replicas;
  /** A store as the command line opens it: it changes agents and switches, and does not serve. */
  readonly store: Store;
  /** Two people who may approve, as the headers of their calls. */
  readonly voters: readonly Headers[];
  /** A stand-in of the first voter. */
  readonly standInPeople: StandInPeople;
  /** Control owners, each of an agent of their own, for which they step up. */
  readonly owners: readonly Owner[];
  readonly seconds: number;
  /** The run goes on after `seconds` until this many decisions were made. */
  readonly decisionsLeast: number;
  readonly seed: number;
  readonly clientCount: number;
  /** The average pause between two calls of a client. */
  readonly pauseMs: number;
  /** The average time between two changes by managers. */
  readonly betweenChangesMs: number;
  readonly betweenFaultsMs: number;
}

export interface World extends RunOptions {
  readonly told: ToldLog;
  readonly votes: Vote[];
  readonly outcomes: Outcome[];
  readonly proofs: Proof[];
  readonly stops: Stop[];
  readonly revokedStanding: RevokedStanding[];
  readonly plans: ToldPlan[];
  readonly faults: Map<string, number>;
  readonly services: Promise<number>[];
  readonly starts: number[];
  readonly longest: Map<string, number>;
  readonly rates: Map<string, Rate>;
  readonly random: () => number;
  readonly agents: Agent[];
  /** The session whose shared budget is used now; raised when the budget is used up. */
  session: number;
  isOver: boolean;
}

/**
 * Makes an agent; retries while the server is slow or away. An agent that was stored without a reply harms
 * nothing.
 */
export async function makeAgent(store: Store, controlOwner?: string): Promise<Agent> {
  for (let left = 20; ; left -= 1) {
    try {
      return await makeOneAgent(store, controlOwner);
    } catch (error) {
      if (left === 0 || !(error instanceof StoreError)) throw error;
      await sleep(500);
    }
  }
}

async function makeOneAgent(store: Store, controlOwner = 'o@example.com'): Promise<Agent> {
  const name = `agent-${randomUUID()}`;
  const added = await addAgent(store, { name, riskTier: 'low', controlOwner, tags: [] });
  if (added.kind !== 'added') throw new Error(added.kind);
  const { id } = added.agent;
  const signed = await setSigning(store, { agentId: id, signing: 'optional', nowMs: Date.now() });
  if (signed.kind !== 'changed' || signed.signingSecret === null) throw new Error(signed.kind);
  return { id, apiKey: added.apiKey, secret: signed.signingSecret };
}

export async function revokeAgent({ store, stops }: World, { id }: Pick<Agent, 'id'>): Promise<void> {
  if ((await store.agents.setStatus({ agentId: id, status: 'revoked', atMs: Date.now() })) !== 'changed')
    return;
  stops.push({ kind: 'revoked', subject: id, fromMs: performance.now(), untilMs: Infinity });
}

export function urls({ replicas }: World): readonly string[] {
  return replicas.all.flatMap(({ service }) => service?.url ?? []);
}

export interface Call {
  /** `pay.send` when absent. */
  readonly action?: 'pay.ask' | 'pay.soon' | 'pay.own' | 'pay.known' | 'pay.step' | 'pay.then' | 'pay.pair';
  readonly amount: number;
  readonly session: string;
  readonly vendor?: string;
  readonly key?: string;
  readonly nonce?: string;
  /** Whether an approved request of the agent will do. */
  readonly isAttaching?: boolean;
}

/** Asks one replica for a decision; returns null when no answer came. */
export async function ask(world: World, url: string, agent: Agent, call: Call): Promise<Told | null> {
  const { action: action_key = 'pay.send', amount, vendor } = call;
  const body = JSON.stringify({ action_key, payload: { amount, currency: 'USD', vendor } });
  const headers: Record<string, string> = {
    'x-agent-api-key': agent.apiKey,
    'x-agent-session': call.session,
  };
  if (call.key !== undefined) headers['idempotency-key'] = call.key;
  if (call.nonce !== undefined) headers['x-service-signature'] = signature(agent, call.nonce, body);
  if (call.isAttaching === true) headers.prefer = 'attach';
  const begunAtMs = performance.now();
  const reply = await post({ url: `${url}/v1/authorize`, headers, body, timeoutMs });
  if (reply === null) return null;
  const { status } = reply;
  const answer = reply.body as { readonly decision?: string; readonly request_id?: string };
  const { decision = null, request_id: id = null } = answer;
  const { key = null, nonce = null, isAttaching = false } = call;
  const endedAtMs = performance.now();
  const told = {
    id,
    agent: agent.id,
    decision,
    status,
    key,
    nonce,
    ...(isAttaching && vendor !== undefined && { step: vendor }),
    begunAtMs,
    endedAtMs,
  };
  world.told.add(told);
  return told;
}

export function signature({ secret }: Agent, nonce: string, body: string): string {
  const time = Math.floor(Date.now() / 1000);
  const hmac = createHmac('sha256', secret).update(`v1:${time}:${nonce}:POST:/v1/authorize:${body}`);
  return `t=${time},n=${nonce},v1=${hmac.digest('hex')}`;
}

/** Sends the same call to every replica at once. */
export async function askAll(world: World, agent: Agent, call: Call): Promise<void> {
  await Promise.all(urls(world).map((url) => ask(world, url, agent, call)));
}
