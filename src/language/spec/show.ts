// Shows values as people read them in a reason or a trace. What an agent claims is data: control characters
// are escaped and the length is bounded, so that no payload can pose as a part of the sentence around it.

import type { Type } from '../model/type.ts';
import { type UnknownValue, unknown, type Value } from '../model/value.ts';
import { type Decimal, formatDecimal } from '../value/decimal.ts';
import { formatIp, type Ip } from '../value/ip.ts';
import { cut, escapeControls } from '../value/text.ts';
import { formatDate, formatDatetime, formatDuration, formatTimestamp } from '../value/time.ts';
import { isInterval, isMoney } from './quantity.ts';

const shownCodePointsMax = 200;

export function showValue(type: Type, value: Value | UnknownValue): string {
  return cut(escapeControls(plainText(type, value)), shownCodePointsMax);
}

function plainText(type: Type, value: Value | UnknownValue): string {
  if (value === unknown) return 'unknown';
  if (value === null) return 'nothing';
  if (isInterval(value)) return plainText(type, value.high);
  switch (type.kind) {
    case 'boolean':
    case 'text':
      return String(value);
    case 'number':
    case 'integer':
      return formatDecimal(value as Decimal);
    case 'money':
      return isMoney(value)
        ? `${formatDecimal(value.amount)}${value.currency === null ? '' : ` ${value.currency}`}`
        : '';
    case 'duration':
      return formatDuration(value as Decimal);
    case 'date':
      return formatDate(value as Decimal);
    case 'timestamp':
      return formatTimestamp(value as Decimal);
    case 'datetime':
      return formatDatetime(value as Decimal);
    case 'ip':
      return formatIp(value as Ip);
    case 'list':
      return (value as readonly Value[]).map((element) => plainText(type.element.type, element)).join(', ');
    case 'record':
    case 'any':
      return `a ${type.kind === 'record' ? 'record' : 'value'}`;
  }
}
