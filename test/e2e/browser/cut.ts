// A connection to a service that can be cut and fixed: what a browser sees when the service, or the network,
// goes away.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Service } from '../../service/http/service.ts';

export interface Line {
  /** The service behind the connection. */
  readonly service: Service;
  readonly cut: () => Promise<void>;
  readonly fix: () => Promise<void>;
}

export async function lineTo(service: Service): Promise<Line> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(service.port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on('error', () => other.destroy());
      socket.pipe(other);
    }
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(cut);
  return {
    service: { ...service, url: `http://127.0.0.1:${port}`, port },
    cut,
    fix: () => listen(port),
  };
}
