// The processes that serve, and the policy set by which all of them decide. INVARIANT: a set becomes active
// in one transaction with its record at the end of the chain: the first set at once, each later one only if
// all that serve want it.

import type {
  Replica,
  ReplicaAbout,
  ReplicaSnapshot,
  ReplicaStore,
  Standby,
  StoredPolicies,
} from '../contract/replicas.ts';
import type { AppendFunctions } from './append-requests.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool } from './server/read-pool.ts';
import { isServing } from './server/schema.ts';
import type { Work } from './transaction.ts';

interface ReplicaRow extends Pick<Replica, 'slot' | 'wants' | 'isReady' | 'seenAgoMs'> {
  readonly epoch: number;
  readonly active: string | null;
  readonly aboutJson: string | null;
}

/**
 * How far epochs are raised after a restore, so that the database never gives out an epoch again that it gave
 * out after the backup.
 */
const epochsForgottenMax = 2 ** 32;

export function replicaStore(
  { rows }: ReadPool,
  queue: CommitQueue,
  { onOtherPolicies }: Pick<AppendFunctions, 'onOtherPolicies'>,
): ReplicaStore {
  let latest: ReplicaSnapshot | null = null;
  return {
    async now() {
      const replicaRows = await rows<ReplicaRow>(
        `SELECT policy_epoch AS epoch, policy_digest AS active, slot, wants, is_ready AS "isReady", about_json AS "aboutJson",
           (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS "seenAgoMs"
         FROM control LEFT JOIN replicas ON ${isServing} ORDER BY slot`,
      );
      const [{ epoch, active } = { epoch: 0, active: null }] = replicaRows;
      const replicas = replicaRows
        .filter(({ slot }) => slot !== null)
        .map(({ slot, wants, isReady, aboutJson, seenAgoMs }) => ({
          slot,
          wants,
          isReady,
          // Written by `introduce`.
          about: aboutJson === null ? null : (JSON.parse(aboutJson) as ReplicaAbout),
          isSelf: slot === queue.fence.slot,
          seenAgoMs: Math.max(0, seenAgoMs),
        }));
      latest = { epoch, active, replicas };
      return latest;
    },
    latest: () => latest,
    standbys: () =>
      rows<Standby>(
        `SELECT application_name AS name, sync_state AS mode,
           (extract(epoch FROM replay_lag) * 1000)::float8 AS "lagMs"
         FROM pg_stat_replication ORDER BY application_name, pid`,
      ),
    introduce: (about) =>
      queue.write(async (transaction) => {
        await transaction.rows('UPDATE replicas SET about_json = $2 WHERE slot = $1', [
          transaction.slot,
          JSON.stringify(about),
        ]);
      }),
    tell: ({ wants, isReady }) =>
      queue.write(async (transaction) => {
        await transaction.rows('UPDATE replicas SET wants = $2, is_ready = $3 WHERE slot = $1', [
          ...[transaction.slot, wants, isReady],
        ]);
      }),
    fenceAll: () =>
      queue.write(async (transaction) => {
        await transaction.rows(
          `UPDATE replicas SET epoch = epoch + ${epochsForgottenMax}, instance = NULL, seen_at = '-infinity'`,
        );
      }),
    activate: (set, activation) => queue.write(activate(set, activation)),
    async find(digest) {
      const text = 'SELECT digest, files_json AS "filesJson" FROM policy_sets WHERE digest = $1';
      return (await rows<StoredPolicies>(text, [digest]))[0] ?? null;
    },
    onOtherPolicies,
  };
}

function activate(
  { digest, filesJson }: StoredPolicies,
  { epoch, atMs }: { readonly epoch: number; readonly atMs: number },
): Work<boolean> {
  return async ({ rows, recordChange }) => {
    const [present] = await rows<{
      readonly epoch: number;
      readonly before: string | null;
      readonly others: number;
    }>(
      `SELECT policy_epoch AS epoch, policy_digest AS before,
         (SELECT count(*) FROM replicas WHERE ${isServing} AND wants IS DISTINCT FROM $1) AS others
       FROM control FOR UPDATE`,
      [digest],
    );
    if (present === undefined || present.before === digest) return present !== undefined;
    const isAgreed = present.before === null || present.others === 0;
    if (present.epoch !== epoch || !isAgreed) return false;
    await rows('INSERT INTO policy_sets VALUES ($1, $2) ON CONFLICT DO NOTHING', [digest, filesJson]);
    await rows('UPDATE control SET policy_epoch = policy_epoch + 1, policy_digest = $1', [digest]);
    recordChange({
      atMs,
      what: 'policies-activated',
      subject: '',
      before: present.before === null ? null : { digest: present.before },
      after: { digest, epoch: epoch + 1 },
    });
    return true;
  };
}

/** Whether no other process has stored the nonce. */
export async function isOwnNonce(
  { rows }: ReadPool,
  { fence }: Pick<CommitQueue, 'fence'>,
  nonce: string,
): Promise<boolean> {
  const others = await rows('SELECT 1 FROM nonces WHERE nonce = $1 AND owner <> $2', [nonce, fence.instance]);
  return others.length === 0;
}
