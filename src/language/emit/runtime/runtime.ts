// The functions that generated code calls, by the names under which the code binds them.

import { elementRoundsMax, textRoundsMax } from '../../model/limits.ts';
import type { Facts } from '../../model/request.ts';
import { monthsLater } from '../../value/calendar.ts';
import { isAmountOf } from '../../value/currency.ts';
import { toNumber } from '../../value/decimal.ts';
import { canonicalEmail, domain } from '../../value/email.ts';
import { canonicalHost } from '../../value/host-name.ts';
import { includes } from '../../value/includes.ts';
import { type Ip, isInCidr, isIp, parseIp } from '../../value/ip.ts';
import { canonicalPath, canonicalPathIgnoringCase, isInside } from '../../value/path.ts';
import { parseQuantity } from '../../value/quantity-text.ts';
import { isSingleScript } from '../../value/scripts.ts';
import { length, lower, trim } from '../../value/text.ts';
import { dateInZone, isTimestamp, parseDate, parseDatetime } from '../../value/time.ts';
import { canonicalUrl, canonicalWebAddress, parseWebAddress } from '../../value/url.ts';
import { addedAmount, meterKey, meterUse, valueText } from './entries.ts';
import { among, beginsWith, sameIp, sameScalar } from './membership.ts';
import {
  absoluteQuantity,
  addQuantities,
  divideQuantities,
  equalQuantities,
  exact,
  type Kleene,
  less,
  lessOrEqual,
  maximum,
  minimum,
  multiplyQuantities,
  type NumericValue,
  negateQuantity,
  type OptionalValue,
  plain,
  type RuntimeQuantity,
  subtractDates,
  subtractQuantities,
} from './quantity.ts';
import {
  own,
  readAll,
  readChain,
  readDate,
  readDatetime,
  readDelegate,
  readIp,
  readMeter,
  readMeterIn,
  readMoney,
  readNow,
  readTimestamp,
} from './reading.ts';
import { showRuntimeValue } from './show.ts';
import type { RuleCode, State } from './state.ts';
import { hasCell, isRowThere, readColumn } from './tables.ts';
import { cachedCommands, cachedFold, cachedLinks, cachedMentions } from './text-cache.ts';

export type RuntimeName = keyof typeof runtime;

export const runtime = {
  absolute: absoluteQuantity,
  add: addQuantities,
  addedAmount,
  among,
  beginsWith,
  boundedList,
  boundedText,
  canonicalEmail,
  canonicalHost,
  canonicalPath,
  canonicalPathIgnoringCase,
  canonicalUrl,
  canonicalWebAddress,
  commands: cachedCommands,
  dateOf,
  divide: divideQuantities,
  domain,
  equal: equalQuantities,
  fold: cachedFold,
  hostOf,

  includes,
  ipOf,
  isAmountOf,
  isDate: (text: string): boolean => parseDate(text) !== null,
  isDatetime: (text: string): boolean => parseDatetime(text) !== null,
  isInCidr,
  isInside,
  isIp,
  hasCell,
  isRowThere,
  isSingleScript,
  isTimestamp,
  joinTexts,
  length,
  less,
  lessOrEqual,
  links: cachedLinks,
  lower,
  maximum,
  mentions: cachedMentions,
  meterKey,
  meterUse,
  minimum,
  monthsAfter,
  multiply: multiplyQuantities,
  negate: negateQuantity,
  own,
  portOf,
  quantityOf,
  readAll,
  readColumn,
  readDate,
  readDatetime,
  readChain,
  readDelegate,
  readIp,
  readLet,
  readMeter,
  readMeterIn,
  readMoney,
  readNow,
  readTimestamp,
  same,
  sameIp,
  sameScalar,
  schemeOf,
  show: showRuntimeValue,
  subtract: subtractQuantities,
  subtractDates,
  trim,
  truthValue,
  valueText,
} as const;

/** Returns the text; undefined when going through it `rounds` times would take too long. */
function boundedText(text: OptionalValue<string>, rounds: number): OptionalValue<string> {
  return text != null && rounds * text.length > textRoundsMax ? undefined : text;
}

/** Returns the list; undefined when going through it `rounds` times would take too long. */
function boundedList<T>(list: OptionalValue<readonly T[]>, rounds: number): OptionalValue<readonly T[]> {
  return list != null && rounds * list.length > elementRoundsMax ? undefined : list;
}

/** Equality of two truth values; unknown when one of them is unknown. */
function same(a: Kleene, b: Kleene): Kleene {
  return a === 1 || b === 1 ? 1 : a === b ? 2 : 0;
}

function truthValue(truth: Kleene): boolean | undefined {
  return truth === 1 ? undefined : truth === 2;
}

/**
 * Returns the host of a URL or web address. A `url` always has a scheme, and with a scheme both parsers
 * agree.
 */
function hostOf(url: string): string | undefined {
  return parseWebAddress(url)?.host;
}

function schemeOf(url: string): string | undefined {
  return parseWebAddress(url)?.scheme;
}

function portOf(url: string): number | undefined {
  return parseWebAddress(url)?.port ?? undefined;
}

/**
 * Returns the address of a host that is an IP address; undefined for a name. An IPv6 address is in brackets.
 */
function ipOf(host: string): Ip | undefined {
  return parseIp(host.replace(/^\[|\]$/g, '')) ?? undefined;
}

function joinTexts(texts: readonly OptionalValue<string>[]): string | undefined {
  return texts.every((text) => text != null) ? texts.join('') : undefined;
}

function quantityOf(text: string): NumericValue | undefined {
  const quantity = parseQuantity(text);
  return quantity === null ? undefined : plain(quantity);
}

/** Returns the local date of an instant; unknown for an instant that is known only as an interval. */
function dateOf(
  instant: OptionalValue<NumericValue | RuntimeQuantity>,
  zone: OptionalValue<string>,
): NumericValue | undefined {
  if (zone == null || instant == null || (typeof instant === 'object' && !('coefficient' in instant)))
    return undefined;
  const date = dateInZone(exact(instant), zone);
  return date === null ? undefined : plain(date);
}

function monthsAfter(
  date: OptionalValue<NumericValue | RuntimeQuantity>,
  months: NumericValue,
): number | undefined {
  if (date == null || (typeof date === 'object' && !('coefficient' in date))) return undefined;
  return monthsLater(toNumber(exact(date)), toNumber(exact(months))) ?? undefined;
}

/**
 * A let that the rules of one action share: its index in the state, and where its code and constants are in
 * the layout.
 */
export interface SharedLet {
  readonly index: number;
  readonly layout: readonly unknown[];
  base: number;
}

/**
 * Evaluates a let at its first use in a request. `null` in `state.lets` means that the let has not been
 * evaluated.
 */
function readLet({ index, layout, base }: SharedLet, facts: Facts, state: State): unknown {
  const known = state.lets[index];
  if (known !== null) return known;
  const code = layout[base - 2] as RuleCode<unknown>;
  // A let is outside of every quantifier.
  const { rounds } = state;
  state.rounds = 1;
  const value = code(facts, state, layout, base) ?? undefined;
  state.rounds = rounds;
  state.lets[index] = value;
  return value;
}
