// Defines what each function of the language returns for known arguments.

import type { Builtin } from '../model/builtins.ts';
import { type UnknownValue, unknown, type Value } from '../model/value.ts';
import { monthsLater } from '../value/calendar.ts';
import { type Decimal, fromNumber, multiply, toNumber } from '../value/decimal.ts';
import { domain } from '../value/email.ts';
import { parseIp } from '../value/ip.ts';
import { canonicalLinks } from '../value/links.ts';
import { parseQuantity } from '../value/quantity-text.ts';
import { shellCommands } from '../value/shell/commands.ts';
import { fold, length, lower, trim } from '../value/text.ts';
import { dateInZone } from '../value/time.ts';
import { parseWebAddress, type Url } from '../value/url.ts';
import { absoluteOf, extreme, isInterval } from './quantity.ts';

type BuiltinFunction = (args: readonly Value[], nowMs: number) => Value | UnknownValue;

export const calls: Readonly<Record<Builtin, BuiltinFunction>> = {
  length: ([subject]) =>
    fromNumber(typeof subject === 'string' ? length(subject) : (subject as readonly Value[]).length),
  lower: ([text]) => lower(text as string),
  trim: ([text]) => trim(text as string),
  fold: ([text]) => fold(text as string),
  links: ([text]) => canonicalLinks(text as string),
  commands: ([line]) => shellCommands(line as string) ?? unknown,
  domain: ([email]) => domain(email as string),
  host: ([address]) => ofUrl(address, ({ host }) => host),
  scheme: ([address]) => ofUrl(address, ({ scheme }) => scheme),
  port: ([address]) => ofUrl(address, ({ port }) => (port === null ? unknown : fromNumber(port))),
  ip: ([host]) => parseIp((host as string).replace(/^\[|\]$/g, '')) ?? unknown,
  first: ([list]) => (list as readonly Value[])[0] ?? unknown,
  join: (texts) => (texts as readonly string[]).join(''),
  quantity: ([text]) => parseQuantity(text as string) ?? unknown,
  date: ([instant, zone]) =>
    isInterval(instant as Value) ? unknown : (dateInZone(instant as Decimal, zone as string) ?? unknown),
  today: ([zone], nowMs) => {
    if (Number.isNaN(nowMs)) return unknown;
    const now = multiply(fromNumber(nowMs), { coefficient: 1n, exponent: -3 });
    return now === null ? unknown : (dateInZone(now, zone as string) ?? unknown);
  },
  months_later: ([date, months]) => {
    const day = monthsLater(toNumber(date as Decimal), toNumber(months as Decimal));
    return day === null ? unknown : fromNumber(day);
  },
  min: (operands) => extreme(-1, operands),
  max: (operands) => extreme(1, operands),
  abs: ([operand]) => absoluteOf(operand as Value),
};

/**
 * Reads a part of a `url` or a web address; a `url` is a web address with a scheme. Rules see only addresses
 * that parse.
 */
function ofUrl(address: Value | undefined, part: (url: Url) => Value | UnknownValue): Value | UnknownValue {
  const url = parseWebAddress(address as string);
  return url === null ? unknown : part(url);
}
