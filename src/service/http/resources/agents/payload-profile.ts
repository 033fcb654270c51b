// Turns the payloads of many requests into a payload profile: for each field, the range of its numbers or its
// most frequent values. INVARIANT: the profile is small, whatever the number and content of the payloads.

import type { Json, JsonObject } from '../../../../language/model/json.ts';
import { pathStep, textLengthMax } from '../../../requests/look-alikes.ts';

export type ProfileField =
  | {
      readonly path: string;
      readonly kind: 'number';
      readonly min: number;
      readonly p50: number;
      readonly max: number;
    }
  | {
      readonly path: string;
      readonly kind: 'text' | 'other';
      /** How many different values the field has. */
      readonly distinct: number;
      /** The most frequent values first. */
      readonly common: readonly { readonly value: Json; readonly count: number }[];
    };

export const fieldsMax = 100;
export const commonMax = 5;

/**
 * The fields in the order in which they are met; fields of a list's elements are taken together, as
 * `items[].price`.
 */
export function profileFields(payloads: readonly JsonObject[]): readonly ProfileField[] {
  const values = new Map<string, Scalar[]>();
  for (const payload of payloads) collect(payload, '', values);
  return [...values].map(([path, found]) => fieldOf(path, found));
}

type Scalar = string | number | boolean | null;

function collect(value: Json, path: string, values: Map<string, Scalar[]>): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, `${path}[]`, values);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) collect(inner, pathStep(path, name), values);
  } else {
    const known = values.get(path);
    if (known !== undefined) known.push(value as Scalar);
    else if (values.size < fieldsMax) values.set(path, [value as Scalar]);
  }
}

function fieldOf(path: string, values: readonly Scalar[]): ProfileField {
  if (values.every((value) => typeof value === 'number')) {
    const sorted = values.toSorted((a, b) => a - b);
    const at = (index: number): number => sorted[index] ?? 0;
    const middle = Math.ceil(sorted.length / 2) - 1;
    return { path, kind: 'number', min: at(0), p50: at(middle), max: at(sorted.length - 1) };
  }
  const counts = new Map<Scalar, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  // Of values that are equally frequent, the one that was met first comes first.
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, commonMax);
  return {
    path,
    kind: values.every((value) => typeof value === 'string') ? 'text' : 'other',
    distinct: counts.size,
    common: frequent.map(([value, count]) => ({
      value: typeof value === 'string' ? cut(value) : value,
      count,
    })),
  };
}

function cut(text: string): string {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 1)}…`;
}
