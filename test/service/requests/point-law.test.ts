// LAW: whatever operators do at the same time, in this process and in another on the same store, an
// enforcement point is granted nothing behind the record that disables or revokes it, ends its key, takes the
// agent from it or stops the agent. The point can never do more than the agent that it asks for. Assignments,
// keys and states change in random order, all at once.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  addPoint,
  describePoint,
  rotatePointKey,
  setPointStatus,
} from '../../../src/service/agents/points/change-point.ts';
import { type ActingAs, authenticatePoint } from '../../../src/service/agents/points/point.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createFindPeople } from '../../../src/service/http/auth/request-rights.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import { createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, keyRow, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { createOrder } from './order.ts';

const policies = `
action pay.small, pay.large { amount: number }
policy pay on pay.* {
  allow small for 10m when action.key == "pay.small"
  allow trusted for 10m when agent.risk_tier == "low"
}
`;

interface World {
  readonly store: Store;
  /** The store as another process opens it. */
  readonly other: Store;
  readonly agents: readonly string[];
  readonly points: readonly string[];
  /** All keys that each point has had. */
  readonly keys: Map<string, string[]>;
}

async function start(): Promise<World> {
  const path = join(temporaryFolder(), 'writ.db');
  const [store, other] = [await openStore({ path }), await openStore({ path })];
  onTestFinished(async () => {
    await Promise.all([store.close(), other.close()]);
  });
  const agents: string[] = [];
  for (const riskTier of ['low', 'high', 'high'] as const) {
    const agent = agentRow({ riskTier });
    await store.agents.add(agent, keyRow(agent.id));
    agents.push(agent.id);
  }
  const keys = new Map<string, string[]>();
  for (const name of ['proxy', 'hook', 'host']) {
    const by = { documents: store.documents, who: 'ann', nowMs: Date.now() };
    const made = await addPoint(by, { name, agents: agents.slice(0, 2), mayRelease: false });
    if (made.kind !== 'made') throw new Error(made.kind);
    keys.set(made.point.id, [made.apiKey]);
  }
  return { store, other, agents, points: [...keys.keys()], keys };
}

test.each([1, 2])(
  'law: no grant by a point stands behind a record that forbids it, seed %i',
  async (seed) => {
    const { below, pick } = createOrder(seed);
    const { store, other, agents, points, keys } = await start();
    const active = activeOf(policies);
    const directory = createDirectory(store.documents, Date.now);
    const authorizer = createAuthorizer({
      openRequestsMax: 20,
      store,
      policies: () => active,
      clock: Date.now,
      metering: createMetering({ meters: store.meters, clock: Date.now }),
      switches: createKillSwitchBoard({ directory, steadyMs: () => performance.now() }),
      findPeople: createFindPeople(directory),
    });
    /** Identities found at some time; may be out of date. */
    const identities: ActingAs[] = [];
    const outcomes = new Map<string, number>();

    const identify = async () => {
      const keyText = pick(keys.get(pick(points)) ?? []);
      const found = await authenticatePoint(store, { keyText, agentName: pick(agents) }, Date.now());
      if (found.kind === 'ok') identities.push(found);
    };
    const ask = async () => {
      if (identities.length === 0) return;
      const { agent, key, point } = pick(identities.slice(-8));
      const result = await authorizer.authorize({
        agent,
        key,
        point,
        isSigned: false,
        actionKey: pick(['pay.small', 'pay.large']),
        payload: { amount: 1 },
        session: null,
        clientAddress: '192.0.2.7',
        idempotencyKey: null,
        bodyDigest: null,
        requestId: createRequestId(Date.now()),
      });
      const name = result.kind === 'decided' ? result.request.status : result.kind;
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
    };
    const disturb = async () => {
      const { documents, agents: ofStore } = pick([store, other]);
      const by = { documents, who: 'ann', nowMs: Date.now() };
      const id = pick(points);
      switch (below(7)) {
        case 0:
          await setPointStatus(by, id, 'disabled');
          break;
        case 1:
        case 2:
          await setPointStatus(by, id, 'active');
          break;
        case 3:
        case 4:
          await describePoint(by, id, { agents: agents.filter(() => below(3) > 0) });
          break;
        case 5: {
          const made = await rotatePointKey(by, id, 0);
          if (made.kind === 'made') keys.get(id)?.push(made.apiKey);
          break;
        }
        case 6:
          await ofStore.setStatus({
            agentId: pick(agents),
            status: pick(['disabled', 'active', 'active']),
            atMs: Date.now(),
          });
      }
    };

    for (let round = 0; round < 100; round += 1) {
      const steps = [identify, identify, ask, ask, ask, ask, disturb];
      await Promise.all(Array.from({ length: 8 }, () => pick(steps)()));
    }
    for (const id of points)
      await setPointStatus({ documents: other.documents, who: 'ann', nowMs: Date.now() }, id, 'revoked');
    await Promise.all(Array.from({ length: 20 }, ask));

    const { grants, wrong } = await grantsByPoints(store);
    expect(wrong).toEqual([]);
    expect(grants).toBeGreaterThan(20);
    for (const name of ['auto_approved', 'rejected', 'not-allowed-now'])
      expect(outcomes.get(name) ?? 0).toBeGreaterThan(0);
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
  },
);

interface PointRecorded {
  status: string;
  agents: readonly string[];
  /** When each key ends, by key id. */
  keys: Map<string, number | null>;
}

/** Walks the chain, independently of how the service decides. */
async function grantsByPoints({ chain }: Store) {
  const points = new Map<string, PointRecorded>();
  const agents = new Map<string, { status: string; riskTier: string }>();
  const wrong: string[] = [];
  let grants = 0;
  const { records } = await chain.segment(0, 100_000);
  for (const { entry } of records) {
    const json = (name: string) => JSON.parse(String(entry[name] ?? 'null'));
    if (entry.kind === 'change') {
      const [id, what, after] = [String(entry.subject), String(entry.what), json('after_json')];
      if (what === 'point-added')
        points.set(id, { status: after.status, agents: after.agents, keys: new Map([[after.key_id, null]]) });
      else if (what === 'point-key-rotated') {
        const of = points.get(id)!.keys;
        for (const [key, ends] of of) if (ends === null) of.set(key, after.old_keys_end_ms);
        of.set(after.key_id, null);
      } else if (what.startsWith('point-')) Object.assign(points.get(id)!, after);
      else if (what.startsWith('agent-')) agents.set(id, { ...agents.get(id), ...after });
    }
    if (entry.kind !== 'request' || entry.status !== 'auto_approved') continue;
    grants += 1;
    const { point, key } = json('record_json');
    const [by, agent] = [points.get(point.id), agents.get(String(entry.agent_id))];
    const ends = by?.keys.get(key.id.replace('writpep_', ''));
    const reasons = {
      'the point is not active': by?.status !== 'active',
      'the agent is not of the point': by?.agents.includes(String(entry.agent_id)) !== true,
      'the key is unknown or over': ends === undefined || (ends !== null && ends <= Number(entry.created_ms)),
      'the agent is not active': agent?.status !== 'active',
      'the agent would not be granted it': entry.action_key === 'pay.large' && agent?.riskTier !== 'low',
    };
    for (const [reason, holds] of Object.entries(reasons))
      if (holds) wrong.push(`record ${entry.sequence}: ${reason}`);
  }
  return { grants, wrong };
}
