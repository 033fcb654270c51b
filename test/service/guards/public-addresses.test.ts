// Which addresses do not belong to the public Internet, from the registries of IANA (RFC 6890 and later),
// with the first and last address of each range and its neighbours. A range that is left out, narrowed or
// widened fails this test.

import { isIPv4 } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/service/webhooks/public-address.ts';
import { readTarget } from '../../../src/service/webhooks/target.ts';

interface Range {
  readonly what: string;
  readonly first: string;
  readonly last: string;
  /** The public addresses next to the range; null when there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

function range(line: string): Range {
  const [first = '', last = '', before = '', after = '', ...what] = line.split(/\s+/);
  const neighbour = (text: string) => (text === '-' ? null : text);
  return { first, last, before: neighbour(before), after: neighbour(after), what: what.join(' ') };
}

const ranges = [
  '0.0.0.0 0.255.255.255 - 1.0.0.0 this network',
  '10.0.0.0 10.255.255.255 9.255.255.255 11.0.0.0 private use',
  '100.64.0.0 100.127.255.255 100.63.255.255 100.128.0.0 shared by carriers',
  '127.0.0.0 127.255.255.255 126.255.255.255 128.0.0.0 loopback',
  '169.254.0.0 169.254.255.255 169.253.255.255 169.255.0.0 link local',
  '172.16.0.0 172.31.255.255 172.15.255.255 172.32.0.0 private use',
  '192.0.0.0 192.0.0.255 191.255.255.255 192.0.1.0 protocol assignments',
  '192.0.2.0 192.0.2.255 192.0.1.255 192.0.3.0 documentation',
  '192.31.196.0 192.31.196.255 192.31.195.255 192.31.197.0 AS112',
  '192.52.193.0 192.52.193.255 192.52.192.255 192.52.194.0 AMT',
  '192.88.99.0 192.88.99.255 192.88.98.255 192.88.100.0 6to4 relays',
  '192.168.0.0 192.168.255.255 192.167.255.255 192.169.0.0 private use',
  '192.175.48.0 192.175.48.255 192.175.47.255 192.175.49.0 AS112',
  '198.18.0.0 198.19.255.255 198.17.255.255 198.20.0.0 benchmarks',
  '198.51.100.0 198.51.100.255 198.51.99.255 198.51.101.0 documentation',
  '203.0.113.0 203.0.113.255 203.0.112.255 203.0.114.0 documentation',
  '224.0.0.0 239.255.255.255 223.255.255.255 - multicast',
  '240.0.0.0 255.255.255.255 - - reserved and broadcast',
  ':: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff - 2000:: loopback, mapped, translated, unassigned',
  '2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: protocol assignments',
  '2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: documentation',
  '2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: 6to4',
  '3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: documentation',
  '4000:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff - unassigned, local, multicast',
].map(range);

describe.each(ranges)('$first to $last ($what)', ({ first, last, before, after }) => {
  const urlOf = (address: string) => `https://${isIPv4(address) ? address : `[${address}]`}/hook`;
  const isTaken = (address: string) =>
    readTarget(urlOf(address), { arePrivateAddressesAllowed: false }).kind === 'target';

  test('its ends are not public, and no webhook goes there', () => {
    for (const address of [first, last]) {
      expect([address, isPublicAddress(address), isTaken(address)]).toEqual([address, false, false]);
    }
  });

  test('its neighbours are', () => {
    for (const address of [before, after].filter((one) => one !== null)) {
      expect([address, isPublicAddress(address), isTaken(address)]).toEqual([address, true, true]);
    }
  });
});

test.each([
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '5f00::1',
  'fc00::1',
  'fd00::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
  '1.2.3',
  '01.2.3.4',
])('%j is not public', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test.each([
  'http://1.1.1.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://[::1]/',
])('a webhook does not go to %s', (url) => {
  expect(readTarget(url, { arePrivateAddressesAllowed: false }).kind).toBe('problem');
});
