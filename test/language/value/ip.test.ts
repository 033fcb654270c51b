/**
 * Addresses and networks: the forms that are accepted and refused, and membership compared with strings of
 * bits.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Cidr,
  formatCidr,
  formatIp,
  type Ip,
  isInCidr,
  isIp,
  parseCidr,
  parseIp,
} from '../../../src/language/value/ip.ts';

function ip(text: string): Ip {
  return parseIp(text) ?? expect.unreachable(text);
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  return 'error' in parsed ? expect.unreachable(parsed.error) : parsed;
}

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['::1', '::1'],
  ['2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['1:0:3:4:5:6:7:8', '1:0:3:4:5:6:7:8'],
  ['1::3:4:5:6:7:8', '1:0:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['0:0:0:0:0:FFFF:0a00:0001', '10.0.0.1'],
])('%s is %s', (text, normal) => {
  expect(formatIp(ip(text))).toBe(normal);
});

test.each([
  '',
  '10',
  '10.1',
  '10.0.0',
  '10.0.0.256',
  '10.0.0.01',
  '010.0.0.1',
  '0x7f.0.0.1',
  '10.0.0.1.',
  '10.0.0.1 ',
  '1.2.3.4.5',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '1:2:3:4:5:6:7:8::',
  '::1%eth0',
  '[::1]',
  '12345::',
  ':1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:',
  '1.2.3.4::',
  '::1.2.3.4:5',
  '::01.2.3.4',
  '::ffff:1.2.3',
  'g::',
  '١.1.1.1',
])('%j is no address', (text) => {
  expect(parseIp(text)).toBeNull();
});

test('the mapped form is the IPv4 address itself', () => {
  expect(ip('::ffff:192.0.2.1')).toEqual(ip('192.0.2.1'));
  expect(isInCidr(ip('::ffff:10.1.2.3'), cidr('10.0.0.0/8'))).toBe(true);
  expect(isInCidr(ip('10.1.2.3'), cidr('::ffff:10.0.0.0/104'))).toBe(true);
});

test('families are apart', () => {
  expect(isInCidr(ip('10.0.0.1'), cidr('::/0'))).toBe(false);
  expect(isInCidr(ip('::a00:1'), cidr('0.0.0.0/0'))).toBe(false);
});

describe('networks', () => {
  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['192.0.2.1/32', '192.0.2.1', true],
    ['0.0.0.0/0', '255.1.2.3', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/33', '2001:db8:ffff::1', false],
  ])('%s holds %s: %s', (network, address, expected) => {
    expect(isInCidr(ip(address), cidr(network))).toBe(expected);
  });

  test.each([
    ['10.0.0.1', '`10.0.0.1` lacks a prefix length such as `/32`'],
    ['10.0.0.1/8', '`10.0.0.1/8` has bits below its mask; the network is `10.0.0.0/8`'],
    ['2001:db8::1/32', '`2001:db8::1/32` has bits below its mask; the network is `2001:db8::/32`'],
    ['10.0.0.0/33', 'the prefix length of `10.0.0.0/33` is not a whole number from 0 to 32'],
    ['10.0.0.0/08', 'the prefix length of `10.0.0.0/08` is not a whole number from 0 to 32'],
    ['10.0.0.0/8/8', 'the prefix length of `10.0.0.0/8/8` is not a whole number from 0 to 32'],
    ['::/', 'the prefix length of `::/` is not a whole number from 0 to 128'],
    ['10.0/8', '`10.0` is not an IP address'],
  ])('%s is none', (text, error) => {
    expect(parseCidr(text)).toEqual({ error });
  });
});

const address = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((bits): Ip => ({ family: 4, bits })),
  fc
    .bigInt({ min: 0n, max: 2n ** 128n - 1n })
    .map((bits): Ip => ({ family: 6, bits }))
    .filter(({ bits }) => bits >> 32n !== 0xffffn),
);

test('what is written reads back', () => {
  const sparse = fc
    .array(fc.constantFrom('0', '0', '1', 'ffff'), { minLength: 8, maxLength: 8 })
    .map((groups) => ip(groups.join(':')));
  fc.assert(
    fc.property(fc.oneof(address, sparse), (any) => {
      expect(parseIp(formatIp(any))).toEqual(any);
    }),
  );
});

test('membership is a common beginning of bits', () => {
  const bitsOf = ({ family, bits }: Ip): string => bits.toString(2).padStart(family === 4 ? 32 : 128, '0');
  fc.assert(
    fc.property(address, fc.nat(), fc.nat(), (any, prefixSeed, flipSeed) => {
      const width = bitsOf(any).length;
      const prefix = prefixSeed % (width + 1);
      const mask = ((1n << BigInt(prefix)) - 1n) << BigInt(width - prefix);
      const network = cidr(`${formatIp({ ...any, bits: any.bits & mask })}/${prefix}`);
      const other: Ip = { family: any.family, bits: any.bits ^ (1n << BigInt(flipSeed % width)) };
      expect(isInCidr(any, network)).toBe(true);
      expect(isInCidr(other, network)).toBe(bitsOf(other).startsWith(bitsOf(network).slice(0, prefix)));
      expect(cidr(formatCidr(network))).toEqual(network);
    }),
  );
});

test('whether a text is an address is told as it is read', () => {
  const part = fc.constantFrom(
    '::',
    ':',
    '.',
    '0',
    '1',
    '255',
    '256',
    'ffff',
    'g',
    '10.0.0.1',
    '2001:db8',
    '',
  );
  const any = fc.array(part, { maxLength: 10 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(any, address.map(formatIp)), (text) => {
      expect(isIp(text)).toBe(parseIp(text) !== null);
    }),
    { numRuns: 2_000 },
  );
});
