// Tells which addresses a webhook may use: only those of the public Internet. A person who may set a webhook
// must not reach what only this machine can reach. INVARIANT: the address that is checked is the one that is
// connected to, so a name that resolves differently a moment later gains nothing.

import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type Cidr, isInCidr, parseCidr, parseIp } from '../../language/value/ip.ts';

/** The special-purpose registries of IANA: all of IPv4, and those within the allocated part of IPv6. */
const reserved = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].map(network);

/** The allocated part of IPv6. Addresses that carry an IPv4 address lie outside of it or are reserved. */
const unicast = network('2000::/3');

function network(text: string): Cidr {
  const parsed = parseCidr(text);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed;
}

/** Also returns false for a text that is not an address. */
export function isPublicAddress(text: string): boolean {
  const address = parseIp(text);
  if (address === null || reserved.some((one) => isInCidr(address, one))) return false;
  return address.family === 4 || isInCidr(address, unicast);
}

/** The host resolves to an address that is not public. A class because a connection fails with it. */
export class PrivateAddress extends Error {
  constructor(host: string) {
    super(`${host} is not an address of the public Internet`);
    this.name = 'PrivateAddress';
  }
}

type Resolve = (host: string, options: LookupAllOptions) => Promise<readonly LookupAddress[]>;

/**
 * Resolves names for a connection to public addresses only. A name with even one other address is refused: which of
 * them a connection takes is not decided here.
 */
export function createPublicLookup(resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    const fail = (error: NodeJS.ErrnoException): void => done(error, '', 0);
    resolve(host, { all: true, family: familyOf(options.family) }).then((addresses) => {
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        fail(new PrivateAddress(host));
      } else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    }, fail);
  };
}

export const lookupPublic: LookupFunction = createPublicLookup(lookup);

function familyOf(family: number | 'IPv4' | 'IPv6' | undefined): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}
