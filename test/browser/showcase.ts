// A real service with a week behind it: people, agents, hundreds of decisions by the shipped policies, what people said
// to them, and what waits now. Its clock runs through that week while it is filled and stands at now when that is done.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/service/http/app.ts';
import { tokenDigest } from '../../src/service/http/routes/plants.ts';
import {
  acceptInvitation,
  apply,
  createSetUpLink,
  invite,
  setUpFirstAdmin,
} from '../../src/service/people/access.ts';
import { createDirectory } from '../../src/service/people/directory.ts';
import type { Role } from '../../src/service/people/operations.ts';
import type { Person } from '../../src/service/people/person.ts';
import { createToken } from '../../src/service/people/tokens.ts';
import { openPolicies } from '../../src/service/policies/policy-host.ts';
import { startExpiry } from '../../src/service/requests/expiry.ts';
import { startMeterUpkeep } from '../../src/service/requests/metering/meter-upkeep.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import { openStore } from '../../src/service/store/open.ts';
import { type Answer, type Client, client, password, signedIn } from '../http/person-client.ts';
import type { Service } from '../http/service.ts';
import { type Ask, askOf, createChance, type ShownAgent } from './showcase-asks.ts';

export interface Showcase {
  readonly url: string;
  /** Of the admin. */
  readonly email: string;
  /** Ids of what pages show one of. */
  readonly shown: { readonly request: string; readonly approval: string; readonly agent: string };
  readonly close: () => Promise<void>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const adminEmail = 'ann@example.com';
const policies = join(import.meta.dirname, '../../policies');

type Shown = Pick<Service, 'url' | 'store'> & { readonly clock: Clock };

interface Clock {
  (): number;
  /** Runs up to that moment; it never goes back. */
  readonly runTo: (atMs: number) => void;
}

function createShownClock(behindMs: number): Clock {
  let aheadMs = -behindMs;
  const clock = (): number => Date.now() + aheadMs;
  return Object.assign(clock, {
    runTo: (atMs: number) => {
      aheadMs = Math.min(0, Math.max(aheadMs, atMs - Date.now()));
    },
  });
}

export async function openShowcase(): Promise<Showcase> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-showcase-'));
  const store = await openStore({ path: join(directory, 'writ.db') });
  const host = await openPolicies({ directory: policies });
  const clock = createShownClock(7 * dayMs);
  const failed = (error: unknown): void => console.error(error);
  const metering = createMetering({ meters: store.meters, clock, onFailure: failed });
  const upkeep = startMeterUpkeep({ metering, policies: () => host.current(), onFailure: failed });
  await upkeep.take();
  const app = createApp({
    store,
    policies: host,
    clock,
    metering,
    sandboxTokenDigest: tokenDigest('showcase'),
    bodyBytesMax: 256 * 1024,
    rate: { perMinute: 60_000, burst: 10_000 },
    log: { level: 'warn', stream: { write: (line) => console.error(line) } },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const expiry = startExpiry({
    requests: store.requests,
    clock,
    everyMs: 50,
    onFailure: failed,
    onEnd: (id) => metering.settle(id, null),
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    await expiry.close();
    await app.close();
    await upkeep.close();
    await host.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const shown = await fill({ url: `http://127.0.0.1:${port}`, store, clock });
    return { url: `http://127.0.0.1:${port}`, email: adminEmail, shown, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const people: readonly { email: string; name: string; roles: readonly Role[]; groups?: readonly string[] }[] =
  [
    { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] },
    { email: 'cleo@example.com', name: 'Cleo', roles: ['approver', 'owner'], groups: ['finance'] },
    { email: 'dana@example.com', name: 'Dana', roles: ['operator'] },
    { email: 'eli@example.com', name: 'Eli', roles: ['auditor'] },
    { email: 'finn@example.com', name: 'Finn', roles: ['owner', 'approver'], groups: ['security'] },
  ];

const agents = {
  'invoice-payer': {
    risk_tier: 'medium',
    control_owner: 'finn@example.com',
    tags: ['payments', 'production'],
  },
  'travel-buyer': { risk_tier: 'low', control_owner: 'cleo@example.com', tags: ['payments'] },
  'treasury-bot': {
    risk_tier: 'critical',
    control_owner: 'finn@example.com',
    tags: ['payments', 'production'],
  },
  'household-banker': { risk_tier: 'high', control_owner: 'finn@example.com', tags: ['banking'] },
  'team-assistant': { risk_tier: 'low', control_owner: 'finn@example.com', tags: ['chat', 'pilot'] },
} as const satisfies Readonly<Record<ShownAgent, object>>;

async function fill(service: Shown): Promise<Showcase['shown']> {
  const directory = createDirectory(service.store.documents, service.clock);
  const secret = (await createSetUpLink(directory)) ?? '';
  const joined = await setUpFirstAdmin(directory, { secret, email: adminEmail, name: 'Ann', password });
  if (joined.kind !== 'joined') throw new Error(joined.kind);
  const admin = joined.person;
  await addPeople(service, admin);
  const who = await signedIn(service, admin.email);
  const groups = { groups: ['finance', 'security'] };
  await sent(who, `/v1/people/${admin.id}`, groups, 'PATCH');
  const { keys, ids } = await registerAgents(who);
  const voices = await voicesOf(service);
  await liveThrough(service, { keys, voices });
  return await leaveWaiting(service, { keys, ids, voices });
}

async function addPeople({ store, clock }: Shown, admin: Person): Promise<void> {
  const directory = createDirectory(store.documents, clock);
  const actor = { person: admin, roles: admin.roles };
  for (const { groups = [], ...person } of people) {
    const invited = await invite(directory, actor, { ...person, groups });
    if (invited.kind !== 'invited') throw new Error(JSON.stringify(invited));
    await acceptInvitation(directory, { secret: invited.secret, password });
  }
}

interface Registered {
  readonly keys: Readonly<Record<ShownAgent, string>>;
  readonly ids: Readonly<Record<ShownAgent, string>>;
}

async function registerAgents(admin: Client): Promise<Registered> {
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};
  for (const [name, draft] of Object.entries(agents)) {
    const { body } = await sent(admin, '/v1/agents', { name, ...draft });
    keys[name] = body.api_key;
    ids[name] = body.agent.id;
  }
  return { keys, ids } as unknown as Registered;
}

async function sent(who: Client, path: string, body?: unknown, method = 'POST'): Promise<Answer> {
  const answer = await who.send(path, { method, body });
  if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer;
}

async function ask(service: Shown, key: string, { action_key, payload }: Ask) {
  const who = client(service, { 'x-agent-api-key': key });
  return (await sent(who, '/v1/authorize', { action_key, payload })).body;
}

/** How much is asked in each hour of a day, from 0 to 1. */
function business(atMs: number): number {
  const hour = (atMs / hourMs) % 24;
  return 0.08 + 0.92 * Math.exp(-(((hour - 14) / 4.2) ** 2));
}

interface Speaking {
  readonly keys: Registered['keys'];
  readonly voices: Voices;
}

const askedInAll = 1_400;
/** How often each agent asks; together 1. */
const shares: readonly (readonly [ShownAgent, number])[] = [
  ['invoice-payer', 0.34],
  ['travel-buyer', 0.14],
  ['treasury-bot', 0.03],
  ['household-banker', 0.24],
  ['team-assistant', 0.25],
];

async function liveThrough(service: Shown, { keys, voices }: Speaking): Promise<void> {
  const { clock } = service;
  const chance = createChance(7);
  const startMs = clock();
  const endMs = Date.now() - 20 * minuteMs;
  const weights = Array.from({ length: Math.ceil((endMs - startMs) / hourMs) }, (_, hour) =>
    business(startMs + hour * hourMs),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const words: Word[] = [];
  for (const [hour, weight] of weights.entries()) {
    const count = Math.round((askedInAll * weight) / sum);
    for (let index = 0; index < count; index += 1) {
      clock.runTo(Math.min(endMs, startMs + (hour + (index + chance()) / count) * hourMs));
      await say(words, voices, clock());
      const name = agentOf(chance());
      const reply = await ask(service, keys[name], askOf(name, chance));
      if (reply.status === 'pending') words.push(...wordsFor(reply, { nowMs: clock(), chance }));
      if (reply.status === 'auto_approved' && chance() < 0.4)
        await reportOutcome(service, keys[name], reply.request_id);
    }
  }
  clock.runTo(endMs);
}

async function reportOutcome(service: Shown, key: string, id: string): Promise<void> {
  await sent(client(service, { 'x-agent-api-key': key }), `/v1/requests/${id}/outcome`, {
    executed: true,
  });
}

/** `part` is from 0 up to 1. */
function agentOf(part: number): ShownAgent {
  let left = part;
  for (const [name, share] of shares) {
    left -= share;
    if (left < 0) return name;
  }
  return 'invoice-payer';
}

const speakers = ['ben', 'cleo', 'finn'] as const;
type Voices = Readonly<Record<(typeof speakers)[number], Client>>;

/** With tokens: a session ends when nothing happens in it for long. */
async function voicesOf(service: Shown): Promise<Voices> {
  const directory = createDirectory(service.store.documents, service.clock);
  const pairs = speakers.map(async (name) => {
    const found = await directory.people.findByName(`${name}@example.com`);
    if (found === null) throw new Error(`${name} is not there`);
    const { value: person } = found;
    const draft = { name: 'approvals from the chat', roles: person.roles, days: 30 };
    const made = await createToken(directory, { person, roles: person.roles }, draft);
    if (made.kind !== 'made') throw new Error(JSON.stringify(made));
    return [name, client(service, { authorization: `Bearer ${made.text}` })] as const;
  });
  return Object.fromEntries(await Promise.all(pairs)) as Voices;
}

/** What a person is going to say to a request. */
interface Word {
  readonly atMs: number;
  readonly who: keyof Voices;
  readonly path: string;
  readonly comment: string;
}

function wordsFor(
  { request_id: id, decision }: { readonly request_id: string; readonly decision: string },
  { nowMs, chance }: { readonly nowMs: number; readonly chance: () => number },
): readonly Word[] {
  if (decision !== 'ESCALATE' || chance() < 0.08) return [];
  const isApproved = chance() < 0.8;
  const comment = isApproved ? 'Checked against the order' : 'Nobody ordered this';
  const path = `/v1/requests/${id}/${isApproved ? 'approve' : 'reject'}`;
  return speakers.map((who, index) => ({
    who,
    path,
    comment,
    atMs: nowMs + (2 + 25 * chance() ** 2 + 6 * index) * minuteMs,
  }));
}

/** Says what is due. Whoever is not asked, or comes too late, is told so. */
async function say(words: Word[], voices: Voices, nowMs: number): Promise<void> {
  for (const word of words.filter(({ atMs }) => atMs <= nowMs)) {
    words.splice(words.indexOf(word), 1);
    await voices[word.who].send(word.path, { method: 'POST', body: { comment: word.comment } });
  }
}

/** What is open now: approvals, a step-up, a stopped agent that goes on asking, an application. */
async function leaveWaiting(
  service: Shown,
  { keys, ids, voices }: Registered & Speaking,
): Promise<Showcase['shown']> {
  const { clock, store } = service;
  const nowMs = Date.now();
  const pay = (vendor: string, amount: number, description?: string): Ask => {
    const payload = {
      amount,
      currency: 'USD',
      vendor,
      ...(description === undefined ? {} : { description }),
    };
    return { action_key: 'payment.create', payload };
  };
  const waiting: readonly (readonly [minutes: number, agent: ShownAgent, what: Ask])[] = [
    [19, 'invoice-payer', pay('Grainger', 6_420, 'forklift batteries')],
    [14, 'invoice-payer', pay('Harbour Print', 312.4, 'leaflets')],
    [11, 'travel-buyer', pay('Northline Rail', 187, 'tickets to the trade fair')],
    [
      9,
      'household-banker',
      askFor('banking.send_money', {
        recipient: 'FR7630006000011234567890189',
        amount: 940,
        subject: 'deposit',
        date: '2026-12-01',
      }),
    ],
    [
      7,
      'team-assistant',
      askFor('slack.send_direct_message', {
        recipient: 'jo',
        body: 'The minutes are at https://notes.example.com/w47',
      }),
    ],
    [5, 'invoice-payer', pay('Lumen Parts', 1_890)],
    [4, 'household-banker', askFor('banking.update_password', { password: 'a longer password' })],
    [2, 'team-assistant', askFor('slack.read_channel_messages', { channel: 'general' })],
  ];
  const asked: string[] = [];
  for (const [minutes, agent, what] of waiting) {
    clock.runTo(nowMs - minutes * minuteMs);
    asked.push((await ask(service, keys[agent], what)).request_id);
  }
  const [large = '', print = ''] = asked;
  const directory = createDirectory(store.documents, clock);
  await apply(directory, {
    email: 'gil@example.com',
    name: 'Gil',
    reason: 'I am on call for finance from December and approve payments.',
  });
  await sent(voices.ben, `/v1/requests/${large}/approve`, { comment: 'The order is signed' });
  clock.runTo(nowMs - minuteMs);
  const admin = await signedIn(service, adminEmail);
  const scope = `agent:${ids['treasury-bot']}`;
  await sent(admin, '/v1/switches', { scope, reason: 'Pays the same invoice again and again' });
  for (let tries = 0; tries < 4; tries += 1) {
    const stopped = client(service, { 'x-agent-api-key': keys['treasury-bot'] });
    await stopped.send('/v1/authorize', { method: 'POST', body: pay('Uline', 410 + tries, 'invoice 2291') });
  }
  clock.runTo(nowMs + dayMs);
  return { request: print, approval: large, agent: ids['invoice-payer'] };
}

function askFor(action_key: string, payload: Ask['payload']): Ask {
  return { action_key, payload };
}
