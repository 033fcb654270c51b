// The model as one text, equal for equal meanings: what a policy set's digest is taken over.

import type { PolicySet } from './policy.ts';

/** Stable text of a set: keys sorted, places in files left out, so that moving a rule changes nothing. */
export function canonicalText(set: PolicySet): string {
  return JSON.stringify(set, (key, value: unknown) =>
    key === 'span' || key === 'doc' ? undefined : plain(value),
  );
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map) return [...value].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
