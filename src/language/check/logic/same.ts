// Compares data by content, so that unchanged data keeps its identity.

import { failedType } from './merge.ts';

/** Returns the earlier value when both have the same content, else the new one. */
export function sameOrNew<T>(before: T | undefined, made: T): T {
  return before !== undefined && isSame(before, made) ? before : made;
}

/** Whether two lists hold identical parts, in order. */
export function haveSameParts<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((one, at) => one === b[at]));
}

/** Whether two pieces of plain data have the same content. A type in error equals only itself. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === failedType || b === failedType) return false;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((one, at) => isSame(one, b[at]))
    );
  }
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b)) return areSameBytes(a, b);
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  // The two are plain objects, so their parts are read by name.
  return keys.every((key) => key in b && isSame(a[key as keyof typeof a], b[key as keyof typeof b]));
}

function areSameBytes(a: object, b: object): boolean {
  if (
    !(a instanceof Uint8Array && b instanceof Uint8Array) &&
    !(a instanceof Int32Array && b instanceof Int32Array)
  )
    return false;
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
