/**
 * Which texts are DNS host names or the addresses of hosts, and their one canonical form. INVARIANT: no accepted name
 * can be taken for a numeric address, so a name that ends in digits, or in the hexadecimal form that browsers read as a
 * number, is none; nor is a name of which readers make different ones.
 */

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
 * A DNS name in lower case and ASCII, without a dot at its end; a dotted IPv4 address; an IPv6 address in brackets and
 * in its shortest form, an IPv4-mapped one as the IPv4. Null for anything else.
 */
export function canonicalHost(text: string): string | null {
  if (text.includes(':')) return bracketed(text);
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const ip = parseIp(name);
  return ip === null ? canonicalHostName(name) : formatIp(ip);
}

/** A DNS name without a dot at its end, in lower case and ASCII; null for anything else. */
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

/** Letters, marks, digits, hyphens and the full stops of IDNA, of which at least one is not ASCII. */
const internationalForm = /^(?=.*[^\p{ASCII}])[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;

/** Letters of which the two versions of IDNA make different names. */
const deviating = /[\u00df\u1e9e\u03c2]/;

/** The name as DNS knows it (`xn--...`), by the mapping of UTS 46 that every URL of the web platform goes through. */
function asciiName(name: string): string | null {
  if (name.length > nameLengthMax || deviating.test(name) || !internationalForm.test(name)) return null;
  const url = `https://${name}/`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}
