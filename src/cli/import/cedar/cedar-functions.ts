// Functions of Cedar's extensions: decimals, addresses, instants and durations.

import { type Cidr, formatCidr, parseIp } from '../../../language/value/ip.ts';
import { type CedarValue, NoCounterpart, type ScalarValue, scalar } from './cedar-value.ts';
import { and, type Condition, never, not, or, test } from './condition.ts';
import { text } from './texts.ts';

/** The value of a call that is no condition. */
export function calledValue(name: string, [first, second]: readonly CedarValue[]): ScalarValue {
  switch (name) {
    case 'decimal':
      return decimalLiteral(constantIn(first, name));
    case 'ip': {
      const address = constantIn(first, name);
      return { ...scalar('ip', text(address)), literal: address };
    }
    case 'datetime':
      return {
        ...scalar('datetime', instantText(constantIn(first, name))),
        literal: constantIn(first, name),
      };
    case 'duration':
      return durationLiteral(constantIn(first, name));
    case 'offset':
      return scalar('datetime', `(${textIn(first)} + ${textIn(second)})`);
    case 'durationSince':
      return scalar('duration', `(${textIn(first)} - ${textIn(second)})`);
    default:
      throw new NoCounterpart(`the function \`${name}\` has no counterpart`);
  }
}

function textIn(value: CedarValue | undefined): string {
  if (value?.kind !== 'scalar') throw new NoCounterpart('a time is missing');
  return value.text;
}

function constantIn(value: CedarValue | undefined, name: string): string {
  if (value?.kind !== 'scalar' || typeof value.literal !== 'string')
    throw new NoCounterpart(`\`${name}\` of a text that is not constant has no counterpart`);
  return value.literal;
}

function decimalLiteral(written: string): ScalarValue {
  const plain = written.replace(/^(-?)0+(?=\d)/, '$1').replace(/\.?0+$/, '');
  const shown = plain === '-0' || plain === '' ? '0' : plain;
  return { ...scalar('decimal', shown.startsWith('-') ? `(${shown})` : shown), literal: shown };
}

/** The instant as Writ writes it. */
function instantText(written: string): string {
  const zoned = written.includes('T')
    ? written.replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
    : `${written}T00:00:00Z`;
  const time = Date.parse(zoned);
  if (Number.isNaN(time)) throw new NoCounterpart(`the time \`${written}\` is not known`);
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

const units: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

function durationLiteral(written: string): ScalarValue {
  const parts = [...written.matchAll(/(\d+)(ms|[dhms])/g)];
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? Number.NaN),
    0,
  );
  if (!Number.isSafeInteger(ms)) throw new NoCounterpart(`the duration \`${written}\` is not known`);
  const signed = written.startsWith('-') ? -ms : ms;
  return { ...scalar('duration', durationText(signed)), literal: String(signed) };
}

function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((one) => ms % units[one]! === 0);
  return unit === undefined ? `(${ms / 1_000} * 1s)` : `(${ms / units[unit]!} * 1${unit})`;
}

// ---- addresses

const mapped: Cidr = { family: 6, bits: 0xffffn << 32n, prefix: 96 };

/**
 * Whether an address is in one of the ranges. An IPv4-mapped address is the IPv4 address for Writ, but belongs to no IPv4 range
 * for Cedar; `is_ipv4` of the payload tells them apart.
 */
export function ipTest(address: CedarValue | undefined, ranges: readonly string[]): Condition {
  if (address?.kind !== 'scalar' || address.type.kind !== 'ip' || address.literal !== undefined)
    throw new NoCounterpart('an address that is a constant is tested');
  const { text: path } = address;
  const isIpv4 = test(`${path}.is_ipv4`);
  const isWithin = (cidr: Cidr): Condition => test(`${path}.value in ${text(formatCidr(cidr))}`);
  return or(
    ...ranges.map((range) => {
      const cidr = networkOf(range);
      if (cidr.prefix === 0) return cidr.family === 4 ? isIpv4 : not(isIpv4);
      if (cidr.family === 4) return and(isIpv4, isWithin(cidr));
      if (contains(mapped, cidr)) return and(not(isIpv4), isWithin(ipv4Of(cidr)));
      const all = contains(cidr, mapped) ? test(`${path}.value in "0.0.0.0/0"`) : never;
      return and(not(isIpv4), or(isWithin(cidr), all));
    }),
  );
}

const width = { 4: 32, 6: 128 } as const;

/** The range, without bits below its mask, which Cedar ignores. */
function networkOf(range: string): Cidr {
  const [addressText = '', prefixText] = range.split('/');
  const ip = parseIp(addressText);
  const family = addressText.includes(':') ? 6 : 4;
  const prefix = prefixText === undefined ? width[family] : Number(prefixText);
  if (ip === null || !(prefix >= 0 && prefix <= width[family]))
    throw new NoCounterpart(`the range \`${range}\` is not known`);
  const bits = family === 6 && ip.family === 4 ? mapped.bits | ip.bits : ip.bits;
  const hostBits = BigInt(width[family] - prefix);
  return { family, bits: (bits >> hostBits) << hostBits, prefix };
}

/** Whether each address of the inner range is in the outer one, of the same family. */
function contains(outer: Cidr, inner: Cidr): boolean {
  const hostBits = BigInt(width[outer.family] - outer.prefix);
  return inner.prefix >= outer.prefix && inner.bits >> hostBits === outer.bits >> hostBits;
}

function ipv4Of({ bits, prefix }: Cidr): Cidr {
  return { family: 4, bits: bits & 0xffffffffn, prefix: prefix - mapped.prefix };
}
