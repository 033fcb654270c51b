// One connection to PostgreSQL, which is given up when a statement is not answered in time. INVARIANT: after
// an answer did not come, or the server has cancelled the wait for its standby, nothing is sent over the
// connection any more.

import pg from 'pg';
import type { Durability } from '../../contract/durability.ts';
import { toStoreFailure, unreachable } from './errors.ts';
import { giveUpAfter } from './give-up.ts';

export interface Query {
  /** The name under which the server keeps the statement prepared; absent for a rare statement. */
  readonly name?: string;
  readonly text: string;
  /** Overrides `answerMaxMs` for a statement that may take longer than others. */
  readonly answerMaxMs?: number;
}

export interface Connection {
  /** Returns the rows. Rejects with what the server or the network reported. */
  query<R>(statement: Query, values?: readonly unknown[]): Promise<readonly R[]>;
  /** Whether the connection cannot be used any more; a lost connection stays lost. */
  isLost(): boolean;
  onLoss(listener: () => void): void;
  /** Breaks the connection at once. */
  destroy(): void;
  end(): Promise<void>;
}

/** A statement without an answer within this time costs the connection. */
export const answerMaxMs = 3_000;

const int8 = 20;
const types = {
  // The whole numbers of a store are times, versions and places in the chain, all of which a double holds
  // exactly.
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

const settings = [
  'synchronous_commit=on',
  'idle_in_transaction_session_timeout=1s',
  'lock_timeout=2s',
  'default_transaction_isolation=read\\ committed',
  'tcp_user_timeout=3s',
  // The server warns when a commit did not wait for its standby; the settings of a role may have turned
  // warnings off.
  'client_min_messages=warning',
  'jit=off',
];

/**
 * Returns the options of a connection for any purpose. `durability` is what the server must promise to a
 * process that serves over the connection.
 */
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

/** Opens a connection. Rejects with a StoreError. */
export async function connect(url: string, durability: Durability | null = null): Promise<Connection> {
  // With `pipeline`, a statement is sent before earlier ones are answered, and carried out in its turn.
  const client = new pg.Client({ ...clientConfig(url, durability), pipeline: true });
  // Errors that are reported after a failed start tell nothing new.
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
  // The statements of a store cause no notices, so this one means that a commit did not wait for its standby
  // to the end.
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
      const answered = giveUpAfter(maxMs, destroy);
      try {
        const query = name === undefined ? { text } : { name, text };
        const { rows } = await client.query({ ...query, values: [...values] });
        if (isCancelled) throw new Error('the server did not wait for its standby to the end');
        // The rows have the columns that the statement names.
        return rows as readonly R[];
      } catch (error) {
        if (isCancelled) destroy();
        throw error;
      } finally {
        answered();
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

/** The driver offers no other way to break a connection that does not answer. */
export function streamOf(client: pg.ClientBase): { destroy(): void } {
  const { connection } = client as unknown as {
    readonly connection: { readonly stream: { destroy(): void } };
  };
  return connection.stream;
}
