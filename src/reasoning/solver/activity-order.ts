// Orders variables by their part in recent conflicts: a binary heap with the most active variable on top.

const decay = 0.95;
const activityMax = 1e100;

export class ActivityOrder {
  readonly #heap: number[] = [];
  /** By variable, its place in the heap; -1 when the variable is not in the heap. */
  readonly #places: number[] = [];
  readonly #activities: number[] = [];
  #bump = 1;

  /** Adds the next variable; variables are numbered from 0. */
  append(): void {
    this.#places.push(-1);
    this.#activities.push(0);
    this.insert(this.#places.length - 1);
  }

  insert(variable: number): void {
    if (this.#places[variable]! >= 0) return;
    this.#places[variable] = this.#heap.length;
    this.#heap.push(variable);
    this.#rise(variable);
  }

  /** Removes and returns the most active variable; null when the heap is empty. */
  take(): number | null {
    const [top] = this.#heap;
    const last = this.#heap.pop();
    if (top === undefined || last === undefined) return null;
    this.#places[top] = -1;
    if (last !== top) {
      this.#put(0, last);
      this.#sink(last);
    }
    return top;
  }

  /** Notes that the variable took part in a conflict. */
  touch(variable: number): void {
    this.#activities[variable]! += this.#bump;
    if (this.#places[variable]! >= 0) this.#rise(variable);
  }

  /** Ends a conflict: earlier conflicts count less from now on. */
  age(): void {
    this.#bump /= decay;
    if (this.#bump < activityMax) return;
    for (const at of this.#activities.keys()) this.#activities[at]! /= activityMax;
    this.#bump /= activityMax;
  }

  #rise(variable: number): void {
    let at = this.#places[variable]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isMore(variable, this.#heap[parent]!)) break;
      this.#put(at, this.#heap[parent]!);
      at = parent;
    }
    this.#put(at, variable);
  }

  #sink(variable: number): void {
    let at = this.#places[variable]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && this.#isMore(this.#heap[child + 1]!, this.#heap[child]!))
        child += 1;
      if (!this.#isMore(this.#heap[child]!, variable)) break;
      this.#put(at, this.#heap[child]!);
      at = child;
    }
    this.#put(at, variable);
  }

  #isMore(a: number, b: number): boolean {
    return this.#activities[a]! > this.#activities[b]!;
  }

  #put(at: number, variable: number): void {
    this.#heap[at] = variable;
    this.#places[variable] = at;
  }
}
