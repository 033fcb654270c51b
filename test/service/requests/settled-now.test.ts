// Who asks, who votes and what a grant rests on are judged as they are at the write, not as they were when the
// caller was identified or when the change was judged.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addPoint, rotatePointKey } from '../../../src/service/agents/points/change-point.ts';
import { authenticatePoint } from '../../../src/service/agents/points/point.ts';
import { callerOf, createFindPeople } from '../../../src/service/http/auth/request-rights.ts';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import type { Role } from '../../../src/service/people/operations.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { type AuthorizeInput, createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, keyRow, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';

const active = activeOf(`
approvers finance "Finance"
action pay.send, pay.proved { amount: number }
policy pay on pay.* {
  allow all for 10m
  escalate asked to finance within 1h
  reauth proved within 5m when action.key == "pay.proved"
}
action vault.open { }
policy vault on vault.open {
  allow all for 10m
  reauth proved within 5m
}
`);

/**
 * The request path. `beforeChange` runs once, between the judging of the next change and its write; `afterLook`
 * once, after the next look at people.
 */
async function start() {
  const real = await openStore({ path: join(temporaryFolder(), 'writ.db') });
  onTestFinished(() => real.close());
  let beforeChange: (() => Promise<unknown>) | null = null;
  const change: Store['requests']['change'] = async (given) => {
    const first = beforeChange;
    beforeChange = null;
    await first?.();
    return await real.requests.change(given);
  };
  const store: Store = { ...real, requests: { ...real.requests, change } };
  const directory = createDirectory(real.documents, Date.now);
  const lookAt = createFindPeople(directory);
  let afterLook: (() => Promise<unknown>) | null = null;
  const findPeople: typeof lookAt = async (ids) => {
    const found = await lookAt(ids);
    const first = afterLook;
    afterLook = null;
    await first?.();
    return found;
  };
  const joined = async (name: string, roles: readonly Role[]) => {
    const nowMs = Date.now();
    const person: Person = {
      id: name,
      email: `${name}@example.com`,
      name,
      roles,
      groups: roles.includes('approver') ? ['finance'] : [],
      status: 'active',
      passwordHash: null,
      totp: null,
      createdAtMs: nowMs,
      changedAtMs: nowMs,
    };
    const change = { who: 'system', what: 'invitation-accepted', subject: name, before: null, after: null };
    await directory.change([directory.people.put(person, 0)], change);
    return person;
  };
  const [ada, eve, ben, own] = [
    await joined('ada', ['admin']),
    await joined('eve', ['admin']),
    await joined('ben', ['approver']),
    await joined('own', ['owner']),
  ];
  const agent = agentRow({ controlOwner: own.email });
  const key = keyRow(agent.id);
  await real.agents.add(agent, key);
  const deps = {
    openRequestsMax: 20,
    store,
    policies: () => active,
    clock: Date.now,
    metering: createMetering({ meters: real.meters, clock: Date.now }),
    switches: createKillSwitchBoard({ directory, steadyMs: () => performance.now() }),
    findPeople,
  };
  const authorizer = createAuthorizer(deps);
  const ask = (more: Partial<AuthorizeInput> = {}) =>
    authorizer.authorize({
      agent,
      key: { id: 'key00001', notAfterMs: null },
      isSigned: false,
      actionKey: 'pay.send',
      payload: { amount: 1 },
      session: null,
      clientAddress: '192.0.2.7',
      idempotencyKey: null,
      bodyDigest: null,
      requestId: createRequestId(Date.now()),
      isAttaching: true,
      ...more,
    });
  const idOf = async (asking: ReturnType<typeof ask>) => {
    const result = await asking;
    if (result.kind !== 'decided') throw new Error(result.kind);
    return result.request.request_id;
  };
  const callerFor = (person: Person) => callerOf({ person, roles: person.roles });
  const admin = { person: ada, roles: ada.roles };
  const disable = ({ id }: Person) => changePerson(directory, admin, { id, status: 'disabled' });
  const leave = ({ id }: Person) => changePerson(directory, admin, { id, groups: ['audit'] });
  return {
    real,
    agent,
    key,
    ask,
    idOf,
    callerFor,
    disable,
    leave,
    eve,
    ben,
    own,
    requestChanges: createRequestChanges(deps),
    beforeNextChange: (work: () => Promise<unknown>) => {
      beforeChange = work;
    },
    afterNextLook: (work: () => Promise<unknown>) => {
      afterLook = work;
    },
  };
}

test('an approval is not taken with the key of a point that has ended since the caller was identified', async () => {
  const { real, agent, ask, idOf, requestChanges, callerFor, ben, beforeNextChange } = await start();
  const by = { documents: real.documents, who: 'ann', nowMs: Date.now() };
  const made = await addPoint(by, { name: 'gateway', agents: [agent.id], mayRelease: false });
  if (made.kind !== 'made') throw new Error(made.kind);
  const identified = async (keyText: string) => {
    const found = await authenticatePoint(real, { keyText, agentName: agent.id }, Date.now());
    if (found.kind !== 'ok') throw new Error(found.kind);
    const { key, point } = found;
    return { key, point };
  };
  const before = await identified(made.apiKey);
  const id = await idOf(ask(before));
  await requestChanges.approve(id, { caller: callerFor(ben), group: null, comment: '' });
  const rotate = () => rotatePointKey(by, made.point.id, 0);
  const rotated = await rotate();
  if (rotated.kind !== 'made') throw new Error(rotated.kind);
  expect(await ask(before)).toEqual({ kind: 'not-allowed-now', why: 'key-ended' });
  expect((await requestChanges.snapshot(id))?.state.status).toBe('approved');
  // The same between the judging and the write.
  const now = await identified(rotated.apiKey);
  let last = rotated;
  beforeNextChange(async () => {
    const again = await rotate();
    if (again.kind === 'made') last = again;
  });
  expect(await ask(now)).toEqual({ kind: 'not-allowed-now', why: 'key-ended' });
  expect(await ask(await identified(last.apiKey))).toMatchObject({
    kind: 'decided',
    request: { request_id: id, decision: 'ALLOW' },
  });
});

test('an admin who was disabled since they signed in rejects nothing, neither late nor at the write', async () => {
  for (const isLate of [false, true]) {
    const { ask, idOf, requestChanges, callerFor, eve, disable, beforeNextChange } = await start();
    const id = await idOf(ask());
    const caller = callerFor(eve);
    const disableEve = async () => expect((await disable(eve)).kind).toBe('changed');
    if (isLate) beforeNextChange(disableEve);
    else await disableEve();
    expect(await requestChanges.reject(id, { caller, group: null, comment: 'no' })).toEqual({
      kind: 'not-allowed',
      detail: 'your account is disabled',
    });
    expect((await requestChanges.snapshot(id))?.state.status).toBe('pending');
  }
});

test('an approver who left the group since they signed in approves nothing, neither late nor at the write', async () => {
  for (const isLate of [false, true]) {
    const { ask, idOf, requestChanges, callerFor, ben, leave, beforeNextChange } = await start();
    const id = await idOf(ask());
    const caller = callerFor(ben);
    const leaveGroup = async () => expect((await leave(ben)).kind).toBe('changed');
    if (isLate) beforeNextChange(leaveGroup);
    else await leaveGroup();
    const approved = await requestChanges.approve(id, { caller, group: null, comment: '' });
    expect(approved).toMatchObject({ kind: 'not-allowed' });
    expect((await requestChanges.snapshot(id))?.state.status).toBe('pending');
  }
});

test('an admin who is active rejects', async () => {
  const { ask, idOf, requestChanges, callerFor, eve } = await start();
  const id = await idOf(ask());
  const rejected = await requestChanges.reject(id, { caller: callerFor(eve), group: null, comment: 'no' });
  expect(rejected).toMatchObject({ kind: 'changed', state: { status: 'rejected' } });
});

test('a grant rests on the step-up that it was judged on, up to the write', async () => {
  const { agent, ask, idOf, requestChanges, callerFor, ben, own, disable, beforeNextChange } = await start();
  const stepUp = () => requestChanges.stepUpAgent(agent.id, { id: own.id, email: own.email, who: own.email });
  const proved = () => ask({ actionKey: 'pay.proved', isAttaching: false });
  const approve = (id: string) =>
    requestChanges.approve(id, { caller: callerFor(ben), group: null, comment: '' });
  expect((await stepUp()).kind).toBe('stepped-up');
  const granted = await approve(await idOf(proved()));
  expect(granted).toMatchObject({ kind: 'changed', state: { status: 'approved' } });
  const id = await idOf(proved());
  beforeNextChange(async () => expect((await disable(own)).kind).toBe('changed'));
  expect(await approve(id)).toMatchObject({
    kind: 'changed',
    state: { status: 'pending', decision: { outcome: 'REAUTH_REQUIRED' } },
  });
});

test('a control owner who is disabled steps up for nothing', async () => {
  const { agent, key, ask, idOf, requestChanges, own, disable } = await start();
  const id = await idOf(ask({ key, actionKey: 'vault.open', payload: {} }));
  const person = { id: own.id, email: own.email, who: own.email, passkey: null };
  const refused = { kind: 'not-allowed', detail: 'only the control owner of the agent can step up for it' };
  await disable(own);
  expect(await requestChanges.stepUp(id, person)).toEqual(refused);
  expect(await requestChanges.stepUpAgent(agent.id, person)).toEqual(refused);
  expect((await requestChanges.snapshot(id))?.state.status).toBe('pending');
});

test('what is taken rests on the step-up, too', async () => {
  const { agent, ask, idOf, requestChanges, callerFor, ben, own, disable, beforeNextChange } = await start();
  const proved = () => ask({ actionKey: 'pay.proved' });
  await requestChanges.stepUpAgent(agent.id, { id: own.id, email: own.email, who: own.email });
  const id = await idOf(proved());
  await requestChanges.approve(id, { caller: callerFor(ben), group: null, comment: '' });
  beforeNextChange(async () => expect((await disable(own)).kind).toBe('changed'));
  const result = await proved();
  expect(result).toMatchObject({ kind: 'decided', request: { status: 'pending' } });
  expect((await requestChanges.snapshot(id))?.state.status).toBe('approved');
});

test('a grant that was taken is not told again to an agent that has been disabled since', async () => {
  const { real, agent, key, ask, idOf, requestChanges, callerFor, ben } = await start();
  const pay = () => ask({ key, idempotencyKey: 'once', bodyDigest: '0'.repeat(64) });
  const id = await idOf(pay());
  await requestChanges.approve(id, { caller: callerFor(ben), group: null, comment: '' });
  for (let times = 0; times < 2; times += 1)
    expect(await pay()).toMatchObject({ kind: 'decided', request: { request_id: id, decision: 'ALLOW' } });
  await real.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: Date.now() });
  expect(await pay()).toEqual({ kind: 'not-allowed-now', why: 'disabled' });
});

test('an approval is not taken with a key of the agent that has ended since the caller was identified', async () => {
  const { real, agent, key, ask, idOf, requestChanges, callerFor, ben } = await start();
  const id = await idOf(ask({ key }));
  await requestChanges.approve(id, { caller: callerFor(ben), group: null, comment: '' });
  const next = keyRow(agent.id);
  const notAfterMs = Date.now() - 1;
  await real.agents.rotateKey({ key: next, othersNotAfterMs: notAfterMs });
  const now = await real.agents.find(agent.id);
  if (now === null) throw new Error('the agent is there');
  expect(await ask({ agent: now, key: { ...key, notAfterMs } })).toEqual({
    kind: 'not-allowed-now',
    why: 'key-ended',
  });
  expect((await requestChanges.snapshot(id))?.state.status).toBe('approved');
  expect(await ask({ agent: now, key: next })).toMatchObject({
    kind: 'decided',
    request: { request_id: id, decision: 'ALLOW' },
  });
});

test('what policies grant by an earlier step-up rests on it up to the write', async () => {
  const { agent, key, ask, requestChanges, own, disable, afterNextLook } = await start();
  const open = () => ask({ key, actionKey: 'vault.open', payload: {}, isAttaching: false });
  await requestChanges.stepUpAgent(agent.id, { id: own.id, email: own.email, who: own.email });
  expect(await open()).toMatchObject({ kind: 'decided', request: { decision: 'ALLOW' } });
  afterNextLook(async () => expect((await disable(own)).kind).toBe('changed'));
  expect(await open()).toMatchObject({ kind: 'decided', request: { decision: 'REAUTH_REQUIRED' } });
});

test('a signature counts under the secret that it was checked with', async () => {
  const { real, agent, key, ask } = await start();
  const sent = async (newSealedSecret: string, isSigned: boolean) => {
    const signing = { agentId: agent.id, signing: 'optional', newSealedSecret, atMs: Date.now() } as const;
    await real.agents.setSigning(signing);
    const before = await real.agents.find(agent.id);
    return () => ask({ agent: before ?? agent, key, isSigned });
  };
  const signed = await sent('one', true);
  const plain = await sent('two', false);
  await sent('three', false);
  expect(await signed()).toEqual({ kind: 'not-allowed-now', why: 'not-signed' });
  expect(await plain()).toMatchObject({ kind: 'decided' });
});
