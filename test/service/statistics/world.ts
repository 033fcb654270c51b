// The request path on a real store with statistics that listen to it; can be killed and started again.

import type { JsonObject } from '../../../src/language/model/json.ts';
import { createAuthorizer } from '../../../src/service/requests/authorize.ts';
import { createMetering } from '../../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import { createStatistics, type Statistics } from '../../../src/service/statistics/statistics.ts';
import type { AgentRow } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { activeOf } from '../requests/active-of.ts';
import { bystanders } from '../requests/bystanders.ts';
import { refusalRecord } from '../store/rows.ts';

const policies = `
  approvers finance "Finance"
  action pay.send { amount: integer 0.., vendor: string }
  action pay.other { ... }
  policy payments on pay.send {
    allow small when payload.amount < 80
    deny huge when payload.amount >= 95
    escalate large to finance within 1h when payload.amount > 50
    reauth odd when payload.amount == 13
    shadow deny tiny when payload.amount < 5
    shadow allow between when payload.amount >= 80
    risk base +20
    risk more +55 when payload.amount > 40
  }
  policy others on pay.other {
    risk most +95
  }
  policy vendors on pay.send {
    deny blocked when payload.vendor == "bad"
    shadow escalate strange to finance within 1h when payload.vendor == "odd"
  }`;

export interface World {
  readonly store: Store;
  readonly agent: AgentRow;
  nowMs: number;
  statistics: Statistics;
  /** The next request is answered as if the store did not know whether it was stored. */
  inDoubt?: 'stored' | 'lost';
}

/** So long that no timer fires: the test decides when statistics are stored. */
const neverMs = 2 ** 30;

export async function beginStatistics({ store }: Pick<World, 'store'>, clock: () => number) {
  const failures: unknown[] = [];
  const statistics = createStatistics({
    store: store.statistics,
    isRecorded: async (id) => (await store.requests.find(id)) !== null,
    clock,
    everyMs: neverMs,
    onFailure: (error) => failures.push(error),
  });
  await statistics.start();
  return { statistics, failures };
}

export function requestPath(world: World, clock: () => number = () => world.nowMs) {
  const { store, agent } = world;
  const active = activeOf(policies);
  const metering = createMetering({ meters: store.meters, clock });
  const shared = { store, policies: () => active, clock, metering, ...bystanders };
  const spend: Store['meters']['spend'] = async (places, work) => {
    const { inDoubt } = world;
    delete world.inDoubt;
    if (inDoubt === 'lost') work();
    const result = inDoubt === 'lost' ? 'stored' : await store.meters.spend(places, work);
    if (inDoubt !== undefined) throw new StoreError('uncertain', 'nobody knows whether it was stored');
    return result;
  };
  const authorizer = createAuthorizer({
    ...shared,
    store: Object.create(store, {
      meters: { value: Object.create(store.meters, { spend: { value: spend } }) },
    }),
    openRequestsMax: 1_000_000,
    onRecorded: (record) => world.statistics.decided(record),
    onUncertain: (record) => world.statistics.unsure(record),
  });
  const requestChanges = createRequestChanges(shared);
  const ask = async (payload: JsonObject, action = 'pay.send') => {
    const result = await authorizer.authorize({
      agent,
      key: { id: 'key00001', notAfterMs: null },
      actionKey: action,
      payload,
      isSigned: false,
      session: null,
      clientAddress: '192.0.2.7',
      idempotencyKey: null,
      bodyDigest: null,
      requestId: createRequestId(clock()),
    });
    if (result.kind !== 'decided') throw new Error(result.kind);
    return result.request;
  };
  const refuse = async () => {
    const record = refusalRecord({ atMs: Math.trunc(clock()) });
    await store.requests.appendRefusal(record);
    world.statistics.refused(record);
  };
  return { ask, refuse, requestChanges };
}
