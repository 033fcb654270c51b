// Plain values of the declared form, for places that no condition reads.

import type { Json } from '../../language/model/json.ts';
import type { Field, Slot, TextType, Type } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { formatIp, type Ip } from '../../language/value/ip.ts';
import { formatDate, formatDatetime, formatTimestamp } from '../../language/value/time.ts';
import { textVectors } from '../cells/text-vectors.ts';

/** The value in the form that payloads hold. */
export function jsonOfSample(value: Value, type: Type): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  switch (type.kind) {
    case 'date':
      return formatDate(value as Decimal);
    case 'timestamp':
      return formatTimestamp(value as Decimal);
    case 'datetime':
      return formatDatetime(value as Decimal);
    case 'ip':
      return formatIp(value as Ip);
    default:
      return toNumber(value as Decimal);
  }
}

function isOfSlot(slot: Slot, json: Json): boolean {
  const field: Field = { ...slot, name: 'value', isOptional: false };
  return checkPayload({ fields: [field], isOpen: true }, { value: json }).length === 0;
}

/** The first sample that the place admits; null if none fits and the place may be null. */
export function sampleOf(slot: Slot): Json {
  const samples = samplesOf(slot.type);
  return samples.find((json) => isOfSlot(slot, json)) ?? (slot.isNullable ? null : (samples[0] ?? null));
}

function samplesOf(type: Type): readonly Json[] {
  switch (type.kind) {
    case 'boolean':
      return [false];
    case 'text':
      return type.values ?? textSamples(type);
    case 'ip':
      return ['192.0.2.1'];
    case 'date':
      return endsOf(type.range).map(formatDate).concat('2026-03-02');
    case 'timestamp':
      return endsOf(type.range).map(formatTimestamp).concat('2026-03-02T10:00:00Z');
    case 'datetime':
      return endsOf(type.range).map(formatDatetime).concat('2026-03-02 10:00');
    case 'list': {
      const least = type.length.low === null ? 0 : toNumber(type.length.low);
      return [Array.from({ length: least }, () => sampleOf(type.element))];
    }
    case 'record': {
      const needed = type.shape.fields.filter(({ isOptional }) => !isOptional);
      return [Object.fromEntries(needed.map((field) => [field.name, sampleOf(field)]))];
    }
    case 'any':
    case 'duration':
      return ['any'];
    case 'number':
    case 'integer':
    case 'money':
      return [...endsOf(type.range).map(toNumber), 1];
  }
}

function endsOf({
  low,
  high,
}: {
  readonly low: Decimal | null;
  readonly high: Decimal | null;
}): readonly Decimal[] {
  return [low, high].filter((end) => end !== null);
}

export const plainTexts: readonly string[] = [
  'someone',
  'Someone else',
  'x',
  '',
  'USD',
  'EUR',
  'ann@example.org',
  'https://www.example.com/a',
  'www.example.org',
  'report.txt',
  '/workspace/a',
  'a.example.com',
];

function textSamples({ patterns, length: { low } }: TextType): readonly string[] {
  const least = low === null ? 0 : Math.min(toNumber(low), 100_000);
  const longer = [...plainTexts, ...plainTexts.map((text) => text.padEnd(least, 'x'))];
  if (patterns.length === 0) return longer;
  return [...matching(patterns), ...matching([...patterns, `(?s:.{${Math.min(least, 1_000)},})`]), ...longer];
}

/** Texts that match all of the patterns; empty when none is found. */
export function matching(patterns: readonly string[]): readonly string[] {
  return textVectors(patterns)?.find(({ answers }) => !answers.includes(false))?.texts ?? [];
}
