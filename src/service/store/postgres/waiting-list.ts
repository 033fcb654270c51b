// What waits to be stored, in the order in which it came. INVARIANT: nothing goes before a write that keeps its turn and came
// earlier, and such a write not before what came earlier than it; requests and the writes between these take turns.

import type { Waiting, WaitingRequest, WaitingWrite } from './request-batch.ts';

/** A class because it holds what waits. */
export class WaitingList {
  #all: Waiting[] = [];
  #isWriteNext = false;

  get length(): number {
    return this.#all.length;
  }

  add(waiting: Waiting): void {
    this.#all.push(waiting);
  }

  /** They have waited before. */
  addFirst(requests: readonly WaitingRequest[]): void {
    this.#all.unshift(...requests);
  }

  /** A write, which is taken from the list, or requests, which are not yet: none where nothing waits. */
  next(countMax: number): WaitingWrite | readonly WaitingRequest[] {
    const end = this.#all.findIndex((one) => 'work' in one && one.turn === 'kept');
    const open = end === -1 ? this.#all : this.#all.slice(0, Math.max(end, 1));
    const requests = open.filter((one) => 'make' in one);
    const write = open.find((one) => 'work' in one);
    if (write === undefined || (requests.length > 0 && !this.#isWriteNext)) {
      this.#isWriteNext = true;
      return requests.slice(0, countMax);
    }
    this.#isWriteNext = false;
    this.#all.splice(this.#all.indexOf(write), 1);
    return write;
  }

  remove(requests: readonly WaitingRequest[]): void {
    const gone = new Set<Waiting>(requests);
    this.#all = this.#all.filter((one) => !gone.has(one));
  }

  clear(): readonly Waiting[] {
    const all = this.#all;
    this.#all = [];
    return all;
  }
}
