// A connection to a database server over TCP that can be cut without either end noticing.

import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PostgresServer, TestDatabase } from './postgres-server.ts';

export interface Wire {
  /** The URL of the database by way of this wire. */
  readonly url: string;
  /** From now on all sent bytes are lost, and no answer arrives. */
  cut(): void;
  /** Breaks the open connections, and lets new ones through. */
  fix(): void;
  /** Delays all further bytes by this time, each way. */
  slow(delayMs: number): void;
  close(): void;
}

export async function openWire(
  /** Read for each connection. */
  server: Pick<PostgresServer, 'socket'>,
  { name }: Pick<TestDatabase, 'name'>,
): Promise<Wire> {
  let isCut = false;
  let delayMs = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const onward = connect(join(server.socket, '.s.PGSQL.5432'));
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      const pass = inOrder((bytes) => isCut || to.write(bytes));
      from.on('data', (bytes) => isCut || pass(bytes, delayMs));
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
    fix: () => {
      breakAll();
      isCut = false;
    },
    slow: (ms) => {
      delayMs = ms;
    },
    close: () => {
      breakAll();
      proxy.close();
    },
  };
}

/** Passes bytes on in their order, whatever the delay of each. */
function inOrder(pass: (bytes: Buffer) => void): (bytes: Buffer, delayMs: number) => void {
  const waiting: { readonly dueAtMs: number; readonly bytes: Buffer }[] = [];
  const send = () => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const restMs = first.dueAtMs - performance.now();
      if (restMs > 0) return void setTimeout(send, restMs);
      waiting.shift();
      pass(first.bytes);
    }
  };
  return (bytes, delayMs) => {
    if (delayMs === 0 && waiting.length === 0) return pass(bytes);
    const dueAtMs = Math.max(performance.now() + delayMs, waiting.at(-1)?.dueAtMs ?? 0);
    if (waiting.push({ dueAtMs, bytes }) === 1) setTimeout(send, delayMs);
  };
}
