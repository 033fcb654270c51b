// Where the service listens, and what that address is called.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from './config.ts';

/** A free one where 0 is wanted: the addresses that requests, mails and receipts bear are made before it is listened on. */
export async function portOf({ host, port }: Config): Promise<number> {
  if (port !== 0) return port;
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), 'listening');
  } catch {
    // Listening in earnest fails, too, and says why.
    return port;
  }
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

/** Passkeys belong to a name and not to an address of this machine. */
export function publicUrlOf(host: string, port: number): string {
  return urlOf(host === '127.0.0.1' || host === '::1' ? 'localhost' : host, port);
}

/** An address that can be opened: one that means every interface cannot. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
