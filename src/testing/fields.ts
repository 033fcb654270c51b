// Reads located values of a known form. Each reader reports a mistake at the narrowest place and returns
// null, so that one pass over a test file finds all of its mistakes.

import type { Span } from '../language/diagnostic/span.ts';
import { nearestOf } from '../language/diagnostic/suggest.ts';
import { toNumber } from '../language/value/decimal.ts';
import { parseDuration } from '../language/value/time.ts';
import type { Entry, LocatedMap, LocatedValue, Report } from './yaml.ts';

/** The map; each key outside of `keys` is reported. */
export function readMap(
  located: LocatedValue,
  what: {
    readonly name: string;
    readonly keys: readonly string[];
    /** What to write, for a value that is no map. */
    readonly shape?: string;
  },
  report: Report,
): LocatedMap | null {
  if (located.kind !== 'map') {
    report(located.span, `${what.name} must be a mapping`, what.shape);
    return null;
  }
  for (const { key, keySpan } of located.entries) {
    if (!what.keys.includes(key))
      unknownKey(`${what.name} has no key \`${key}\``, { key, keySpan, keys: what.keys }, report);
  }
  return located;
}

/** Reports an unknown key, with the nearest known one. */
export function unknownKey(
  message: string,
  entry: { readonly key: string; readonly keySpan: Span; readonly keys: readonly string[] },
  report: Report,
): void {
  const nearest = nearestOf(entry.key, entry.keys);
  const keys = entry.keys.length === 0 ? undefined : `use ${oneOf(entry.keys)}`;
  report(entry.keySpan, message, nearest === null ? keys : `did you mean \`${nearest}\``);
}

export function find(map: LocatedMap | null, key: string): LocatedValue | null {
  return map?.entries.find((entry: Entry) => entry.key === key)?.value ?? null;
}

export function readIfThere<Value>(
  map: LocatedMap,
  key: string,
  read: (value: LocatedValue) => Value | null,
): Value | null {
  const value = find(map, key);
  return value === null ? null : read(value);
}

export function readText(located: LocatedValue, name: string, report: Report): string | null {
  if (located.kind === 'scalar' && typeof located.value === 'string') return located.value;
  const isScalar = located.kind === 'scalar' && located.value !== null;
  report(located.span, `${name} must be text`, isScalar ? 'write it in quotes' : undefined);
  return null;
}

export function readBoolean(located: LocatedValue, name: string, report: Report): boolean | null {
  if (located.kind === 'scalar' && typeof located.value === 'boolean') return located.value;
  report(located.span, `${name} must be true or false`);
  return null;
}

/** Reads a whole number from `min` to `max`. */
export function readInteger(
  located: LocatedValue,
  what: { readonly name: string; readonly min: number; readonly max: number },
  report: Report,
): number | null {
  const value = located.kind === 'scalar' ? located.value : null;
  if (Number.isInteger(value) && (value as number) >= what.min && (value as number) <= what.max) {
    return value as number;
  }
  report(located.span, `${what.name} must be a whole number from ${what.min} to ${what.max}`);
  return null;
}

export function readWord<Word extends string>(
  located: LocatedValue,
  what: { readonly name: string; readonly words: readonly Word[] },
  report: Report,
): Word | null {
  const text = readText(located, what.name, report);
  if (text === null) return null;
  const word = what.words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  const nearest = nearestOf(text, what.words);
  report(
    located.span,
    `${what.name} must be ${oneOf(what.words)}`,
    nearest === null ? undefined : `did you mean \`${nearest}\``,
  );
  return null;
}

/** The elements that are text; other elements are reported. */
export function readTexts(
  located: LocatedValue,
  name: string,
  report: Report,
): readonly { text: string; span: Span }[] | null {
  if (located.kind !== 'list') {
    report(located.span, `${name} must be a list`);
    return null;
  }
  return located.items.flatMap((item) => {
    const text = readText(item, `each of ${name}`, report);
    return text === null ? [] : [{ text, span: item.span }];
  });
}

/** Reads a duration such as `15m`, in seconds. */
export function readDuration(located: LocatedValue, name: string, report: Report): number | null {
  const text = located.kind === 'scalar' && typeof located.value === 'string' ? located.value : '';
  const duration = parseDuration(text);
  if (duration !== null) return toNumber(duration);
  report(located.span, `${name} must be a duration such as \`15m\``);
  return null;
}

function oneOf(words: readonly string[]): string {
  const quoted = words.map((word) => `\`${word}\``);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
