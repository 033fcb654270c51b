// What is told about standing approvals: each thing once, whichever of several processes finds it, and again
// after a look that failed.

import { expect, test } from 'vitest';
import { createStandingMessages } from '../../../src/service/http/events/standing-messages.ts';
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
const hourMs = 3_600_000;
const caller = approverOf(['finance']);

async function setUp() {
  const world: World = { nowMs: startMs, active };
  const agent = agentRow({ name: 'buyer' });
  const path = `${temporaryFolder()}/writ.db`;
  const { store, metering, ask, requestChanges } = await begin(path, world, agent);
  await store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  const deps = { store, metering, policies: () => active, clock: () => world.nowMs, ...bystanders };
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
  return { world, ask, approve, look, told, failures, state, approvals: createStandingApprovals(deps) };
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
