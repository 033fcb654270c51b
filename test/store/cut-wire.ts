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
  fix(): void;
  /** Whatever is sent from now on takes so long, each way. */
  slow(delayMs: number): void;
  close(): void;
}

export async function openWire(
  /** Looked at for each connection. */
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

/** What comes later is passed on later, however long either takes. */
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
