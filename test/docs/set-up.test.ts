// The shipped packs work with the set-up of the tour: the people it invites can answer, through the inbox,
// every request that waits. The requests are the cases of the packs' own tests.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSources } from '../../src/pipeline.ts';
import { takeFirstAgent } from '../../src/service/agents/first-agent.ts';
import { addAgent } from '../../src/service/agents/registry.ts';
import { offerTotp } from '../../src/service/people/codes.ts';
import type { Role } from '../../src/service/people/operations.ts';
import { totpAt } from '../../src/service/people/totp.ts';
import { openPolicies, type PolicyHost } from '../../src/service/policies/policy-host.ts';
import { readPolicies } from '../../src/service/policies/read-policies.ts';
import { findTests } from '../../src/testing/find-test-files.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import type { Situation } from '../../src/testing/test-file.ts';
import {
  type Client,
  firstAdmin,
  password,
  personWith,
  setUpCodes,
  tokenClient,
} from '../service/http/person-client.ts';
import { type Service, startService } from '../service/http/service.ts';
import { ask } from '../service/http/written-policies.ts';

const hour = 3_600_000;
const week = 168 * hour;
/** Rules that, by the documentation of their packs, wait only beside rules that others add. */
const inReserve = ['risky_payments/high_risk'];

let policies: PolicyHost | null = null;

beforeAll(async () => {
  policies = await openPolicies({ directory: 'policies' });
});

afterAll(() => policies?.close());

/** The people that the tour invites by `people invite`. */
function invitedByTour(): readonly { email: string; roles: readonly Role[]; groups: readonly string[] }[] {
  const line = /^npm run -s writ -- people invite (\S+) (.*)$/gm;
  return [...readFileSync('docs/TOUR.md', 'utf8').matchAll(line)].map(([, email = '', options = '']) => ({
    email,
    roles: [...options.matchAll(/--role (\w+)/g)].map(([, role]) => role as Role),
    groups: [...options.matchAll(/--group (\w+)/g)].map(([, group = '']) => group),
  }));
}

async function waitingRules(): Promise<readonly string[]> {
  const { set } = checkSources((await readPolicies('policies')).sources);
  const rules = (set?.policies ?? []).flatMap((policy) => policy.rules);
  return rules.filter(({ requirement }) => requirement !== null).map(({ id }) => id);
}

interface Wanting extends Situation {
  /** The rule that decides, if the case names it. */
  readonly by: string | null;
}

/** Requests that need people, the earliest first. */
async function situations(): Promise<readonly Wanting[]> {
  const files = await findTests(['policies']);
  const cases = files.flatMap((path) => readTestFile({ path, text: readFileSync(path, 'utf8') }).cases);
  const waiting = cases.filter(
    ({ expectation, situation }) =>
      (expectation.decision === 'ESCALATE' || expectation.decision === 'REAUTH_REQUIRED') &&
      situation.satisfied.length === 0,
  );
  const found = waiting.map(({ situation, expectation }) => Object.assign({ by: expectation.by }, situation));
  return found.toSorted((a, b) => a.nowMs - b.nowMs);
}

interface World {
  readonly service: Service;
  readonly people: readonly Client[];
  /** A new one-time code of the control owner; moves the clock on. */
  readonly code: () => string;
  /** The key of an agent of this tier, whose control owner is the first admin. */
  readonly keyOf: (tier: string) => Promise<string>;
  readonly time: { aheadMs: number };
}

async function setUp(host: PolicyHost): Promise<World> {
  const time = { aheadMs: 0 };
  const clock = () => Date.now() + time.aheadMs;
  const service = await startService({ clock, policies: host });
  const admin = await firstAdmin(service);
  const { email } = admin;
  await takeFirstAgent(service.store, { email, who: email, nowMs: clock() });
  const invited = [];
  for (const one of invitedByTour()) invited.push((await personWith(service, admin, one)).person);
  const { secret } = offerTotp(admin);
  await setUpCodes(service, admin, { secret, clock });
  time.aheadMs += hour;
  const code = () => {
    time.aheadMs += 30_000;
    return totpAt(secret, clock());
  };
  const keys = new Map<string, string>();
  const keyOf = async (tier: string) => {
    const known = keys.get(tier);
    if (known !== undefined) return known;
    const draft = { name: `of-${tier}`, riskTier: tier, controlOwner: email, tags: [] };
    const added = await addAgent(service.store, draft as Parameters<typeof addAgent>[1]);
    if (added.kind !== 'added') throw new Error(added.kind);
    keys.set(tier, added.apiKey);
    return added.apiKey;
  };
  const people = await Promise.all([admin, ...invited].map((person) => tokenClient(service, person, 30)));
  return { service, people, code, keyOf, time };
}

interface Repeated {
  readonly action: string;
  readonly payload: object;
  readonly key: string;
  /** The number of tries, enough to fill a meter. */
  readonly tries: number;
}

/** The id of a request that waits; null when no try waits. */
async function waitingRequest(
  service: Service,
  { action, payload, key, tries }: Repeated,
): Promise<string | null> {
  for (let count = 0; count < tries; count += 1) {
    const { request_id: id, status } = await ask(service, action, { payload, key });
    if (status === 'pending') return id;
  }
  return null;
}

/**
 * Each person does what their inbox offers, until it offers nothing to anybody; returns the status of the
 * request.
 */
async function answered({ people, code }: World, id: string): Promise<string> {
  let status = 'pending';
  for (let round = 0; round < 3 && status === 'pending'; round += 1) {
    for (const person of people) {
      const { body } = await person.send('/v1/approvals?limit=200');
      const item = body.items.find((one: { request_id: string }) => one.request_id === id);
      if (item === undefined) continue;
      const [path, sent] = item.allowed_actions.step_up
        ? ['step-up', { password, code: code() }]
        : ['approve', { comment: 'looked at', group: item.allowed_actions.approve[0] }];
      const reply = await person.send(`/v1/requests/${id}/${path}`, { method: 'POST', body: sent });
      expect([path, reply.status]).toEqual([path, 200]);
      status = reply.body.status;
      if (status !== 'pending') break;
    }
  }
  return status;
}

test('people whom the tour invites answer all that the packs make wait', async () => {
  const host = policies as PolicyHost;
  const world = await setUp(host);
  const [admin] = world.people as [Client];
  const weeks = Math.ceil((Date.now() + 2 * hour - Date.UTC(2026, 2, 1)) / week);
  const all = await waitingRules();
  const seen = new Set<string>();
  for (const { action, payload, agent, nowMs, meters, by } of await situations()) {
    const isKnown =
      by === null ? all.every((rule) => seen.has(rule) || inReserve.includes(rule)) : seen.has(by);
    if (isKnown) continue;
    // The same time of a week that is still to come.
    const wanted = nowMs + weeks * week - Date.now();
    world.time.aheadMs = Math.max(world.time.aheadMs, wanted);
    const key = await world.keyOf(agent.risk_tier ?? 'low');
    const id = await waitingRequest(world.service, {
      action,
      payload,
      key,
      tries: meters.length > 0 ? 8 : 1,
    });
    if (id === null) continue;
    const { body } = await admin.send(`/v1/requests/${id}`);
    const asking = body.trace.filter((entry: { truth: string }) => entry.truth === 'true');
    expect([action, await answered(world, id)]).toEqual([action, 'approved']);
    for (const { rule } of asking) seen.add(rule);
  }
  expect(all.length).toBeGreaterThan(15);
  expect(all.filter((rule) => !seen.has(rule) && !inReserve.includes(rule))).toEqual([]);
});
