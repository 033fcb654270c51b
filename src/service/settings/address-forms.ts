// Checks whether the value of a setting is an address: of a service, a mail server, a database or networks.

import { isIP } from 'node:net';

/**
 * Networks from a list, or from a text that separates them by spaces or commas; the result joins them by
 * spaces. Null when a part is no network.
 */
export function networksOf(value: unknown): string | null {
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : [null];
  const networks = texts.filter((text) => text !== '');
  return networks.every(isNetwork) ? networks.join(' ') : null;
}

function isNetwork(text: unknown): text is string {
  const [address = '', bits, ...rest] = typeof text === 'string' ? text.split('/') : [];
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

export function isAddress(value: unknown): value is string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '';
}

export function isSmtpAddress(value: unknown): value is string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '';
}

/**
 * Whether a value is the address of a PostgreSQL database. A socket is given in the query:
 * `postgres://user@localhost/database?host=/run/postgresql`.
 */
export function isDatabaseAddress(value: unknown): value is string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) return false;
  return url.hostname !== '' && url.pathname.length > 1;
}

/**
 * Whether an address may be that of an issuer: by `https:`, or on this machine. Otherwise an attacker between
 * the service and the provider could claim to be anybody.
 */
export function isIssuer(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
