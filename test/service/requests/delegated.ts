// The request path for sub-agents over stores that several processes have open, with a clock that the test turns.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  addDelegation,
  type DelegationDraft,
  revokeDelegation,
} from '../../../src/service/agents/delegations/change-delegation.ts';
import {
  type ActingDelegate,
  authenticateDelegate,
} from '../../../src/service/agents/delegations/delegation.ts';
import { createDelegatedPolicies } from '../../../src/service/policies/delegated-policies.ts';
import type { AuthorizeInput, AuthorizeResult } from '../../../src/service/requests/authorize.ts';
import { createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createUseCounter } from '../../../src/service/requests/metering/delegation-uses.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createPlanner, type PlanResult } from '../../../src/service/requests/plans/make-plan.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import type { MeterStore } from '../../../src/service/store/contract/metering.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore, type StoreLocation } from '../../../src/service/store/open.ts';
import type { PostgresServer } from '../store/postgres-server.ts';
import { agentRow, keyRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { bystanders } from './bystanders.ts';
import type { World } from './metered.ts';

const policies = `
  approvers finance "Finance"
  action pay.send, pay.large { amount: number }
  policy pay on pay.* {
    allow all for 10m
    escalate large to finance within 24h when action.key == "pay.large"
  }`;

type Replica = Awaited<ReturnType<typeof startReplica>>;

/** A process that decides on the store at the place. */
async function startReplica(
  place: StoreLocation,
  world: World,
  metersOf = ({ meters }: Store): MeterStore => meters,
) {
  const store = await openStore(place);
  const clock = () => world.nowMs;
  const metering = createMetering({ meters: metersOf(store), clock });
  onTestFinished(async () => {
    await metering.close();
    await store.close();
  });
  const chains = createDelegatedPolicies();
  await chains.ready();
  const deciding = { store, clock, metering, chains, policies: () => world.active, ...bystanders };
  const authorizer = createAuthorizer({ ...deciding, openRequestsMax: 1_000 });
  const planner = createPlanner({ ...deciding, openRequestsMax: 1_000 });
  const callOf = ({ agent, key, chain }: ActingDelegate, actionKey: string): AuthorizeInput => ({
    agent,
    key,
    chain,
    actionKey,
    payload: { amount: 1 },
    isSigned: false,
    session: null,
    clientAddress: '192.0.2.7',
    idempotencyKey: null,
    bodyDigest: null,
    requestId: createRequestId(world.nowMs),
  });
  return {
    store,
    metering,
    ask: (by: ActingDelegate, actionKey = 'pay.send'): Promise<AuthorizeResult> =>
      authorizer.authorize(callOf(by, actionKey)),
    /** Asks for what the sub-agent has planned, as it is due. */
    attach: (by: ActingDelegate, actionKey: string): Promise<AuthorizeResult> =>
      authorizer.authorize({ ...callOf(by, actionKey), isAttaching: true }),
    /** Submits a plan with one step for each action. */
    plan: (by: ActingDelegate, actions: readonly string[]): Promise<PlanResult> =>
      planner.plan({
        caller: callOf(by, ''),
        goal: null,
        isSubmitted: true,
        steps: actions.map((actionKey) => ({ actionKey, payload: { amount: 1 } })),
      }),
    requestChanges: createRequestChanges(deciding),
  };
}

/** Processes on one store: those that decide, and those that only change delegations. */
export interface Processes {
  readonly world: World;
  readonly agent: AgentRow;
  readonly replicas: readonly Replica[];
  readonly stores: readonly Store[];
}

export async function startOnFile(metersOf?: (store: Store) => MeterStore): Promise<Processes> {
  const path = join(temporaryFolder(), 'writ.db');
  const world: World = { nowMs: startMs, active: activeOf(policies) };
  const replica = await startReplica({ path }, world, metersOf);
  const other = await openStore({ path });
  onTestFinished(() => other.close());
  return await serving({ world, replicas: [replica], stores: [replica.store, other] });
}

export async function startOnPostgres(server: PostgresServer, count: number): Promise<Processes> {
  const place = await server.createDatabase();
  const world: World = { nowMs: startMs, active: activeOf(policies) };
  const replicas: Replica[] = [];
  while (replicas.length < count) replicas.push(await startReplica(place, world));
  for (const { store } of replicas) await store.serve();
  return await serving({ world, replicas, stores: replicas.map(({ store }) => store) });
}

async function serving(processes: Omit<Processes, 'agent'>): Promise<Processes> {
  const { world, replicas } = processes;
  const agent = agentRow();
  await replicas[0]!.store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  for (const { metering } of replicas) {
    await metering.note(world.active);
    await metering.settled();
  }
  return { ...processes, agent };
}

type Terms = Partial<Pick<DelegationDraft, 'uses' | 'untilMs'>>;

/** Delegates from the agent, or from the sub-agent with the key; null when that would go beyond what is above. */
export async function delegate(
  { world: { nowMs }, agent, replicas }: Processes,
  aboveKey: string | null,
  terms: Terms = {},
): Promise<{ readonly id: string; readonly key: string } | null> {
  const { store, metering } = replicas[0]!;
  const { documents } = store;
  await metering.catchUp();
  const at = { documents, nowMs, actionsOf: () => [], countUses: createUseCounter(metering, nowMs) };
  const by = aboveKey === null ? { agent, key: { id: 'key00001' } } : await identify(store, aboveKey, nowMs);
  if (by === null) return null;
  const draft = { name: 'sub', actions: ['pay.*'], when: null, session: null };
  const made = await addDelegation(at, by, { ...draft, uses: null, untilMs: nowMs + 3_600_000, ...terms });
  return made.kind === 'made' ? { id: made.delegation.id, key: made.apiKey } : null;
}

/** The sub-agent with the key; null once its chain has ended. */
export async function identify(store: Store, key: string, nowMs: number): Promise<ActingDelegate | null> {
  const found = await authenticateDelegate(store, key, nowMs);
  return found.kind === 'ok' ? found : null;
}

export async function revoke({ documents }: Store, id: string, nowMs: number): Promise<void> {
  await revokeDelegation({ documents, nowMs }, id, 'ann');
}

/** How often each delegation was used, by the records: by requests that were granted or wait. */
export async function recordedUses({ chain }: Store): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  const { records } = await chain.segment(0, 1_000_000);
  for (const { entry } of records) {
    if (entry.kind !== 'request' || entry.status === 'rejected') continue;
    const record = JSON.parse(String(entry.record_json)) as { readonly chain?: readonly { id: string }[] };
    for (const { id } of record.chain ?? []) used.set(id, (used.get(id) ?? 0) + 1);
  }
  return used;
}
