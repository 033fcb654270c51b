/**
 * Text into the parts of a URL that rules may read. Accepted is RFC 3986 with an authority, without user information,
 * its host a DNS name, a dotted IPv4 or a bracketed IPv6 address. INVARIANT: whatever two readers could understand
 * differently (backslashes, controls, spaces, non-ASCII characters, odd numbers as hosts) is no URL.
 */

import { isHostName } from './host-name.ts';
import { formatIp, parseIp } from './ip.ts';

export interface Url {
  /** In lower case. */
  readonly scheme: string;
  /** In lower case, without a dot at its end; an IPv6 address in brackets and in its shortest form. */
  readonly host: string;
  /** The port written, else the usual one of http, https, ws, wss or ftp, else null. */
  readonly port: number | null;
}

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
]);

const schemeForm = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
const urlForm = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^#]*)(?:#([^#]*))?$/;
const authorityForm = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/;
const misplaced = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/;
const portMax = 65_535;

/** An absolute URL with an authority; null when the text is none. */
export function parseUrl(text: string): Url | null {
  const match = urlForm.exec(text);
  if (match === null) return null;
  const [, schemeText = '', authority = '', rest = '', fragment = ''] = match;
  if (misplaced.test(rest) || misplaced.test(fragment)) return null;
  const [, hostText = '', portText = ''] = authorityForm.exec(authority) ?? [];
  const host = readHost(hostText);
  const scheme = schemeText.toLowerCase();
  const port = portText === '' ? (usualPorts.get(scheme) ?? null) : Number(portText);
  return host === null || (port !== null && port > portMax) ? null : { scheme, host, port };
}

/**
 * A URL whose scheme may be missing and then reads as https: `www.example.com`, `localhost:8080/x`. Without a scheme
 * the host has a dot, is an IP address or is `localhost`; else every word, and `javascript:1`, would be an address.
 */
export function parseWebAddress(text: string): Url | null {
  if (schemeForm.test(text)) return parseUrl(text);
  const url = parseUrl(`https://${text}`);
  return url !== null && /[.:]|^localhost$/.test(url.host) ? url : null;
}

function readHost(text: string): string | null {
  if (text.startsWith('[')) return readBracketed(text.slice(1, -1));
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const ip = parseIp(name);
  if (ip?.family === 4) return formatIp(ip);
  return isHostName(name) ? name.toLowerCase() : null;
}

/** An IPv4-mapped address gives the IPv4, as everywhere. */
function readBracketed(text: string): string | null {
  const ip = text.includes(':') ? parseIp(text) : null;
  if (ip === null) return null;
  return ip.family === 4 ? formatIp(ip) : `[${formatIp(ip)}]`;
}
