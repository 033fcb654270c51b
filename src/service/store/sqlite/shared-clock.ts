// A clock for times that one thread takes and another compares.

/** Milliseconds with fractions on a clock that all threads of the process share. */
export function sharedNow(): number {
  return performance.timeOrigin + performance.now();
}
