// /v1/replicas: the processes that serve the same store, what each can decide by, and how far behind the
// database's standbys are. For a store in a file, the list holds this process alone.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { ReplicaAbout, ReplicaSnapshot } from '../../../store/contract/replicas.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { objectSchema, text, textOrNull, time } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';

interface ReplicaDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'state' | 'isReady'>;
  readonly store: Pick<Store, 'replicas'>;
  readonly self: ReplicaAbout;
  readonly clock: () => number;
}

const count: JsonSchema = { type: 'integer', minimum: 0 };

const replicaSchema = objectSchema({
  slot: { ...count, description: 'The row of the replica in the database.' },
  name: { ...text(300), description: 'The machine and process of the replica.' },
  is_self: { type: 'boolean', description: 'Whether this replica sent the reply.' },
  version: text(100),
  started_at: time,
  seen_at: {
    ...time,
    description: 'The time of its last heartbeat; another replica can take its row 5 seconds later.',
  },
  directory_digest: {
    ...textOrNull,
    description: 'The digest of the policy set in its directory; null at first.',
  },
  is_ready: { type: 'boolean', description: 'Whether the replica uses the active policy set.' },
});

const standbySchema = objectSchema({
  name: text(300),
  mode: {
    ...textOrNull,
    description:
      '`sync` and `quorum` standbys have each record before the reply; null if the database user may not see the mode.',
  },
  lag_ms: {
    type: ['number', 'null'],
    minimum: 0,
    description: 'The delay until a record can be read on the standby.',
  },
});

const replicasSchema = objectSchema({
  store: { type: 'string', enum: ['file', 'postgres'] },
  policies: objectSchema({
    digest: textOrNull,
    activation: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'The number of the activation; null for a file.',
    },
  }),
  items: { type: 'array', items: replicaSchema },
  standbys: { type: 'array', items: standbySchema },
});

const digest = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';

const replicasExample = {
  store: 'postgres',
  policies: { digest, activation: 3 },
  items: [
    {
      slot: 0,
      name: 'writ-0 (1)',
      is_self: true,
      version: '0.1.0',
      started_at: '2026-03-02T10:00:00.000Z',
      seen_at: '2026-03-02T12:00:00.000Z',
      directory_digest: digest,
      is_ready: true,
    },
  ],
  standbys: [{ name: 'standby-1', mode: 'sync', lag_ms: 2.5 }],
};

const listReplicas = route<ReplicaDeps>({
  method: 'GET',
  url: '/v1/replicas',
  access: 'replicas.view',
  operation: {
    id: 'listReplicas',
    summary: 'The replicas that share the store, and the policy set of each',
    replies: {
      200: { description: 'The replicas, by slot', schema: replicasSchema, example: replicasExample },
    },
  },
  handle: async (deps) => {
    const { replicas } = deps.store;
    if (replicas === null) return standaloneView(deps);
    const [now, standbys] = await Promise.all([replicas.now(), replicas.standbys()]);
    return {
      store: 'postgres',
      policies: { digest: now.active, activation: now.epoch },
      items: now.replicas.map((replica) => replicaView(replica, deps.clock())),
      standbys: standbys.map(({ name, mode, lagMs }) => ({ name, mode, lag_ms: lagMs })),
    };
  },
});

function replicaView(
  { slot, about, isSelf, seenAgoMs, wants, isReady }: ReplicaSnapshot['replicas'][number],
  nowMs: number,
) {
  return {
    slot,
    name: about?.name ?? '',
    is_self: isSelf,
    version: about?.version ?? '',
    started_at: isoTime(about?.startedAtMs ?? nowMs),
    seen_at: isoTime(nowMs - seenAgoMs),
    directory_digest: wants,
    is_ready: isReady,
  };
}

function standaloneView({ policies, self, clock }: ReplicaDeps) {
  const { digest: active } = policies.state();
  const alone = {
    slot: 0,
    about: self,
    isSelf: true,
    seenAgoMs: 0,
    wants: active,
    isReady: policies.isReady(),
  };
  return {
    store: 'file',
    policies: { digest: active, activation: null },
    items: [replicaView(alone, clock())],
    standbys: [],
  };
}

export const replicaRoutes: readonly Route<ReplicaDeps>[] = [listReplicas];
