// Finds what a change changed: the fields that differ between before and after, by path, as text. INVARIANT:
// two values that differ anywhere yield a difference; fields that are equal, or empty on both sides, are left
// out.

import { zonedTime } from '../../parts/layout/time-format.ts';

export interface Difference {
  /** Such as `roles` or `limits.burst`; empty for a value that is not an object. */
  readonly path: string;
  /** Null when there was no value. */
  readonly before: string | null;
  readonly after: string | null;
}

export function differences(before: unknown, after: unknown): readonly Difference[] {
  const [old, young] = [fieldsOf(before), fieldsOf(after)];
  const paths = [...new Set([...old.keys(), ...young.keys()])];
  return paths
    .map((path) => ({ path, before: old.get(path) ?? null, after: young.get(path) ?? null }))
    .filter((one) => one.before !== one.after)
    .filter((one) => !isNothing(one.before) || !isNothing(one.after));
}

/** A field that was created empty tells nothing. */
function isNothing(text: string | null): boolean {
  return text === null || text === 'null' || text === '[]' || text === '{}' || text === '""';
}

/** The leaves of a value by path. A list is one leaf: its order counts. */
function fieldsOf(value: unknown): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const add = (path: string, one: unknown): void => {
    if (isRecord(one) && Object.keys(one).length > 0) {
      for (const [name, inner] of Object.entries(one)) add(path === '' ? name : `${path}.${name}`, inner);
    } else if (one !== undefined) fields.set(path, shown(one, path));
  };
  if (value !== null && value !== undefined) add('', value);
  return fields;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown, name = ''): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (typeof value === 'number' && isMoment.test(name)) return timeOf(value);
  if (Array.isArray(value) && value.length > 0) return value.map((one) => shown(one)).join(', ');
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner !== null);
  return fields.map(([inner, one]) => `${inner} ${shown(one, inner)}`).join(' ');
}

/** Fields with these endings hold milliseconds since 1970. */
const isMoment = /(?:Ms|_ms)$/;
const lastMoment = 8.64e15;

/** The time in the reader's own zone. */
function timeOf(ms: number): string {
  return Math.abs(ms) <= lastMoment ? zonedTime.format(ms) : String(ms);
}
