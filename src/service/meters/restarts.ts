// When one window of a meter restarts: at each grant of an action that the meter names behind `since`, and
// perhaps at pending requests for such an action.

interface Restart {
  readonly requestId: string;
  readonly atMs: number;
}

/** A class because each request changes it. */
export class Restarts {
  /** Granted restarts, sorted by time. */
  readonly #granted: Restart[] = [];
  readonly #pending = new Set<string>();

  reserve(requestId: string): void {
    this.#pending.add(requestId);
  }

  release(requestId: string): void {
    this.#pending.delete(requestId);
  }

  isPending(requestId: string): boolean {
    return this.#pending.has(requestId);
  }

  /** Whether a request other than this one is pending. */
  hasPendingBeside(requestId: string | null): boolean {
    return this.#pending.size > (requestId !== null && this.#pending.has(requestId) ? 1 : 0);
  }

  grant({ requestId, atMs }: Restart): void {
    const later = this.#granted.findLastIndex((one) => one.atMs <= atMs);
    this.#granted.splice(later + 1, 0, { requestId, atMs });
  }

  /** Removes a granted restart; returns whether there was one. */
  revoke(requestId: string): boolean {
    const at = this.#granted.findLastIndex((one) => one.requestId === requestId);
    if (at >= 0) this.#granted.splice(at, 1);
    return at >= 0;
  }

  /** The time of the last restart; negative infinity when there is none. */
  get lastMs(): number {
    return this.#granted.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** The time of the last restart by another request than this one; negative infinity when there is none. */
  lastMsBeside(requestId: string | null): number {
    return this.#granted.findLast((one) => one.requestId !== requestId)?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether no reading can depend on these restarts. */
  isEmpty(isCounted: (atMs: number) => boolean): boolean {
    return this.#pending.size === 0 && (this.#granted.length === 0 || !isCounted(this.lastMs));
  }

  /** Forgets restarts before a moment. */
  drop(beforeMs: number): void {
    while (this.#granted.length > 0 && this.#granted[0]!.atMs < beforeMs) this.#granted.shift();
  }

  get size(): number {
    return this.#granted.length + this.#pending.size;
  }
}
