// Finds the port that the service listens on, and the addresses that stand for it.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../settings/load.ts';

/**
 * The port to listen on. A free one is found when 0 is configured, because the addresses in requests, mails
 * and receipts are made before the service listens.
 */
export async function portOf({ host, port }: Config): Promise<number> {
  if (port !== 0) return port;
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), 'listening');
  } catch {
    // Listening later fails as well, and reports why.
    return port;
  }
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

/**
 * The public address; `localhost` replaces a loopback address, because passkeys belong to a name and not to
 * an IP address.
 */
export function publicUrlOf(host: string, port: number): string {
  return urlOf(isLoopback(host) ? 'localhost' : host, port);
}

/** Whether links have an address of this machine alone, although others can reach the service or get its mails. */
export function areLinksLocal({
  publicUrl,
  host,
  smtp,
}: Pick<Config, 'publicUrl' | 'host' | 'smtp'>): boolean {
  return publicUrl === null && (!isLoopback(host) || smtp !== null);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** An address that can be opened; `localhost` replaces an address that means every interface. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
