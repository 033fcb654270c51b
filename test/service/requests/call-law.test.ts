// LAW: a call that the policies refuse by its own facts is never allowed by what was granted to another call:
// not by `Prefer: attach`, not under the idempotency key of the other, and not by showing its approval. Random
// policies over every fact that a rule reads, and random pairs of calls.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { UserFacts } from '../../../src/language/model/request.ts';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { type ActingAs, authenticatePoint } from '../../../src/service/agents/points/point.ts';
import { describeAgent } from '../../../src/service/agents/registry.ts';
import type { AuthorizeInput } from '../../../src/service/requests/authorize.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type { RequestView } from '../../../src/service/requests/record/reply.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import { pushRow } from '../../../src/service/tables/table-rows.ts';
import { agentRow, keyRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf } from './bystanders.ts';
import { begin, type World } from './metered.ts';
import { createOrder } from './order.ts';

type Order = ReturnType<typeof createOrder>;

/** The facts of a call, and the state of the world that it comes in. */
interface Situation {
  readonly session: string | null;
  readonly clientAddress: string;
  readonly isSigned: boolean;
  readonly isByPoint: boolean;
  readonly user: UserFacts | null;
  readonly riskTier: 'low' | 'high';
  readonly tags: readonly string[];
  /** Whether the session has read secrets before. */
  readonly isTainted: boolean;
  readonly isRowBad: boolean;
  readonly hour: number;
}

const conditions = [
  'request.session like "s2-*"',
  'not (request.session like "s1-*")',
  'request.ip in ["10.0.0.0/8"]',
  'not request.signed',
  'request.signed',
  'request.point == "gateway"',
  'not (request.point == "gateway")',
  '"staff" not in request.user.groups',
  '"clerk" not in request.user.roles',
  'request.user.id == "u2"',
  'request.user.email == "b@example.com"',
  'agent.risk_tier == "high"',
  '"hot" in agent.tags',
  'tainted > 0',
  'vendors[payload.vendor].bad',
  'now not in day',
] as const;

const firstParts = `
approvers finance "Finance"
approvers security "Security"
hours day = mon-sun 06:00-18:00 in "UTC"
table vendors pushed key name: string { bad: boolean }
action pay.send { amount: integer, vendor: string }
action data.read { }
meter tainted = count() of data.read per session over 24h
policy reads on data.read { allow all for 24h }
`;

function policyText({ below, pick }: Order): string {
  const some = (count: number) => Array.from({ length: below(count + 1) }, () => pick(conditions));
  const guards = [
    ...[pick(conditions), pick(conditions), ...some(2)].map((when, at) => `deny d${at} when ${when}`),
    below(3) === 0
      ? `escalate first to finance within 1h when ${pick(conditions)}`
      : 'escalate first to finance within 1h',
    ...some(1).map((when) => `escalate second to security within 1h when ${when}`),
    ...some(1).map((when) => `reauth third when ${when}`),
  ];
  return `${firstParts}policy pay on pay.send {\n  allow all for 10m\n  ${guards.join('\n  ')}\n}\n`;
}

const users: readonly (UserFacts | null)[] = [
  null,
  { id: 'u1', email: 'a@example.com', groups: ['staff'], roles: ['clerk'] },
  { id: 'u1', email: 'b@example.com', groups: [], roles: ['clerk'] },
  { id: 'u1', groups: ['staff'], roles: [] },
  { id: 'u2', email: 'a@example.com', groups: ['staff'], roles: ['clerk'] },
];

function anySituation({ below, pick }: Order): Situation {
  return {
    session: pick([null, 's1', 's2', 's3']),
    clientAddress: pick(['192.0.2.7', '10.1.2.3']),
    isSigned: below(2) === 0,
    isByPoint: below(3) === 0,
    user: pick(users),
    riskTier: pick(['low', 'low', 'high']),
    tags: pick([[], [], ['hot']]),
    isTainted: below(4) === 0,
    isRowBad: below(4) === 0,
    hour: pick([8, 12, 20]),
  };
}

/** The same situation, but for a few facts. */
function changed(before: Situation, order: Order): Situation {
  const other = anySituation(order);
  const names = Object.keys(before) as (keyof Situation)[];
  const moved = new Set(Array.from({ length: order.below(6) }, () => order.pick(names)));
  return Object.fromEntries(
    names.map((name) => [name, (moved.has(name) ? other : before)[name]]),
  ) as unknown as Situation;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function start() {
  const world: World = { nowMs: startMs, active: activeOf(firstParts) };
  const first = agentRow({ controlOwner: 'ann@example.com' });
  const here = await begin(join(temporaryFolder(), 'writ.db'), world, first);
  const { store, authorizer } = here;
  await store.agents.add(first, keyRow(first.id));
  const made = await addPoint(
    { documents: store.documents, who: 'ann', nowMs: world.nowMs },
    { name: 'gateway', agents: [first.id], mayRelease: false },
  );
  if (made.kind !== 'made') throw new Error(made.kind);
  let day = 0;
  /** Sessions are new in each round, so that nothing is left of the one before. */
  let round = 0;

  const enter = async (situation: Situation) => {
    world.nowMs = Math.max(world.nowMs + 1, startMs + day * 86_400_000 + (situation.hour - 10) * 3_600_000);
    await describeAgent(store, {
      agentId: first.id,
      who: 'ann',
      nowMs: world.nowMs,
      riskTier: situation.riskTier,
      tags: situation.tags,
    });
    const by = { documents: store.documents, who: 'ann', nowMs: world.nowMs };
    await pushRow(by, { table: 'vendors', key: `v${round}` }, { bad: situation.isRowBad });
    const agent = (await store.agents.find(first.id)) as AgentRow;
    if (situation.isTainted && situation.session !== null)
      await send(agent, situation, { actionKey: 'data.read', payload: {} });
    return agent;
  };

  const actingFor = async (agent: AgentRow): Promise<ActingAs> => {
    const sent = { keyText: made.apiKey, agentName: agent.id };
    const found = await authenticatePoint(store, sent, world.nowMs);
    if (found.kind !== 'ok') throw new Error(found.kind);
    return found;
  };

  const send = async (
    agent: AgentRow,
    { session, clientAddress, isSigned, isByPoint, user }: Situation,
    more: Partial<AuthorizeInput> = {},
  ): Promise<RequestView> => {
    const acting = isByPoint ? await actingFor(agent) : null;
    const result = await authorizer.authorize({
      agent,
      key: acting?.key ?? { id: 'key00001', notAfterMs: null },
      ...(acting && { point: acting.point }),
      ...(user && { onBehalf: { user } }),
      actionKey: 'pay.send',
      payload: { amount: 1, vendor: `v${round}` },
      isSigned,
      session: session === null ? null : `${session}-${round}`,
      clientAddress,
      idempotencyKey: null,
      bodyDigest: sha256('body'),
      requestId: createRequestId(world.nowMs),
      ...more,
    });
    if (result.kind !== 'decided') throw new Error(result.kind);
    return result.request;
  };

  const next = () => {
    round += 1;
    day += 2;
  };
  return { ...here, enter, send, next, actingFor };
}

async function callerOf({ actingFor }: Here, agent: AgentRow, { isByPoint }: Situation) {
  return isByPoint ? await actingFor(agent) : { agent };
}

interface Round {
  readonly asked: RequestView;
  readonly key: { readonly idempotencyKey: string };
  readonly earlier: Situation;
  readonly text: string;
}

type Here = Awaited<ReturnType<typeof start>>;

/** A request that is granted, at once or by people; the policies are drawn until there is one. */
async function granted({ next, take, send, enter, requestChanges }: Here, order: Order): Promise<Round> {
  for (;;) {
    next();
    const text = policyText(order);
    await take(activeOf(text));
    const earlier = anySituation(order);
    const key = { idempotencyKey: `first${order.below(1e9)}` };
    const asked = await send(await enter(earlier), earlier, { isAttaching: true, ...key });
    const id = asked.request_id;
    if (asked.status === 'rejected') continue;
    if (asked.status === 'pending') {
      for (const group of ['finance', 'security'])
        await requestChanges.approve(id, {
          caller: approverOf([group], { id: group }),
          group: null,
          comment: '',
        });
      await requestChanges.stepUp(id, { id: 'ann', email: 'ann@example.com', who: 'ann', passkey: null });
    }
    const status = (await requestChanges.snapshot(id))?.state.status;
    if (status === 'approved' || status === 'auto_approved') return { asked, key, earlier, text };
  }
}

test.each([1, 2, 3])(
  'law: what was granted to one call allows no other that the policies refuse, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const order = createOrder(seed);
    const here = await start();
    const { enter, send, requestChanges, record } = here;
    const counts = { refused: 0, allowed: 0 };
    for (let rounds = 0; rounds < 30; rounds += 1) {
      const { asked, key, earlier, text } = await granted(here, order);
      const { rules: approved } = (await requestChanges.snapshot(asked.request_id))!.state.decision;
      const later = changed(earlier, order);
      const agent = await enter(later);
      const plain = await send(agent, later);
      const { rules } = (await record(plain.request_id)).decision;
      if (plain.status === 'pending')
        await requestChanges.withdraw(plain.request_id, await callerOf(here, agent, later));
      const others = { isAttaching: true, awaitedId: asked.request_id };
      const ways = [
        { isAttaching: true },
        { isAttaching: true, idempotencyKey: `second${rounds}` },
        { isAttaching: true, ...key },
        key,
        others,
        { ...others, idempotencyKey: `third${rounds}` },
      ];
      const from = order.below(ways.length);
      const ids = new Set<string>();
      for (const way of [...ways.slice(from), ...ways.slice(0, from)]) {
        const got = await send(agent, later, way);
        if (got.decision !== 'ALLOW') continue;
        const told = JSON.stringify({ text, earlier, later, way, rules, approved }, null, 1);
        expect(plain.decision, told).not.toBe('DENY');
        // Whatever the call needs of people has been given to the request that it goes on with.
        if (plain.decision !== 'ALLOW') expect(approved, told).toEqual(expect.arrayContaining([...rules]));
        ids.add(got.request_id);
      }
      if (plain.decision === 'DENY') counts.refused += 1;
      else if (ids.has(asked.request_id)) counts.allowed += 1;
    }
    expect(counts.refused).toBeGreaterThan(3);
    expect(counts.allowed).toBeGreaterThan(3);
  },
);

test('a step-up for a request serves no rule that asks only the call for one', async () => {
  const here = await start();
  const { next, take, enter, send, requestChanges } = here;
  next();
  await take(
    activeOf(`${firstParts}policy pay on pay.send {
  allow all for 10m
  reauth here when not (request.ip in ["10.0.0.0/8"])
  reauth there when request.ip in ["10.0.0.0/8"]
}
`),
  );
  const earlier: Situation = {
    session: null,
    clientAddress: '192.0.2.7',
    isSigned: false,
    isByPoint: false,
    user: null,
    riskTier: 'low',
    tags: [],
    isTainted: false,
    isRowBad: false,
    hour: 12,
  };
  const { request_id: id } = await send(await enter(earlier), earlier, { isAttaching: true });
  await requestChanges.stepUp(id, { id: 'ann', email: 'ann@example.com', who: 'ann', passkey: null });
  expect((await requestChanges.snapshot(id))?.state.status).toBe('approved');
  const later = { ...earlier, clientAddress: '10.1.2.3' };
  const other = await send(await enter(later), later, { isAttaching: true });
  expect(other).toMatchObject({ decision: 'REAUTH_REQUIRED', request_id: expect.not.stringContaining(id) });
  expect(await send(await enter(earlier), earlier, { isAttaching: true })).toMatchObject({
    decision: 'ALLOW',
    request_id: id,
  });
});
