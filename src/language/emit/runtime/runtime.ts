// The functions that generated code calls, by the names under which it binds them.

import { elementRoundsMax, textRoundsMax } from '../../model/limits.ts';
import type { Facts } from '../../model/request.ts';
import { monthsLater } from '../../value/calendar.ts';
import { isCurrency } from '../../value/currency.ts';
import { toNumber } from '../../value/decimal.ts';
import { canonicalEmail, domain } from '../../value/email.ts';
import { canonicalHost } from '../../value/host-name.ts';
import { includes } from '../../value/includes.ts';
import { type Ip, isInCidr, isIp, parseIp } from '../../value/ip.ts';
import { canonicalPath, canonicalPathIgnoringCase, isInside } from '../../value/path.ts';
import { isSingleScript } from '../../value/scripts.ts';
import { length, lower, trim } from '../../value/text.ts';
import { dateInZone, isTimestamp, parseDate, parseDatetime } from '../../value/time.ts';
import { canonicalUrl, canonicalWebAddress, parseWebAddress } from '../../value/url.ts';
import { addedAmount, meterKey, meterUse, valueText } from './entries.ts';
import { among, sameIp, sameScalar } from './membership.ts';
import {
  absoluteQuantity,
  addQuantities,
  divideQuantities,
  equalQuantities,
  exact,
  type Kleene,
  less,
  lessOrEqual,
  type Maybe,
  maximum,
  minimum,
  multiplyQuantities,
  type Numeric,
  negateQuantity,
  plain,
  type RuntimeQuantity,
  subtractDates,
  subtractQuantities,
} from './quantity.ts';
import {
  own,
  readAll,
  readDate,
  readDatetime,
  readIp,
  readMeter,
  readMeterIn,
  readMoney,
  readNow,
  readTimestamp,
} from './reading.ts';
import { cachedCommands, cachedFold, cachedLinks, cachedMentions } from './remembered.ts';
import { showRuntimeValue } from './show.ts';
import type { RuleCode, State } from './state.ts';
import { isRowThere, readColumn } from './tables.ts';

export type RuntimeName = keyof typeof runtime;

export const runtime = {
  absolute: absoluteQuantity,
  add: addQuantities,
  addedAmount,
  among,
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
  isCurrency,
  isDate: (text: string): boolean => parseDate(text) !== null,
  isDatetime: (text: string): boolean => parseDatetime(text) !== null,
  isInCidr,
  isInside,
  isIp,
  isRowThere,
  isSingleScript,
  isTimestamp,
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
  readAll,
  readColumn,
  readDate,
  readDatetime,
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

/** The text; undefined where so many rounds through it would take too long. */
function boundedText(text: Maybe<string>, rounds: number): Maybe<string> {
  return text != null && rounds * text.length > textRoundsMax ? undefined : text;
}

/** The list; undefined where so many rounds through it would take too long. */
function boundedList<T>(list: Maybe<readonly T[]>, rounds: number): Maybe<readonly T[]> {
  return list != null && rounds * list.length > elementRoundsMax ? undefined : list;
}

/** Equality of two truth values. */
function same(a: Kleene, b: Kleene): Kleene {
  return a === 1 || b === 1 ? 1 : a === b ? 2 : 0;
}

function truthValue(truth: Kleene): boolean | undefined {
  return truth === 1 ? undefined : truth === 2;
}

/** A `url` has a scheme, with which both parsers read alike. */
function hostOf(url: string): string | undefined {
  return parseWebAddress(url)?.host;
}

function schemeOf(url: string): string | undefined {
  return parseWebAddress(url)?.scheme;
}

function portOf(url: string): number | undefined {
  return parseWebAddress(url)?.port ?? undefined;
}

/** A host that is an address; an IPv6 address stands in brackets. */
function ipOf(host: string): Ip | undefined {
  return parseIp(host.replace(/^\[|\]$/g, '')) ?? undefined;
}

/** The date of an instant; unknown for one of which only two ends are known. */
function dateOf(instant: Maybe<Numeric | RuntimeQuantity>, zone: string): Numeric | undefined {
  if (instant == null || (typeof instant === 'object' && !('coefficient' in instant))) return undefined;
  const date = dateInZone(exact(instant), zone);
  return date === null ? undefined : plain(date);
}

function monthsAfter(date: Maybe<Numeric | RuntimeQuantity>, months: Numeric): number | undefined {
  if (date == null || (typeof date === 'object' && !('coefficient' in date))) return undefined;
  return monthsLater(toNumber(exact(date)), toNumber(exact(months))) ?? undefined;
}

/** A let that rules of one action share: its place in the state, and where its code and constants stand. */
export interface SharedLet {
  readonly index: number;
  readonly layout: readonly unknown[];
  base: number;
}

/** A let is evaluated at its first use in a request; `null` says that it has not been. */
function readLet({ index, layout, base }: SharedLet, facts: Facts, state: State): unknown {
  const known = state.lets[index];
  if (known !== null) return known;
  const code = layout[base - 2] as RuleCode<unknown>;
  // A let stands outside of every quantifier.
  const { rounds } = state;
  state.rounds = 1;
  const value = code(facts, state, layout, base) ?? undefined;
  state.rounds = rounds;
  state.lets[index] = value;
  return value;
}
