// The functions that generated code calls, by the names under which it binds them.

import { isCurrency } from '../value/currency.ts';
import { domain, isEmail } from '../value/email.ts';
import type { Hours } from '../value/hours.ts';
import { isWithinHours } from '../value/hours.ts';
import { isInCidr, parseIp } from '../value/ip.ts';
import { links } from '../value/links.ts';
import { mentions } from '../value/mentions.ts';
import { isInside, isPathText } from '../value/path.ts';
import { fold, length, lower, trim } from '../value/text.ts';
import { dateInZone, parseDate, parseDatetime, parseTimestamp } from '../value/time.ts';
import { parseUrl, parseWebAddress } from '../value/url.ts';
import { among, sameIp, sameScalar } from './membership.ts';
import {
  absolute,
  add,
  divide,
  equal,
  exact,
  type Kleene,
  less,
  lessOrEqual,
  type Maybe,
  maximum,
  minimum,
  multiply,
  type Numeric,
  negate,
  plain,
  subtract,
  subtractDates,
} from './quantity.ts';
import {
  own,
  readAll,
  readDate,
  readDatetime,
  readIp,
  readMeter,
  readMoney,
  readNow,
  readTimestamp,
} from './reading.ts';
import { show } from './show.ts';

export type RuntimeName = keyof typeof runtime;

export const runtime = {
  absolute,
  add,
  among,
  dateOf,
  divide,
  domain,
  equal,
  fold,
  hostOf,
  isCurrency,
  isDate: (text: string): boolean => parseDate(text) !== null,
  isDatetime: (text: string): boolean => parseDatetime(text) !== null,
  isEmail,
  isInCidr,
  isInside,
  isIp: (text: string): boolean => parseIp(text) !== null,
  isPathText,
  isTimestamp: (text: string): boolean => parseTimestamp(text) !== null,
  isUrl: (text: string): boolean => parseUrl(text) !== null,
  isWebAddress: (text: string): boolean => parseWebAddress(text) !== null,
  length,
  less,
  lessOrEqual,
  links,
  lower,
  maximum,
  mentions,
  minimum,
  multiply,
  negate,
  own,
  portOf,
  readAll,
  readDate,
  readDatetime,
  readIp,
  readMeter,
  readMoney,
  readNow,
  readTimestamp,
  same,
  sameIp,
  sameScalar,
  schemeOf,
  show,
  subtract,
  subtractDates,
  trim,
  truthValue,
  within,
} as const;

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

function dateOf(instant: Maybe<Numeric>, zone: string): Numeric | undefined {
  const date = instant == null ? null : dateInZone(exact(instant), zone);
  return date === null ? undefined : plain(date);
}

function within(hours: Hours, instant: Maybe<Numeric>): Kleene {
  const isWithin = instant == null ? null : isWithinHours(hours, exact(instant));
  return isWithin === null ? 1 : isWithin ? 2 : 0;
}
