// Turns text into IP addresses and networks, and back. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) is the
// IPv4 address, so no address has two values. Short forms, octets with leading zeros and zone ids are not
// accepted.

/** An address as a number of 32 bits (IPv4) or 128 bits (IPv6). */
export interface Ip {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** A network: the addresses whose first `prefix` bits are those of `bits`. All other bits of `bits` are 0. */
export interface Cidr extends Ip {
  readonly prefix: number;
}

const octetForm = /^(?:0|[1-9]\d{0,2})$/;
const prefixForm = /^(?:0|[1-9]\d{0,2})$/;
const groupCount = 8;
const textLengthMax = 45;

/** The first 96 bits of an IPv4-mapped address. */
const mappedPrefix = 0xffffn;

/** Reads a dotted IPv4 address or an IPv6 address without brackets. Null when the text is neither. */
export function parseIp(text: string): Ip | null {
  const address = readAddress(text);
  if (address === null || address.family === 4 || address.bits >> 32n !== mappedPrefix) return address;
  return { family: 4, bits: address.bits & 0xffffffffn };
}

/** Writes dotted IPv4, or IPv6 in lower case with the longest run of zero groups left out (RFC 5952). */
export function formatIp(ip: Ip): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (ip.bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: groupCount }, (_, at) => (ip.bits >> BigInt(112 - 16 * at)) & 0xffffn);
  const gap = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (gap.length < 2) return hex.join(':');
  return `${hex.slice(0, gap.start).join(':')}::${hex.slice(gap.start + gap.length).join(':')}`;
}

/** Reads a network such as `10.0.0.0/8` or `2001:db8::/32`, or says why the text is not a network. */
export function parseCidr(text: string): Cidr | { readonly error: string } {
  const [addressText = '', prefixText, ...rest] = text.split('/');
  const address = readAddress(addressText);
  if (address === null) return { error: `\`${addressText}\` is not an IP address` };
  if (prefixText === undefined)
    return { error: `\`${text}\` lacks a prefix length such as \`/${width(address)}\`` };
  const prefix = prefixForm.test(prefixText) ? Number(prefixText) : Number.POSITIVE_INFINITY;
  if (rest.length > 0 || prefix > width(address)) {
    return { error: `the prefix length of \`${text}\` is not a whole number from 0 to ${width(address)}` };
  }
  const hostBits = BigInt(width(address) - prefix);
  const network = (address.bits >> hostBits) << hostBits;
  if (network === address.bits) return canonical({ ...address, prefix });
  const meant = `${formatIp({ ...address, bits: network })}/${prefix}`;
  return { error: `\`${text}\` has bits below its mask; the network is \`${meant}\`` };
}

/** Reads a network, or an address as the network of that address alone; or says why the text is neither. */
export function parseNetwork(text: string): Cidr | { readonly error: string } {
  const address = parseIp(text);
  return address === null ? parseCidr(text) : { ...address, prefix: width(address) };
}

/** Returns a network as `10.0.0.0/8` and an address as an address; null for any other text. */
export function canonicalNetwork(text: string): string | null {
  const address = parseIp(text);
  if (address !== null) return formatIp(address);
  const network = parseCidr(text);
  return 'error' in network ? null : formatCidr(network);
}

/** Whether all addresses of the inner network belong to the outer network. */
export function isNetworkWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.prefix >= outer.prefix && isInCidr(inner, outer);
}

/** Whether the address belongs to the network. Always false across families. */
export function isInCidr(ip: Ip, cidr: Cidr): boolean {
  const hostBits = BigInt(width(cidr) - cidr.prefix);
  return ip.family === cidr.family && ip.bits >> hostBits === cidr.bits >> hostBits;
}

/** Writes the network as `10.0.0.0/8`. */
export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.prefix}`;
}

function width(ip: Ip): number {
  return ip.family === 4 ? 32 : 128;
}

/**
 * Turns a network of IPv4-mapped addresses into the IPv4 network, because its addresses are IPv4 addresses.
 */
function canonical(cidr: Cidr): Cidr {
  if (cidr.family === 4 || cidr.prefix < 96 || cidr.bits >> 32n !== mappedPrefix) return cidr;
  return { family: 4, bits: cidr.bits & 0xffffffffn, prefix: cidr.prefix - 96 };
}

/** Whether the text is an address. Accepts the same texts as `parseIp`, without computing the number. */
export function isIp(text: string): boolean {
  if (text.length > textLengthMax) return false;
  return (text.includes(':') ? readSix(text) : readFour(text)) !== null;
}

/** The buffer in which the groups of an IPv6 address become one number. */
const sixteenBytes = new DataView(new ArrayBuffer(16));

function readAddress(text: string): Ip | null {
  if (text.length > textLengthMax) return null;
  if (!text.includes(':')) {
    const four = readFour(text);
    return four === null ? null : { family: 4, bits: BigInt(four) };
  }
  const groups = readSix(text);
  if (groups === null) return null;
  for (const [at, group] of groups.entries()) sixteenBytes.setUint16(2 * at, group);
  return { family: 6, bits: (sixteenBytes.getBigUint64(0) << 64n) | sixteenBytes.getBigUint64(8) };
}

function readFour(text: string): number | null {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => octetForm.test(octet) && Number(octet) < 256))
    return null;
  return octets.reduce((bits, octet) => bits * 256 + Number(octet), 0);
}

function readSix(text: string): readonly number[] | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = [readGroups(halves[0] ?? '', halves.length === 1), readGroups(halves[1] ?? '', true)];
  if (head === null || tail === null) return null;
  const missing = groupCount - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  return [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** Reads one to four hexadecimal digits; returns -1 for any other text. */
function readGroup(text: string): number {
  if (text.length === 0 || text.length > 4) return -1;
  let group = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = hexDigit(text.charCodeAt(at));
    if (digit < 0) return -1;
    group = group * 16 + digit;
  }
  return group;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * Reads groups between colons; null when a group is invalid. The last group of an address may be a dotted
 * IPv4 address, which makes two groups.
 */
function readGroups(text: string, isLast: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    const four = isLast && at === parts.length - 1 && part.includes('.') ? readFour(part) : null;
    if (four !== null) groups.push(Math.floor(four / 0x10000), four % 0x10000);
    else {
      const group = readGroup(part);
      if (group < 0) return null;
      groups.push(group);
    }
  }
  return groups;
}

function longestZeroRun(groups: readonly bigint[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  for (const [at, group] of groups.entries()) {
    length = group === 0n ? length + 1 : 0;
    if (length > best.length) best = { start: at + 1 - length, length };
  }
  return best;
}
