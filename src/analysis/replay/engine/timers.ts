// Timers, the earliest first, in a binary heap.

interface Timer<T> {
  readonly atMs: number;
  readonly what: T;
}

/** A class, because every wait changes its state. */
export class Timers<T> {
  readonly #heap: Timer<T>[] = [];

  add(atMs: number, what: T): void {
    const heap = this.#heap;
    let at = heap.length;
    const timer = { atMs, what };
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.atMs <= atMs) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  /** Removes and returns the earliest timer that is due at `nowMs`; null when none is due. */
  take(nowMs: number): Timer<T> | null {
    const first = this.#heap[0];
    if (first === undefined || first.atMs > nowMs) return null;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(timer: Timer<T>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.atMs < heap[child]!.atMs) child += 1;
      if (heap[child]!.atMs >= timer.atMs) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = timer;
  }
}
