// What is told about standing approvals: each thing once, whichever of several processes finds it, and again
// after a look that failed.

import { expect, test, vi } from 'vitest';
import { createStandingMessages } from '../../../src/service/http/events/standing-messages.ts';
import { createRequestEvents } from '../../../src/service/requests/record/request-events.ts';
import { createStandingApprovals } from '../../../src/service/requests/standing/standing-approvals.ts';
import { type StandingNews, watchStanding } from '../../../src/service/requests/standing/watch-standing.ts';
import type { Mail } from '../../../src/service/webhooks/mail.ts';
import type { WebhookPayload } from '../../../src/service/webhooks/outbox.ts';
import { startPeople } from '../people/service.ts';
import { agentRow, keyRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf, bystanders } from './bystanders.ts';
import { begin, type World } from './metered.ts';

const active = activeOf(`
  approvers finance "Finance"
  action pay.send { vendor: string }
  policy pay on pay.send {
    allow all
    escalate new to finance within 1h standing per payload.vendor for 8h up to 2 times
  }`);
const decided = {
  kind: 'decided',
  status: 'approved',
  agentId: 'agent-1',
  actionKey: 'pay.send',
  title: '',
  groups: [],
  asksStepUp: false,
  atMs: startMs,
} as const;
const hourMs = 3_600_000;
const caller = approverOf(['finance']);

async function setUp() {
  const world: World = { nowMs: startMs, active };
  const agent = agentRow({ name: 'buyer' });
  const path = `${temporaryFolder()}/writ.db`;
  const { store, metering, ask, requestChanges } = await begin(path, world, agent);
  await store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  const reads = { count: 0 };
  const history: typeof store.requests.history = async (id) => {
    reads.count += 1;
    return await store.requests.history(id);
  };
  const requestEvents = createRequestEvents();
  const deps = {
    store: { ...store, requests: { ...store.requests, history } },
    metering,
    policies: () => world.active,
    clock: () => world.nowMs,
    ...bystanders,
    requestEvents,
  };
  const told: StandingNews[] = [];
  const failures: unknown[] = [];
  const state = { hasFault: false };
  /** Two watches, as two processes of one store have them. */
  const watches = [0, 1].map(() =>
    watchStanding({
      ...deps,
      messagesOf: async (news) => {
        if (state.hasFault) throw new Error('no messages');
        return { writes: [], taken: () => told.push(news) };
      },
      onFailure: (error) => failures.push(error),
    }),
  );
  const approve = async (vendor: string, standing: { untilMs: number | null } | null) => {
    const { request_id: id } = await ask({ vendor });
    const choice = standing && { ...standing, times: null };
    await requestChanges.approve(id, { caller, group: null, comment: 'fine', standing: choice });
  };
  const look = async () => {
    await Promise.all(watches.map((watch) => watch.look()));
    return told.splice(0).map(({ kind }) => kind);
  };
  /** How many requests a look has read. */
  const readsOf = async (work: () => Promise<unknown>) => {
    reads.count = 0;
    await work();
    return reads.count;
  };
  const approvals = createStandingApprovals(deps);
  return {
    world,
    store,
    ask,
    requestChanges,
    approve,
    look,
    readsOf,
    told,
    failures,
    state,
    requestEvents,
    approvals,
  };
}

test('each standing approval is announced once when given, used up and revoked', async () => {
  const { world, ask, approve, look, approvals } = await setUp();
  await approve('Other', null);
  expect(await look()).toEqual([]);
  await approve('Staples', { untilMs: null });
  expect([await look(), await look()]).toEqual([['given'], []]);
  world.nowMs += 1_000;
  await ask({ vendor: 'Staples' });
  expect(await look()).toEqual([]);
  await ask({ vendor: 'Staples' });
  expect([await look(), await look()]).toEqual([['used_up'], []]);
  world.nowMs += 7.5 * hourMs;
  expect(await look()).toEqual([]);
  const { items } = await approvals.list(caller, { after: null, countMax: 10, agentId: null });
  await approvals.revoke(caller, items[0]!.approval.id);
  expect([await look(), await look()]).toEqual([['revoked'], []]);
});

test.each([
  ['an hour before its end', null, 7 * hourMs],
  ['when three quarters of a shorter time are over', startMs + 2 * hourMs, 1.5 * hourMs],
])('that it ends is told %s', async (_, untilMs, passes) => {
  const { world, approve, look } = await setUp();
  await approve('Staples', { untilMs });
  expect(await look()).toEqual(['given']);
  world.nowMs += passes - 1_000;
  expect(await look()).toEqual([]);
  world.nowMs += 1_000;
  expect([await look(), await look()]).toEqual([['ending'], []]);
});

test('a look that fails is made up for by the next', async () => {
  const { approve, look, state, failures } = await setUp();
  await approve('Staples', { untilMs: null });
  state.hasFault = true;
  expect(await look()).toEqual([]);
  expect(failures).toHaveLength(2);
  state.hasFault = false;
  expect(await look()).toEqual(['given']);
});

test('a look reads only what has changed or ends soon', async () => {
  const { world, ask, approve, look, readsOf, approvals } = await setUp();
  const vendors = Array.from({ length: 20 }, (_, at) => `vendor-${at}`);
  for (const vendor of vendors) await approve(vendor, { untilMs: null });
  expect(await look()).toEqual(vendors.map(() => 'given'));
  await look();
  expect(await readsOf(look)).toBe(0);
  world.nowMs += 1_000;
  for (let use = 0; use < 2; use += 1) await ask({ vendor: vendors[7]! });
  const { items } = await approvals.list(caller, { after: null, countMax: 20, agentId: null });
  const other = items.find(({ approval }) => approval.per[0]?.value !== vendors[7])!;
  await approvals.revoke(caller, other.approval.id);
  const kinds: string[] = [];
  // One read judges each of the two in each process, and one finds who gave it.
  expect(await readsOf(async () => kinds.push(...(await look())))).toBeLessThanOrEqual(8);
  expect(kinds.toSorted()).toEqual(['revoked', 'used_up']);
  await look();
  expect(await readsOf(look)).toBe(0);
  // Other policies may end each of them sooner.
  world.active = { ...active, digest: 'other' };
  expect(await readsOf(look)).toBe(2 * 18);
  expect(await readsOf(look)).toBe(0);
  world.nowMs += 10 * 60_000;
  expect(await readsOf(look)).toBe(2 * 18);
  world.nowMs += 7 * hourMs;
  expect(await look()).toEqual(Array(18).fill('ending'));
});

test('one whose votes come after a look is announced by the first look after its request is decided', async () => {
  const { store, ask, requestChanges, look, requestEvents } = await setUp();
  const [written, votes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = store.requests.change.bind(store.requests);
  vi.spyOn(store.requests, 'change').mockImplementationOnce(async (one) => {
    written.resolve();
    await votes.promise;
    return await change(one);
  });
  const { request_id: requestId } = await ask({ vendor: 'Staples' });
  const standing = { untilMs: null, times: null };
  const approving = requestChanges.approve(requestId, { caller, group: null, comment: 'fine', standing });
  await written.promise;
  expect([await look(), await look()]).toEqual([[], []]);
  votes.resolve();
  expect((await approving).kind).toBe('changed');
  requestEvents.emit({ ...decided, requestId: 'another' });
  expect(await look()).toEqual([]);
  requestEvents.emit({ ...decided, requestId });
  expect([await look(), await look()]).toEqual([['given'], []]);
});

test('the message names the rule, and those who gave it get a mail when it ends', async () => {
  const { directory, admin } = await startPeople();
  const [payloads, mails, failures] = [[] as WebhookPayload[], [] as Mail[], [] as unknown[]];
  const messagesOf = createStandingMessages({
    publicUrl: 'https://writ.example.com',
    directory,
    dispatcher: {
      emit: () => undefined,
      prepare: async (payload) => ({ writes: [], taken: () => void payloads.push(payload) }),
    },
    mailer: { post: (mail) => void mails.push(mail) },
    onFailure: (error) => failures.push(error),
  });
  const agent = agentRow({ name: 'buyer' });
  const approval = {
    id: 'sa-1',
    createdAtMs: 0,
    agentId: agent.id,
    requestId: 'r-1',
    actionKey: 'pay.send',
    rule: 'pay/new',
    per: [{ key: 'payload.vendor', value: 's3cret' }],
    scope: '',
    untilMs: 0,
    revoked: null,
  };
  for (const kind of ['given', 'ending'] as const)
    (await messagesOf({ kind, approval, agent, givers: [admin.person.id, 'nobody'], atMs: 0 })).taken();
  await expect.poll(() => mails.length).toBe(1);
  expect(mails[0]).toMatchObject({ to: admin.person.email, subject: 'Writ: a standing approval ends soon' });
  expect(payloads.map(({ type, text }) => [type, text])).toEqual([
    ['standing_approval.given', 'A standing approval for the agent buyer (`pay/new`) was given.'],
    ['standing_approval.ending', 'A standing approval for the agent buyer (`pay/new`) ends soon.'],
  ]);
  expect(payloads[0]?.links).toEqual({
    standing_approval: 'https://writ.example.com/v1/standing-approvals/sa-1',
    request: 'https://writ.example.com/v1/requests/r-1',
  });
  expect(JSON.stringify([payloads, mails])).not.toContain('s3cret');
  expect(failures).toEqual([]);
});
