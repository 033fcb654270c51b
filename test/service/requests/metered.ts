// The request path over a real store and real policies with meters; it can be stopped and started again like
// a process.

import { onTestFinished } from 'vitest';
import type { ActivePolicies } from '../../../src/language/model/active-policies.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type { RequestRecord } from '../../../src/service/requests/record/record.ts';
import { requestRecord } from '../../../src/service/requests/record/record.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import { openStore, type StoreLocation } from '../../../src/service/store/open.ts';
import { keyRow } from '../store/rows.ts';
import { bystanders } from './bystanders.ts';

export interface World {
  nowMs: number;
  active: ActivePolicies;
}

export interface AskOptions {
  readonly action?: string;
  readonly session?: string | null;
  readonly by?: AgentRow;
}

/** Starts the request path on the store in the file, or at the place. */
export async function begin(
  path: string | StoreLocation,
  world: World,
  agent: AgentRow,
  { snapshotEntries }: { readonly snapshotEntries?: number } = {},
) {
  const store = await openStore(typeof path === 'string' ? { path } : path);
  let isOpen = true;
  const end = async () => {
    if (!isOpen) return;
    isOpen = false;
    await metering.close();
    await store.close();
  };
  onTestFinished(end);
  const clock = () => world.nowMs;
  /** Errors of filling meters. */
  const failures: unknown[] = [];
  const metering = createMetering({
    meters: store.meters,
    clock,
    ...(snapshotEntries === undefined ? {} : { snapshotEntries }),
    onFailure: (error) => failures.push(error),
  });
  const authorizer = createAuthorizer({
    store,
    clock,
    metering,
    policies: () => world.active,
    openRequestsMax: 1_000,
    ...bystanders,
  });
  const ask = async (
    payload: JsonObject,
    { action = 'pay.send', session = null, by = agent }: AskOptions = {},
  ) => {
    if ((await store.agents.find(by.id)) === null) await store.agents.add(by, keyRow(by.id));
    const result = await authorizer.authorize({
      agent: by,
      key: { id: 'key00001', notAfterMs: null },
      actionKey: action,
      payload,
      isSigned: false,
      session,
      clientAddress: '192.0.2.7',
      idempotencyKey: null,
      bodyDigest: null,
      requestId: createRequestId(world.nowMs),
    });
    if (result.kind !== 'decided') throw new Error(result.kind);
    return result.request;
  };
  /** The record of a request. */
  const record = async (id: string): Promise<RequestRecord> => {
    const row = await store.requests.find(id);
    if (row === null) throw new Error('every request has a record');
    return requestRecord(row);
  };
  /** Makes the set active, and waits until its meters are filled. */
  const take = async (active: ActivePolicies) => {
    world.active = active;
    for (let noting = metering.note(active); noting !== null; noting = metering.note(active)) await noting;
    await metering.settled();
  };
  await take(world.active);
  const requestChanges = createRequestChanges({
    store,
    clock,
    metering,
    policies: () => world.active,
    ...bystanders,
  });
  return { store, metering, authorizer, requestChanges, ask, record, take, end, failures };
}
