// A way to a database server over TCP that can be cut without anybody being told.

import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PostgresServer, TestDatabase } from './postgres-server.ts';

export interface Wire {
  /** Of the database, by this way. */
  readonly url: string;
  /** What is sent from now on goes nowhere, and no answer comes. */
  cut(): void;
  /** Connections break, and new ones go through. */
  mend(): void;
  close(): void;
}

export async function openWire(
  server: Pick<PostgresServer, 'socket'>,
  { name }: Pick<TestDatabase, 'name'>,
): Promise<Wire> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const onward = connect(join(server.socket, '.s.PGSQL.5432'));
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => isCut || to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgres://writ@127.0.0.1:${port}/${name}`,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      breakAll();
      isCut = false;
    },
    close: () => {
      breakAll();
      proxy.close();
    },
  };
}
