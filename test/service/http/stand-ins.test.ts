// Stand-ins over HTTP: who may name, confirm and end one, what a stand-in may vote on, and that a person and their
// stand-in never count as two, nor anybody for a request of their own.

import { expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import type { Role } from '../../../src/service/people/operations.ts';
import { endStandInsOver } from '../../../src/service/people/stand-ins.ts';
import { tries } from '../../support/tries.ts';
import { walkRecord } from '../requests/record-order.ts';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const dayMs = 86_400_000;
const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.send, pay.two, pay.both, pay.owned { vendor: string }
action pay.except { vendor: string, by: string }
policy pay on pay.* {
  allow all for 10m
  escalate one to finance within 4h standing per payload.vendor for 8h when action.key == "pay.send"
  escalate two to finance needs 2 within 4h when action.key == "pay.two"
  escalate both to finance and legal within 4h when action.key == "pay.both"
  escalate apart to finance except payload.by within 4h when action.key == "pay.except"
  reauth owned when action.key == "pay.owned"
}
`;

async function start() {
  const clock = { nowMs: Date.now() };
  const service = await startService({
    startsWith: policies,
    openRequestsMax: 10_000,
    clock: () => clock.nowMs,
    standIns: { everyMs: 3_600_000 },
  });
  const admin = await firstAdmin(service);
  const person = (name: string, groups: readonly string[], roles: readonly Role[] = ['approver']) =>
    personWith(service, admin, { email: `${name}@example.com`, roles, groups });
  const pay = async (action = 'pay.send', payload: object = {}) =>
    (await ask(service, action, { payload: { vendor: 'Staples', ...payload } })).request_id;
  return {
    service,
    clock,
    pay,
    root: await person('root', [], ['admin']),
    fay: await person('fay', ['finance']),
    finn: await person('finn', ['finance']),
    lea: await person('lea', ['legal']),
    lou: await person('lou', ['legal']),
  };
}

type World = Awaited<ReturnType<typeof start>>;

function name({ clock }: World, client: Client, standIn = 'lea@example.com', days = 1 / 24) {
  const until = new Date(clock.nowMs + days * dayMs).toISOString();
  return client.send('/v1/stand-ins', {
    method: 'POST',
    body: { stand_in: standIn, group: 'finance', until },
  });
}

/** Names lea as the stand-in of fay, and confirms it. */
async function standIn(world: World, client = world.fay, email = 'lea@example.com'): Promise<string> {
  const { body, status } = await name(world, client, email);
  if (status !== 201) throw new Error(JSON.stringify(body));
  const confirmed = await world.root.send(`/v1/stand-ins/${body.id}/confirm`, { method: 'POST' });
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body));
  return body.id;
}

const end = (client: Client, id: string) => client.send(`/v1/stand-ins/${id}`, { method: 'DELETE' });

async function inbox(client: Client): Promise<readonly string[]> {
  const { body } = await client.send('/v1/approvals');
  return (body.items as readonly { request_id: string }[]).map((one) => one.request_id);
}

async function listed(client: Client): Promise<readonly string[]> {
  const { body } = await client.send('/v1/stand-ins');
  return (body.items as readonly { id: string }[]).map(({ id }) => id);
}

async function changesOf({ store }: Service): Promise<readonly string[]> {
  const changes = await store.chain.changes({ beforeSequence: null, countMax: 100 });
  return changes.map(({ what }) => what).filter((what) => what.startsWith('stand-in'));
}

const change = (world: World, id: string, body: object) =>
  world.root.send(`/v1/people/${id}`, { method: 'PATCH', body });

test('a stand-in votes in the place of the person, from the confirmation on', async () => {
  const world = await start();
  const { service, root, fay, finn, lea, pay } = world;
  const id = await pay();
  const named = await name(world, fay);
  expect(named).toMatchObject({
    status: 201,
    body: { group: 'finance', confirmed_at: null, can_confirm: false },
  });
  expect(codeOf(await give(lea, id, 'approve'))).toEqual([404, 'request_not_found']);
  expect(await inbox(lea)).toEqual([]);
  const path = `/v1/stand-ins/${named.body.id}`;
  expect((await fay.send(`${path}/confirm`, { method: 'POST' })).status).toBe(403);
  expect((await root.send(`${path}/confirm`, { method: 'POST' })).status).toBe(200);

  expect(await inbox(lea)).toEqual([id]);
  const seen = (await lea.send(`/v1/requests/${id}`)).body.allowed_actions;
  expect(seen).toMatchObject({
    approve: ['finance'],
    stands_in_for: [{ group: 'finance', name: 'fay@example.com' }],
    reject: true,
    comment: true,
  });
  expect((await finn.send(`/v1/requests/${id}`)).body.allowed_actions.stands_in_for).toEqual([]);
  const { body } = await give(lea, id, 'approve');
  expect(body).toMatchObject({
    status: 'approved',
    approvals: [{ stands_in_for: 'fay@example.com', group: 'finance', is_approved: true }],
  });
  const { items } = (await root.send('/v1/audit/approvals')).body;
  expect(items).toMatchObject([{ person: { email: 'lea@example.com' }, stands_in_for: 'fay@example.com' }]);
  expect(await changesOf(service)).toEqual(['stand-in-confirmed', 'stand-in-named']);
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});

test('who may name whom, and for how long', async () => {
  const world = await start();
  const { service, fay, lea, root, clock } = world;
  const outcome = async (...of: Parameters<typeof name>) => {
    const { status, body } = await name(...of);
    return [status, body.errors?.[0]?.pointer ?? body.group];
  };
  expect(await outcome(world, lea, 'lou@example.com')).toEqual([400, '/group']);
  expect(await outcome(world, root, 'lea@example.com')).toEqual([400, '/group']);
  expect(await outcome(world, fay, 'finn@example.com')).toEqual([400, '/stand_in']);
  expect(await outcome(world, fay, 'fay@example.com')).toEqual([400, '/stand_in']);
  expect(await outcome(world, fay, 'nobody@example.com')).toEqual([400, '/stand_in']);
  expect(await outcome(world, fay, 'lea@example.com', 91)).toEqual([400, '/until']);
  expect(await outcome(world, fay, 'lea@example.com', -1)).toEqual([400, '/until']);
  expect(await outcome(world, fay, 'lea@example.com', 90)).toEqual([201, 'finance']);
  expect(codeOf(await name(world, fay, 'lou@example.com'))).toEqual([409, 'conflict']);
  // One that is over by itself is in nobody's way.
  const later = await tokenClient(service, fay.person, 300);
  clock.nowMs += 90 * dayMs;
  expect(await listed(later)).toEqual([]);
  expect(await outcome(world, later, 'lou@example.com')).toEqual([201, 'finance']);
});

test('a stand-in is seen and ended by either, and by an admin', async () => {
  const world = await start();
  const { fay, lea, lou, root } = world;
  for (const by of [fay, lea, root]) {
    const id = await standIn(world);
    expect([await listed(fay), await listed(lea), await listed(root), await listed(lou)]).toEqual([
      [id],
      [id],
      [id],
      [],
    ]);
    expect((await end(lou, id)).status).toBe(404);
    expect((await end(by, id)).status).toBe(204);
    expect(await listed(root)).toEqual([]);
    expect((await end(by, id)).status).toBe(404);
  }
});

test('a person and their stand-in count as one', async () => {
  const world = await start();
  const { fay, finn, lea, pay } = world;
  await standIn(world);
  const first = await pay('pay.two');
  expect((await give(fay, first, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(lea, first, 'approve'))).toEqual([409, 'conflict']);
  expect((await lea.send(`/v1/requests/${first}`)).body.allowed_actions.approve).toEqual([]);
  const second = await pay('pay.two');
  expect((await give(lea, second, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(lea, second, 'approve'))).toEqual([409, 'conflict']);
  expect(codeOf(await give(fay, second, 'approve'))).toEqual([409, 'conflict']);
  expect((await give(finn, second, 'approve')).body.status).toBe('approved');
});

test('a stand-in of two people, or a member of another asked group, gives one approval', async () => {
  const world = await start();
  const { fay, finn, lea, lou, pay } = world;
  await standIn(world);
  await standIn(world, finn);
  const two = await pay('pay.two');
  expect((await give(lea, two, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(lea, two, 'approve'))).toEqual([409, 'conflict']);
  const both = await pay('pay.both');
  // A right of one's own comes first; the place of another is taken only where there is none.
  expect((await give(lea, both, 'approve')).body.approvals[0]).toMatchObject({
    group: 'legal',
    stands_in_for: null,
  });
  expect(codeOf(await give(lea, both, 'approve', 'finance'))).toEqual([409, 'conflict']);
  expect((await give(fay, both, 'approve')).body.status).toBe('approved');
  const other = await pay('pay.both');
  expect((await give(lea, other, 'approve', 'finance')).body.approvals[0].stands_in_for).toMatch(
    /^f(ay|inn)@/,
  );
  expect((await give(lou, other, 'approve')).body.status).toBe('approved');
});

test('two stand-ins of one person count as one', async () => {
  const world = await start();
  const { service, fay, lou, pay, root } = world;
  await usePolicies(
    service,
    policies
      .replace('approvers legal "Legal"', 'approvers legal "Legal"\napprovers ops "Ops"')
      .replace('finance and legal', 'finance and ops'),
  );
  expect((await change(world, fay.person.id, { groups: ['finance', 'ops'] })).status).toBe(200);
  await standIn(world);
  const until = new Date(world.clock.nowMs + dayMs).toISOString();
  const body = { stand_in: 'lou@example.com', group: 'ops', until };
  const { id } = (await fay.send('/v1/stand-ins', { method: 'POST', body })).body;
  await root.send(`/v1/stand-ins/${id}/confirm`, { method: 'POST' });
  const request = await pay('pay.both');
  expect((await give(world.lea, request, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(lou, request, 'approve'))).toEqual([409, 'conflict']);
  expect((await look(service, request)).body.status).toBe('pending');
});

test('nobody passes on what they have as a stand-in', async () => {
  const world = await start();
  const { lea, lou, pay } = world;
  await standIn(world);
  expect((await name(world, lea, 'lou@example.com')).status).toBe(400);
  const id = await pay();
  expect(codeOf(await give(lou, id, 'approve'))).toEqual([404, 'request_not_found']);
});

test('a stand-in has one group, and no other right of the person', async () => {
  const world = await start();
  const { service, fay, lea, root, pay } = world;
  await change(world, fay.person.id, { groups: ['finance', 'ops'], roles: ['approver', 'operator'] });
  const owned = await pay('pay.owned');
  await root.send(`/v1/agents/${service.agent.id}`, {
    method: 'PATCH',
    body: { control_owner: 'fay@example.com' },
  });
  await standIn(world);
  expect((await lea.send('/v1/agents')).status).toBe(403);
  // A step-up is a proof of presence: nobody gives it for another.
  const step = await lea.send(`/v1/requests/${owned}/step-up`, {
    method: 'POST',
    body: { password: 'x', code: '000000' },
  });
  expect(step.status).toBeGreaterThanOrEqual(401);
  expect((await look(service, owned)).body.status).toBe('pending');
});

test('no request of one’s own is approved through a stand-in', async () => {
  const world = await start();
  const { service, fay, lea, root, pay } = world;
  await standIn(world);
  const own = (email: string) =>
    root.send(`/v1/agents/${service.agent.id}`, { method: 'PATCH', body: { control_owner: email } });
  await own('lea@example.com');
  const id = await pay();
  expect(codeOf(await give(lea, id, 'approve'))).toEqual([403, 'not_allowed']);
  expect((await lea.send(`/v1/requests/${id}`)).body.allowed_actions).toMatchObject({
    approve: [],
    reason: 'A stand-in cannot approve a request of their own.',
  });
  // The control owner at the time of the request stays left out.
  await own('ops@example.com');
  expect(codeOf(await give(lea, id, 'approve'))).toEqual([403, 'not_allowed']);
  // Whoever the policies leave out is left out with their stand-in, and the other way round.
  for (const by of ['fay@example.com', 'lea@example.com'])
    expect(codeOf(await give(lea, await pay('pay.except', { by }), 'approve'))).toEqual([403, 'not_allowed']);
  await own('fay@example.com');
  expect(codeOf(await give(lea, await pay('pay.two'), 'approve'))).toEqual([403, 'not_allowed']);
  expect((await give(fay, id, 'reject')).body.status).toBe('rejected');
});

test('a new control owner loses the approval that they gave as a stand-in', async () => {
  const world = await start();
  const { service, finn, lea, root, pay } = world;
  await standIn(world);
  const id = await pay('pay.two');
  expect((await give(lea, id, 'approve')).body.status).toBe('pending');
  await root.send(`/v1/agents/${service.agent.id}`, {
    method: 'PATCH',
    body: { control_owner: 'lea@example.com' },
  });
  expect((await give(finn, id, 'approve')).body.status).toBe('pending');
});

const endings: Readonly<Record<string, (world: World, id: string) => Promise<unknown>>> = {
  'it was ended': ({ fay }, id) => end(fay, id),
  'its time is over': async ({ clock }) => {
    clock.nowMs += dayMs / 24;
  },
  'the person is disabled': (world) => change(world, world.fay.person.id, { status: 'disabled' }),
  'the stand-in is disabled': (world) => change(world, world.lea.person.id, { status: 'disabled' }),
  'the person has left the group': (world) => change(world, world.fay.person.id, { groups: ['legal'] }),
  'the person is no approver': (world) => change(world, world.fay.person.id, { roles: ['owner'] }),
  'the stand-in is no approver': (world) =>
    change(world, world.lea.person.id, { roles: ['owner'], groups: [] }),
};

test.each(Object.entries(endings))('neither votes nor counts once %s', async (_, happen) => {
  const world = await start();
  const { service, finn, lea, pay } = world;
  const standInId = await standIn(world);
  const given = await pay('pay.two');
  expect((await give(lea, given, 'approve')).body.status).toBe('pending');
  await happen(world, standInId);
  const id = await pay();
  expect((await give(lea, id, 'approve')).status).toBeGreaterThanOrEqual(400);
  expect((await look(service, id)).body.status).toBe('pending');
  if ((await look(service, given)).body.status === 'pending')
    expect((await give(finn, given, 'approve')).body.status).toBe('pending');
  // Its end is recorded once, by whichever process looks first.
  const directory = createDirectory(service.store.documents, () => world.clock.nowMs);
  await Promise.all([1, 2, 3].map(() => endStandInsOver(directory, () => true)));
  expect((await changesOf(service)).filter((what) => what === 'stand-in-ended')).toHaveLength(1);
  expect(await listed(world.root)).toEqual([]);
});

test('a group that the policies no longer have ends its stand-ins', async () => {
  const world = await start();
  await standIn(world);
  const directory = createDirectory(world.service.store.documents, () => world.clock.nowMs);
  await endStandInsOver(directory, (group) => group !== 'finance');
  expect(await listed(world.root)).toEqual([]);
});

test('an approval of a stand-in is for its request, as it was seen', async () => {
  const world = await start();
  const { service, finn, lea, pay } = world;
  await standIn(world);
  const id = await pay();
  const body = { comment: 'fine', standing: {} };
  expect(codeOf(await lea.send(`/v1/requests/${id}/approve`, { method: 'POST', body }))).toEqual([
    409,
    'conflict',
  ]);
  const two = await pay('pay.two');
  expect((await give(lea, two, 'approve')).body.status).toBe('pending');
  await usePolicies(service, policies.replace('action.key == "pay.two"', 'action.key == "pay.two" and true'));
  expect((await give(finn, two, 'approve')).body.status).toBe('pending');
  expect((await lea.send(`/v1/requests/${two}`)).body.requires.invalidated).toMatchObject([
    { group: 'finance', reason: 'approved before the rule changed' },
  ]);
});

test('a stand-in who rejects does so in the place of the person', async () => {
  const world = await start();
  await standIn(world);
  const id = await world.pay();
  const { body } = await give(world.lea, id, 'reject');
  expect(body).toMatchObject({
    status: 'rejected',
    approvals: [{ stands_in_for: 'fay@example.com', group: 'finance' }],
  });
});

test('a stand-in that ends, or a person who leaves, while the vote is written', {
  timeout: 120_000,
}, async () => {
  const world = await start();
  const { service, fay, lea, pay } = world;
  const outcomes = new Set<number>();
  const leave = () => change(world, fay.person.id, { groups: ['ops'] });
  const isBack = () => change(world, fay.person.id, { groups: ['finance'] });
  for (let round = 0; round < tries(12); round += 1) {
    const standInId = await standIn(world);
    const id = await pay();
    const [vote] = await Promise.all([
      give(lea, id, 'approve'),
      round % 2 === 0 ? end(fay, standInId) : leave(),
    ]);
    outcomes.add(vote.status);
    await isBack();
    await end(fay, standInId);
  }
  expect([...outcomes].every((status) => [200, 403, 404].includes(status))).toBe(true);
  expect((await walkRecord(service.store)).wrong).toEqual([]);
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});
