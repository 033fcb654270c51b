// LAW: whatever people and operators do at the same time, in this process and in another on the same store,
// no grant is recorded behind a record that forbids it. Requests, approvals and step-ups run against
// disablings, revocations, changes of tier, rotations, switches and demotions, in random order and all at
// once.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeAgent, rotateKey } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { callerOf, createFindPeople } from '../../../src/service/http/auth/request-rights.ts';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { createDirectory, type Directory } from '../../../src/service/people/directory.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import type { Role } from '../../../src/service/people/operations.ts';
import type { Actor, Person } from '../../../src/service/people/person.ts';
import { createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import type { AgentWithKey } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, keyRow, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { createOrder } from './order.ts';
import { walkRecord } from './record-order.ts';

const policies = `
approvers finance "Finance"
action pay.free, pay.small, pay.large, pay.guarded { amount: number }
meter spent = sum(payload.amount) of pay.* per agent over 24h
policy pay on pay.* {
  allow all for 10m
  deny over_budget when spent > 100000
  escalate small to finance within 1h when action.key == "pay.small"
  escalate large to finance needs 2 within 1h when action.key == "pay.large"
  reauth guarded within 5m when action.key == "pay.guarded"
}
`;

const actions = ['pay.free', 'pay.small', 'pay.large', 'pay.guarded'] as const;
const steadyMs = () => performance.now();

interface World {
  readonly store: Store;
  /** The store as another process opens it. */
  readonly other: Store;
  readonly directory: Directory;
  readonly people: readonly Person[];
  readonly admin: Actor;
  readonly agents: AgentWithKey[];
}

async function joined(directory: Directory, email: string, roles: readonly Role[]): Promise<Person> {
  const nowMs = Date.now();
  const person: Person = {
    id: email,
    email,
    name: email,
    roles,
    groups: roles.includes('approver') ? ['finance'] : [],
    status: 'active',
    passwordHash: null,
    totp: null,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
  const after = { email, roles: [...roles], groups: [...person.groups], status: person.status };
  const change = { who: 'system', what: 'invitation-accepted', subject: person.id, before: null, after };
  await directory.change([directory.people.put(person, 0)], change);
  return person;
}

async function start(): Promise<World> {
  const path = join(temporaryFolder(), 'writ.db');
  const [store, other] = [await openStore({ path }), await openStore({ path })];
  onTestFinished(async () => {
    await Promise.all([store.close(), other.close()]);
  });
  const directory = createDirectory(store.documents, Date.now);
  const people: Person[] = [];
  for (const name of ['ann', 'ben', 'cleo'])
    people.push(await joined(directory, `${name}@example.com`, ['approver', 'owner']));
  const admin = await joined(directory, 'ada@example.com', ['admin']);
  const agents: AgentWithKey[] = [];
  for (const owner of people.slice(0, 2)) {
    const agent = agentRow({ controlOwner: owner.email });
    const key = keyRow(agent.id);
    await store.agents.add(agent, key);
    agents.push({ agent, key });
  }
  return { store, other, directory, people, admin: { person: admin, roles: admin.roles }, agents };
}

test.each([1, 2, 3])(
  'law: no grant stands behind a record that forbids it, seed %i',
  { timeout: 240_000 },
  async (seed) => {
    const { below, pick } = createOrder(seed);
    const world = await start();
    const { store, other, directory, people, admin, agents } = world;
    const there = createDirectory(other.documents, Date.now);
    const active = activeOf(policies);
    const metering = createMetering({ meters: store.meters, clock: Date.now });
    const switches = createKillSwitchBoard({ directory, steadyMs });
    const switchesThere = createKillSwitchBoard({ directory: there, steadyMs });
    const deps = {
      store,
      policies: () => active,
      clock: Date.now,
      metering,
      switches,
      findPeople: createFindPeople(directory),
    };
    const authorizer = createAuthorizer({ ...deps, openRequestsMax: 100_000 });
    const requestChanges = createRequestChanges(deps);
    const waiting: string[] = [];
    const outcomes = new Map<string, number>();
    const count = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1);

    const ask = async () => {
      // The agent as the route cached it; may be out of date.
      const { agent, key } = pick(agents);
      const result = await authorizer.authorize({
        agent,
        key,
        isSigned: false,
        actionKey: pick(actions),
        payload: { amount: 1 },
        session: null,
        clientAddress: '192.0.2.7',
        idempotencyKey: null,
        bodyDigest: null,
        requestId: createRequestId(Date.now()),
      });
      count(result.kind === 'decided' ? result.request.status : result.kind);
      if (result.kind === 'decided' && result.request.status === 'pending')
        waiting.push(result.request.request_id);
    };
    const approve = async () => {
      const id = pick(waiting);
      const person = pick(people);
      if (id === undefined) return;
      const caller = callerOf({ person, roles: person.roles });
      const changed = await requestChanges.approve(id, { caller, group: null, comment: '' });
      count(`approve ${changed.kind === 'changed' ? changed.state.status : changed.kind}`);
    };
    const stepUp = async () => {
      const id = pick(waiting);
      const person = pick(people);
      if (id === undefined) return;
      const caller = callerOf({ person, roles: person.roles });
      if (below(2) === 0) await requestChanges.stepUp(id, { ...caller, passkey: null });
      else await requestChanges.stepUpAgent(pick(agents).agent.id, caller);
    };
    const disturb = async () => {
      const [agents_, dir, board] = pick([
        [store, directory, switches],
        [other, there, switchesThere],
      ] as const);
      const at = below(agents.length);
      const { agent } = agents[at]!;
      const [agentId, nowMs] = [agent.id, Date.now()];
      const person = pick(people);
      const change = (change: object) => changePerson(dir, admin, { id: person.id, ...change });
      switch (below(10)) {
        case 0:
        case 1:
          await agents_.agents.setStatus({ agentId, status: 'disabled', atMs: nowMs });
          break;
        case 2:
        case 3:
          await agents_.agents.setStatus({ agentId, status: 'active', atMs: nowMs });
          break;
        case 4:
          await describeAgent(agents_, { agentId, nowMs, riskTier: pick(['low', 'high']) });
          break;
        case 5:
          await describeAgent(agents_, { agentId, nowMs, controlOwner: person.email });
          break;
        case 6: {
          await rotateKey(agents_, { agentId, graceMs: 0, nowMs });
          if (below(2) === 0) break;
          const found = await store.agents.find(agentId);
          const key = (await store.agents.keys(agentId)).find(({ notAfterMs }) => notAfterMs === null);
          if (found !== null && key !== undefined) agents[at] = { agent: found, key };
          break;
        }
        case 7: {
          const on = await board.turnOn(admin, {
            scope: pick([
              { kind: 'all' },
              { kind: 'area', area: 'pay' },
              { kind: 'tier', tier: 'high' },
            ] as const),
            reason: 'a drill',
          });
          if (on.kind === 'on') await board.turnOff(admin, on.switch.id, 'checked');
          break;
        }
        case 8:
          await change({ status: pick(['disabled', 'active']) });
          break;
        case 9:
          await change(pick([{ groups: ['legal'] }, { groups: ['finance'] }, { status: 'active' }]));
      }
    };

    for (let round = 0; round < 120; round += 1) {
      const steps = [ask, ask, ask, ask, approve, approve, approve, stepUp, disturb, disturb];
      await Promise.all(Array.from({ length: 10 }, () => pick(steps)()));
      // Keys are looked up again now and then, as the route does.
      const at = below(agents.length);
      const key = (await store.agents.keys(agents[at]!.agent.id)).find(
        ({ notAfterMs }) => notAfterMs === null,
      );
      if (key !== undefined && below(3) === 0) agents[at] = { ...agents[at]!, key };
      if (waiting.length > 30) waiting.splice(0, 10);
    }
    // A revocation is final, so it comes at the end.
    await other.agents.setStatus({ agentId: agents[0]!.agent.id, status: 'revoked', atMs: Date.now() });
    await Promise.all(Array.from({ length: 20 }, ask));

    const { grants, wrong } = await walkRecord(store);
    expect(wrong).toEqual([]);
    expect(grants).toBeGreaterThan(20);
    expect(outcomes.get('auto_approved') ?? 0).toBeGreaterThan(0);
    expect(outcomes.get('approve approved') ?? 0).toBeGreaterThan(0);
    expect(outcomes.get('not-allowed-now') ?? 0).toBeGreaterThan(0);
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
    // Budgets stay exact: an entry that was taken back is in no meter, neither in memory nor in the store.
    for (const { agent, key } of agents) await agreesWithStore(agent.id, key.id);

    async function agreesWithStore(agentId: string, _keyId: string): Promise<void> {
      const uses = active.entries({
        action: 'pay.free',
        payload: { amount: 1 },
        agent: { id: agentId },
        request: {},
        nowMs: Date.now(),
        meters: {},
        satisfied: { escalate: [], reauth: [] },
      });
      const here = metering.read(uses, { nowMs: Date.now(), requestId: 'none' });
      const anew = createMetering({ meters: store.meters, clock: Date.now });
      await anew.note(active);
      await anew.settled();
      expect(here.recorded).toEqual(anew.read(uses, { nowMs: Date.now(), requestId: 'none' }).recorded);
      await anew.close();
    }
  },
);
