// Receivers on this machine: one takes batches over HTTPS, the other syslog messages over TLS. Each keeps what it got, and
// misbehaves as the test says.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsHttpServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { ofReceiver } from './certificates.ts';

export interface ReceivedBatch {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `silent` never answers. */
export type HttpReply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly text?: string }
  | 'silent';

export interface HttpReceiver {
  readonly url: string;
  readonly batches: ReceivedBatch[];
  /** Ends the connection in the middle of a batch. */
  isCutting: boolean;
  reply: (batch: ReceivedBatch) => HttpReply;
}

interface Certified {
  readonly cert: string;
  readonly key: string;
}

export async function startHttpReceiver(certified: Certified | null = ofReceiver): Promise<HttpReceiver> {
  const batches: ReceivedBatch[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      if (receiver.isCutting) return void request.socket.destroy();
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    const batch = { headers: request.headers, body };
    const reply = receiver.reply(batch);
    if (reply === 'silent') return;
    if (reply.status < 300) batches.push(batch);
    response.writeHead(reply.status, reply.headers).end(reply.text ?? '');
  };
  const server = certified === null ? createServer(handle) : createTlsHttpServer(certified, handle);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: HttpReceiver = {
    url: certified === null ? `http://127.0.0.1:${port}/` : `https://localhost:${port}/records`,
    batches,
    isCutting: false,
    reply: () => ({ status: 200 }),
  };
  return receiver;
}

export interface SyslogReceiver {
  readonly url: string;
  readonly messages: string[];
  /** How many connections there were. */
  connections: number;
  /**
   * `reset`: an error after the first bytes. `close`: an orderly end after the first bytes. `deaf`: reads nothing.
   * `stop`: listens no more, and a while later ends in order with bytes unread.
   */
  mood: 'well' | 'reset' | 'close' | 'stop' | 'deaf';
  /** Listens again after it has stopped. */
  restart(): Promise<void>;
}

export async function startSyslogReceiver(
  options: Certified & { readonly ca?: string; readonly requestCert?: boolean } = ofReceiver,
): Promise<SyslogReceiver> {
  const sockets = new Set<TLSSocket>();
  const server = createTlsServer(
    { ...options, rejectUnauthorized: options.requestCert === true },
    (socket) => {
      receiver.connections += 1;
      sockets.add(socket);
      let pending: Buffer = Buffer.alloc(0);
      socket.on('error', () => undefined);
      if (receiver.mood === 'deaf') return void socket.pause();
      socket.on('data', (chunk: Buffer) => {
        if (receiver.mood === 'reset') return void raw?.resetAndDestroy();
        if (receiver.mood === 'close') return void socket.end();
        if (receiver.mood === 'stop') {
          server.close();
          return endLate(socket);
        }
        pending = takeFrames(Buffer.concat([pending, chunk]), receiver.messages);
      });
    },
  );
  let raw: Socket | null = null;
  server.on('connection', (socket: Socket) => {
    raw = socket;
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: SyslogReceiver = {
    url: `syslog+tls://localhost:${port}`,
    messages: [],
    connections: 0,
    mood: 'well',
    restart: () => new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening)),
  };
  return receiver;
}

/** Later than the sender has sent everything and ended its side. */
const lateMs = 600;

function endLate(socket: TLSSocket): void {
  socket.pause();
  setTimeout(() => {
    socket.end();
    setImmediate(() => socket.destroy());
  }, lateMs);
}

/** Takes whole frames of RFC 5425 from the beginning of the bytes; returns the rest. Throws for anything else. */
function takeFrames(bytes: Buffer, messages: string[]): Buffer {
  for (let at = 0; ; ) {
    const space = bytes.indexOf(' ', at);
    if (space < 0) return bytes.subarray(at);
    const length = bytes.subarray(at, space).toString();
    if (!/^[1-9]\d*$/.test(length)) throw new Error(`no length of a frame: ${length}`);
    const end = space + 1 + Number(length);
    if (end > bytes.length) return bytes.subarray(at);
    messages.push(bytes.subarray(space + 1, end).toString());
    at = end;
  }
}
