// Turns text into the parts of a URL that rules can read, and into its one canonical form. Accepted are URLs
// of RFC 3986 with an authority, without user information, and with a host as in host-name.ts. INVARIANT: a
// text that two programs could read differently (backslashes, controls, spaces, odd numbers as hosts) is no
// URL; texts that all programs read as the same place have one canonical form, which is its own canonical
// form.

import { canonicalEmail, domain } from './email.ts';
import { canonicalHost } from './host-name.ts';

export interface Url {
  /** The scheme, in lower case. */
  readonly scheme: string;
  /** The host in canonical form, an IPv6 address in brackets. */
  readonly host: string;
  /** The written port; otherwise the usual port of http, https, ws, wss or ftp; otherwise null. */
  readonly port: number | null;
}

interface UrlParts extends Url {
  readonly path: string;
  /** The query with its `?`; empty when nothing follows the `?`. */
  readonly query: string;
  /** The fragment with its `#`; empty when nothing follows the `#`. */
  readonly fragment: string;
  /** True when the text is certainly canonical, as most texts are. */
  readonly isCanonical: boolean;
}

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
]);

const schemeForm = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
const urlForm = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#[^#]*)?$/;
const authorityForm = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/;
const misplaced = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/;
const portMax = 65_535;

/** Reads an absolute URL with an authority. Null when the text is not such a URL. */
export function parseUrl(text: string): Url | null {
  const parts = readParts(text);
  return parts === null ? null : urlOf(parts);
}

/**
 * Reads a URL whose scheme may be missing and is then https: `www.example.com`, `localhost:8080/x`. Without a
 * scheme, the host must have a dot, be an IP address or be `localhost`; otherwise every word, and
 * `javascript:1`, would be an address. Null when the text is not a web address.
 */
export function parseWebAddress(text: string): Url | null {
  if (text.startsWith('mailto:')) return parseMailTo(text);
  const parts = readWebAddress(text);
  return parts === null ? null : urlOf(parts);
}

/** Reads `mailto:` with one address in canonical form, as `canonicalLinks` gives it; its host is the domain. */
function parseMailTo(text: string): Url | null {
  const email = text.slice('mailto:'.length);
  return canonicalEmail(email) === email ? { scheme: 'mailto', host: domain(email), port: null } : null;
}

/**
 * Returns the canonical URL: scheme and host in canonical form, no usual port, no `.` and `..` in the path,
 * no empty query and fragment, unreserved characters as themselves, other percent-encodings in upper case,
 * and a path of at least `/`. Null when the text is not a URL.
 */
export function canonicalUrl(text: string): string | null {
  const parts = readParts(text);
  if (parts === null) return null;
  return parts.isCanonical ? text : write(parts);
}

/**
 * Returns the canonical URL for a web address, with https when the scheme is missing. Null when the text is
 * not a web address.
 */
export function canonicalWebAddress(text: string): string | null {
  if (schemeForm.test(text)) return canonicalUrl(text);
  const parts = readWebAddress(text);
  return parts === null ? null : write(parts);
}

function urlOf({ scheme, host, port }: UrlParts): Url {
  return { scheme, host, port };
}

function readWebAddress(text: string): UrlParts | null {
  if (schemeForm.test(text)) return readParts(text);
  const parts = readParts(`https://${text}`);
  return parts !== null && /[.:]|^localhost$/.test(parts.host) ? parts : null;
}

function readParts(text: string): UrlParts | null {
  const match = urlForm.exec(text);
  if (match === null) return null;
  const [, schemeText = '', authority = '', path = '', query = '', fragment = ''] = match;
  if (misplaced.test(path) || misplaced.test(query) || misplaced.test(fragment.slice(1))) return null;
  const [, hostText = '', portText = ''] = authorityForm.exec(authority) ?? [];
  const host = canonicalHost(hostText);
  // Without brackets, the colons would belong to a port.
  if (host === null || (host.startsWith('[') && !hostText.startsWith('['))) return null;
  const scheme = schemeText.toLowerCase();
  const port = portText === '' ? (usualPorts.get(scheme) ?? null) : Number(portText);
  if (port !== null && port > portMax) return null;
  const isPlain = scheme === schemeText && host === authority && path !== '';
  const isCanonical = isPlain && !path.includes('/.') && !/%|[?#]$|[?]#/.test(text);
  return { scheme, host, port, path, query: filled(query), fragment: filled(fragment), isCanonical };
}

/** An empty query or fragment is dropped, because a server receives the same request without it. */
function filled(part: string): string {
  return part.length === 1 ? '' : part;
}

function write({ scheme, host, port, path, query, fragment }: UrlParts): string {
  const isUsual = port === null || usualPorts.get(scheme) === port;
  const origin = `${scheme}://${host}${isUsual ? '' : `:${port}`}`;
  return `${origin}${withoutDotSegments(decodeUnreserved(path))}${decodeUnreserved(query)}${decodeUnreserved(fragment)}`;
}

const encoded = /%([0-9A-Fa-f]{2})/g;
const unreserved = /[A-Za-z0-9\-._~]/;

/** Returns the text with unreserved characters as themselves and other percent-encodings in upper case. */
export function decodeUnreserved(text: string): string {
  if (!text.includes('%')) return text;
  // Match by match: `replace` keeps every match until it ends, and takes five times as long when there are
  // thousands.
  let decoded = '';
  let end = 0;
  for (const { 0: code, 1: hex, index } of text.matchAll(encoded)) {
    const character = String.fromCharCode(Number.parseInt(hex!, 16));
    decoded += text.slice(end, index) + (unreserved.test(character) ? character : code.toUpperCase());
    end = index + code.length;
  }
  return decoded + text.slice(end);
}

/**
 * Removes dot segments (RFC 3986, 5.2.4) from a path that is empty or begins with a slash. Empty segments are
 * kept.
 */
function withoutDotSegments(path: string): string {
  if (path === '') return '/';
  if (!path.includes('/.')) return path;
  const resolved: string[] = [];
  const segments = path.slice(1).split('/');
  for (const [at, segment] of segments.entries()) {
    const isDot = segment === '.' || segment === '..';
    if (segment === '..') resolved.pop();
    if (!isDot) resolved.push(segment);
    else if (at === segments.length - 1) resolved.push('');
  }
  return `/${resolved.join('/')}`;
}
