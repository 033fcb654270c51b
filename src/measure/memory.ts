// Measures how many bytes a value keeps alive: the heap with the value less the heap before, both after
// garbage collection.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Makes a value and measures its bytes, array buffers included. Memory that `make` leaves in use elsewhere
 * counts, too.
 */
export function measureKept<T>(make: () => T): { readonly value: T; readonly bytes: number } {
  const before = heapBytes();
  const value = make();
  return { value, bytes: heapBytes() - before };
}

/** The bytes that are in use now, after garbage collection. */
export function heapBytes(): number {
  const collect = garbageCollector();
  // Finalizers and weak references may keep memory that one collection frees until the next.
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
    // A context has the function only if it is made after the flag was set.
    collector = runInNewContext('gc') as () => void;
  }
  return collector;
}
