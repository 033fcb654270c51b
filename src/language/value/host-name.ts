// Decides which texts are DNS host names or addresses of hosts, and gives their one canonical form.
// INVARIANT: no accepted name can be taken for a numeric address. So a name whose last label is digits, or
// the hexadecimal form that browsers read as a number, is not accepted; nor is a name that programs read in
// different ways.

import { formatIp, parseIp } from './ip.ts';

const labelForm = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const numericLabelForm = /^(?:\d+|0[xX][0-9A-Fa-f]*)$/;
const nameLengthMax = 253;

/** Whether the text is a DNS name of one or more labels, in ASCII, without a dot at its end. */
export function isHostName(text: string): boolean {
  if (text.length > nameLengthMax) return false;
  const labels = text.split('.');
  return labels.every((label) => labelForm.test(label)) && !numericLabelForm.test(labels.at(-1) ?? '');
}

/**
 * Returns the canonical form of a host: a DNS name in lower case and ASCII, without a dot at its end; a
 * dotted IPv4 address; or the shortest form of an IPv6 address, in brackets. An IPv4-mapped IPv6 address
 * becomes the IPv4 address. Null for any other text.
 */
export function canonicalHost(text: string): string | null {
  if (text.includes(':')) return bracketed(text);
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const ip = parseIp(name);
  return ip === null ? canonicalHostName(name) : formatIp(ip);
}

/**
 * Returns a DNS name in lower case and ASCII, or null for any other text. A dot at the end is not accepted.
 */
export function canonicalHostName(name: string): string | null {
  if (isHostName(name)) return name.toLowerCase();
  const ascii = asciiName(name);
  return ascii !== null && isHostName(ascii) ? ascii : null;
}

function bracketed(text: string): string | null {
  const isBracketed = text.startsWith('[') && text.endsWith(']');
  const ip = parseIp(isBracketed ? text.slice(1, -1) : text);
  if (ip === null) return null;
  return ip.family === 4 ? formatIp(ip) : `[${formatIp(ip)}]`;
}

/**
 * Letters, marks, digits, hyphens and the full stops of IDNA, with at least one character that is not ASCII.
 */
const internationalForm = /^(?=.*[^\p{ASCII}])[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;

/** Letters that the two versions of IDNA turn into different names. */
const deviating = /[\u00df\u1e9e\u03c2]/;

/**
 * Returns the name as DNS knows it (`xn--...`), or null. The mapping is that of UTS 46, which every URL of
 * the web platform goes through.
 */
function asciiName(name: string): string | null {
  if (name.length > nameLengthMax || deviating.test(name) || !internationalForm.test(name)) return null;
  const url = `https://${name}/`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}
