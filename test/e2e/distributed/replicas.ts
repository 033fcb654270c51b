// Replicas of the service as real processes on one database, each with a policy directory of its own. They
// can be killed, stopped for a while, and cut off from the server.

import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Wire } from '../../service/store/cut-wire.ts';
import type { PostgresServer, TestDatabase } from '../../service/store/postgres-server.ts';
import { type Service, startService, temporary } from '../acceptance/service.ts';
import { openWireThread } from './wire-thread.ts';

export interface Replica {
  readonly at: number;
  /** The running process; null while the replica is down. */
  service: Service | null;
  readonly wire: Wire;
  readonly policies: string;
}

export interface Replicas {
  readonly all: readonly Replica[];
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  start(replica: Replica): Promise<void>;
  writePolicies(text: string): void;
  end(): Promise<void>;
}

/** A start may take long beside the other replicas. */
const startMaxMs = 120_000;
/** A process that cannot reach the database ends and is started again, as a supervisor does. */
const startsMax = 5;
/** Difference between the clocks of neighbouring replicas. */
const clockShiftMs = 300;

export async function startReplicas(
  server: PostgresServer,
  {
    database,
    count,
    text,
  }: { readonly database: TestDatabase; readonly count: number; readonly text: string },
): Promise<Replicas> {
  const data = temporary('data');
  const env = { WRIT_STORE: database.url };
  const write = (folder: string, policies: string) => {
    // The file appears whole at once, as when an editor saves.
    writeFileSync(join(folder, '.next'), policies);
    renameSync(join(folder, '.next'), join(folder, 'a.policy'));
  };
  const all: Replica[] = [];
  for (let at = 0; at < count; at += 1) {
    const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
    mkdirSync(policies, { recursive: true });
    write(policies, text);
    all.push({ at, service: null, policies, wire: await openWireThread(server, database) });
  }
  const start = async (replica: Replica) => {
    const { wire, policies } = replica;
    const env = {
      WRIT_STORE: wire.url,
      // The receiver of the messages is on this machine.
      WRIT_WEBHOOKS_ALLOW_PRIVATE: 'true',
      NODE_OPTIONS: `--import ${import.meta.dirname}/shifted-clock.ts`,
      TEST_CLOCK_SHIFT_MS: String((replica.at - 1) * clockShiftMs),
    };
    for (let attempt = 1; replica.service === null; attempt += 1) {
      try {
        replica.service = await startService({ policies, data, env, startMaxMs });
      } catch (error) {
        if (attempt === startsMax || !String(error).includes('the database cannot be reached')) throw error;
      }
    }
  };
  const end = async () => {
    for (const { service, wire } of all) {
      service?.process.kill('SIGCONT');
      await service?.end('SIGKILL');
      wire.close();
    }
  };
  try {
    // The first replica makes the key that all replicas share.
    for (const replica of all) await start(replica);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    all,
    data,
    env,
    start,
    writePolicies: (policies) => {
      for (const { policies: folder } of all) write(folder, policies);
    },
    end,
  };
}
