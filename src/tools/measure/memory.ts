// How many bytes a value keeps alive: what the heap holds with it less what it held before, both after all garbage is gone.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A value and the bytes it keeps, array buffers included. What `make` leaves behind elsewhere counts too. */
export function measureKept<T>(make: () => T): { readonly value: T; readonly bytes: number } {
  const before = heapBytes();
  const value = make();
  return { value, bytes: heapBytes() - before };
}

/** What is alive now. */
export function heapBytes(): number {
  const collect = garbageCollector();
  // What one collection sets free, finalizers and weak references may keep until the next.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let collector: (() => void) | undefined;

function garbageCollector(): () => void {
  if (globalThis.gc !== undefined) return globalThis.gc as () => void;
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    // A context that is made after the flag has been set has the function.
    collector = runInNewContext('gc') as () => void;
  }
  return collector;
}
