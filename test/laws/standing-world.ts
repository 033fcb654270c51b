// The request path over a store in a file, with agents, people and policies as a law wants them at each moment.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAgent, describeAgent } from '../../src/service/agents/registry.ts';
import type { FindPeople } from '../../src/service/requests/approvals/current-person.ts';
import type { Caller, Rights } from '../../src/service/requests/approvals/rights.ts';
import { createAuthorizer } from '../../src/service/requests/authorize.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../src/service/requests/record/id.ts';
import { type RequestState, requestStateOf } from '../../src/service/requests/record/request-state.ts';
import { createRequestChanges } from '../../src/service/requests/request-changes.ts';
import { createStandingApprovals } from '../../src/service/requests/standing/standing-approvals.ts';
import { stopMark } from '../../src/service/store/contract/stop-marks.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import { activeOf } from '../service/requests/active-of.ts';
import type { ModelRequest } from './standing-model.ts';

export interface Surroundings {
  nowMs: number;
  /** The groups of those who may approve, by person. */
  readonly groups: Map<string, readonly string[]>;
}

/** The service part of a law; it can be started again on the same file. */
export interface StandingWorld {
  readonly store: Store;
  usePolicies(text: string): Promise<void>;
  addAgent(name: string): Promise<string>;
  /** Changes the agent, and returns its version. */
  changeAgent(id: string, owner: string): Promise<number>;
  stop(scope: string): Promise<void>;
  ask(request: ModelRequest): Promise<{ readonly decision: string; readonly state: RequestState }>;
  readonly requestChanges: ReturnType<typeof createRequestChanges>;
  readonly approvals: ReturnType<typeof createStandingApprovals>;
  restart(): Promise<void>;
  end(): Promise<void>;
}

const noSwitches = { generation: 0, stoppedBy: () => null };
const switches = { current: () => noSwitches, refresh: async () => noSwitches };
const nothing: Rights = { all: false, own: false, groups: [], asOwner: false, given: false };

export function callerOf(id: string, groups: readonly string[], isAdmin = false): Caller {
  const email = `${id}@example.com`;
  const rights: Rights = { ...nothing, groups };
  return {
    id,
    email,
    who: `${email} (${id})`,
    view: { ...nothing, all: true },
    approve: rights,
    reject: { ...rights, all: isAdmin },
    stepUp: nothing,
    report: nothing,
    standsInFor: [],
  };
}

export async function openStandingWorld(at: Surroundings, text: string): Promise<StandingWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-law-'));
  let active = activeOf(text);
  let parts = await start();
  let marks = 0;

  const findPeople: FindPeople = async (ids) =>
    new Map(
      ids.map((id) => {
        const groups = at.groups.get(id);
        const person = {
          id,
          version: { kind: 'person', id, version: 0 },
          isActive: true,
          isApprover: groups !== undefined,
          approvesFor: groups ?? [],
          asOwner: false,
          standsInFor: [],
        };
        return [id, person];
      }),
    );

  async function start() {
    const store = await openStore({ path: join(folder, 'writ.db') });
    const clock = () => at.nowMs;
    const failures: unknown[] = [];
    const metering = createMetering({
      meters: store.meters,
      clock,
      onFailure: (error) => failures.push(error),
    });
    const policies = () => active;
    const people: FindPeople = (ids) => findPeople(ids);
    const deps = { store, clock, metering, policies, switches, findPeople: people };
    const service = {
      store,
      metering,
      authorizer: createAuthorizer({ ...deps, openRequestsMax: 10_000 }),
      requestChanges: createRequestChanges(deps),
      approvals: createStandingApprovals(deps),
    };
    await take(service.metering);
    return service;
  }

  async function take(metering: ReturnType<typeof createMetering>): Promise<void> {
    for (let noting = metering.note(active); noting !== null; noting = metering.note(active)) await noting;
    await metering.settled();
  }

  async function close(): Promise<void> {
    await parts.metering.close();
    await parts.store.close();
  }

  return {
    get store() {
      return parts.store;
    },
    get requestChanges() {
      return parts.requestChanges;
    },
    get approvals() {
      return parts.approvals;
    },
    async usePolicies(next) {
      active = activeOf(next);
      await take(parts.metering);
    },
    async addAgent(name) {
      const draft = { name, riskTier: 'low', controlOwner: 'owner0@example.com', tags: [] };
      const added = await addAgent(parts.store, draft, at.nowMs);
      if (added.kind !== 'added') throw new Error(added.kind);
      return added.agent.id;
    },
    async changeAgent(id, controlOwner) {
      const change = { agentId: id, nowMs: at.nowMs, controlOwner };
      const changed = await describeAgent(parts.store, change);
      if (changed.kind !== 'described') throw new Error(changed.kind);
      return changed.agent.version;
    },
    async stop(scope) {
      marks += 1;
      await parts.store.documents.write([stopMark(`mark-${marks}`, scope, at.nowMs)], null);
    },
    async ask({ agent: agentId, action, session, user, ...payload }) {
      const agent = await parts.store.agents.find(agentId);
      const [key] = await parts.store.agents.keys(agentId);
      if (agent === null || key === undefined) throw new Error(`there is no agent ${agentId}`);
      const result = await parts.authorizer.authorize({
        agent,
        key,
        actionKey: action,
        payload,
        session,
        ...(user !== null && { onBehalf: { user: { id: user } } }),
        isSigned: false,
        clientAddress: '192.0.2.7',
        idempotencyKey: null,
        bodyDigest: null,
        requestId: createRequestId(at.nowMs),
      });
      if (result.kind !== 'decided') throw new Error(result.kind);
      const history = await parts.store.requests.history(result.request.request_id);
      if (history === null) throw new Error('every request has a record');
      return { decision: result.request.decision, state: requestStateOf(history) };
    },
    async restart() {
      await close();
      parts = await start();
    },
    async end() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
