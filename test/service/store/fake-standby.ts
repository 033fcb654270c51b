// A standby that at once claims to have everything, and keeps nothing: enough for a server that waits for a
// standby.

import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PostgresServer } from './postgres-server.ts';

const protocolVersion = 196_608;

/**
 * Resolves when the server counts it as a synchronous standby, which `synchronous_standby_names` has to name.
 */
export async function startFakeStandby(server: PostgresServer, name: string): Promise<{ stop(): void }> {
  const [start] = await server.query<{ place: string }>('SELECT pg_current_wal_lsn() AS place');
  const socket = connect(join(server.socket, '.s.PGSQL.5432'));
  socket.on('error', () => {});
  const parameters = [
    'user',
    'writ',
    'database',
    'postgres',
    'replication',
    'true',
    'application_name',
    name,
  ];
  const words = Buffer.from(`${parameters.join('\0')}\0\0`);
  socket.write(Buffer.concat([int32(words.length + 8), int32(protocolVersion), words]));
  let isStreaming = false;
  onMessage(socket, (kind) => {
    if (kind === 'Z') send(socket, 'Q', Buffer.from(`START_REPLICATION PHYSICAL ${start?.place}\0`));
    if (kind === 'W') isStreaming = true;
    if (kind === 'W' || kind === 'd') send(socket, 'd', everything());
  });
  // The server ignores a confirmation that arrives before it counts the standby as synchronous, so
  // confirmations are repeated.
  const status = setInterval(() => {
    if (isStreaming) send(socket, 'd', everything());
  }, 100);
  const stop = (): void => {
    clearInterval(status);
    socket.destroy();
  };
  const asked = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${name}' AND sync_state = 'sync'`;
  while ((await server.query(asked)).length === 0);
  return { stop };
}

/** A confirmation that everything is written, flushed and applied. */
function everything(): Buffer {
  const place = Buffer.from('00ffffffffffffff', 'hex');
  return Buffer.concat([Buffer.from('r'), place, place, place, Buffer.alloc(9)]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function send(socket: Socket, kind: string, body: Buffer): void {
  socket.write(Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]));
}

function onMessage(socket: Socket, take: (kind: string) => void): void {
  let read = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    read = Buffer.concat([read, bytes]);
    while (read.length >= 5 && read.length > read.readInt32BE(1)) {
      const end = read.readInt32BE(1) + 1;
      take(String.fromCharCode(read[0] ?? 0));
      read = read.subarray(end);
    }
  });
}
