// One connection to PostgreSQL, which has an answer for every statement within a time, or is given up. INVARIANT: after an
// answer did not come, or the server has cancelled the wait for its standby, nothing is sent over the connection any more.

import pg from 'pg';
import type { Durability } from '../../contract/durability.ts';
import { toStoreFailure, unreachable } from './errors.ts';

export interface Query {
  /** Under which the server keeps it prepared; none for one that is rare. */
  readonly name?: string;
  readonly text: string;
  /** For one that may take longer than all others. */
  readonly answerMaxMs?: number;
}

export interface Connection {
  /** The rows. Rejects with what the server or the network reported. */
  query<R>(statement: Query, values?: readonly unknown[]): Promise<readonly R[]>;
  /** Whether it can be used; once it cannot, it never can again. */
  isLost(): boolean;
  onLoss(listener: () => void): void;
  /** Breaks it at once. */
  destroy(): void;
  end(): Promise<void>;
}

/** A statement without an answer for so long costs the connection. */
export const answerMaxMs = 3_000;

const int8 = 20;
const types = {
  // Numbers of this store are times, versions and places in the chain, all of which a double holds.
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

const settings = [
  'synchronous_commit=on',
  'idle_in_transaction_session_timeout=1s',
  'lock_timeout=2s',
  'default_transaction_isolation=read\\ committed',
  'tcp_user_timeout=3s',
  // That a commit did not wait for its standby is a warning, which a role may have turned off.
  'client_min_messages=warning',
  'jit=off',
];

/** The options of a connection of any purpose; `durability` is what the server has to promise to who stores over it as one that serves. */
export function clientConfig(url: string, durability: Durability | null = null): pg.ClientConfig {
  const all = durability === null ? settings : [...settings, `writ.durability=${durability}`];
  return {
    connectionString: url,
    application_name: 'writ',
    connectionTimeoutMillis: answerMaxMs,
    keepAlive: true,
    options: all.map((setting) => `-c ${setting}`).join(' '),
    types,
  };
}

/** Rejects with a StoreError. */
export async function connect(url: string, durability: Durability | null = null): Promise<Connection> {
  // What is asked before the last answer came is sent at once, and carried out in its turn.
  const client = new pg.Client({ ...clientConfig(url, durability), pipeline: true });
  // What is reported after the start has failed, too, tells nothing more.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw toStoreFailure(error);
  }
  return createConnection(client);
}

function createConnection(client: pg.Client): Connection {
  let isLost = false;
  let isCancelled = false;
  const listeners: (() => void)[] = [];
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    for (const listener of listeners) listener();
  };
  client.on('error', lose);
  client.on('end', lose);
  // The statements of a store cause none: this is a commit that did not wait for its standby to the end.
  client.on('notice', () => {
    isCancelled = true;
  });
  const destroy = (): void => {
    streamOf(client).destroy();
    lose();
  };
  return {
    async query<R>({ name, text, answerMaxMs: maxMs = answerMaxMs }: Query, values: readonly unknown[] = []) {
      if (isLost) throw unreachable(null);
      const giveUp = setTimeout(destroy, maxMs);
      try {
        const query = name === undefined ? { text } : { name, text };
        const { rows } = await client.query({ ...query, values: [...values] });
        if (isCancelled) throw new Error('the server did not wait for its standby to the end');
        // The columns are those that the statement names.
        return rows as readonly R[];
      } catch (error) {
        if (isCancelled) destroy();
        throw error;
      } finally {
        clearTimeout(giveUp);
      }
    },
    isLost: () => isLost,
    onLoss: (listener) => void listeners.push(listener),
    destroy,
    async end() {
      isLost = true;
      await client.end().catch(() => {});
    },
  };
}

/** The driver has no other way to break a connection that does not answer. */
function streamOf(client: pg.Client): { destroy(): void } {
  const { connection } = client as unknown as {
    readonly connection: { readonly stream: { destroy(): void } };
  };
  return connection.stream;
}
