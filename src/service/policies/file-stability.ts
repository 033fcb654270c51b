// Computes how long a changed directory must stay unchanged before its content counts as complete. Writers
// that write a file in place truncate it first, and a file cut between two declarations is a valid policy, so
// the content alone does not show that a file is incomplete. INVARIANT: a file that may be half written has
// the longest wait; a file replaced by a rename has the shortest. A writer that pauses within one file for
// longer than `longWaitMs` cannot be recognised.

import type { FileStamp } from './directory-listing.ts';
import type { PolicyPath } from './read-policies.ts';

/**
 * The wait after any event, and for a file that was replaced whole or written in place without getting
 * shorter.
 */
export const shortWaitMs = 100;
/** The wait for a file that is new or gone, which may be the middle of a replacement. */
const newMs = 300;
/** The wait for a file that was cut, that grows, or whose last line has no end. */
export const longWaitMs = 1_000;

/** A class because it holds what was seen before. Times are milliseconds of one clock that only rises. */
export class FileStabilityTracker {
  readonly #seen = new Map<string, FileState>();
  #lookedAtMs: number | null = null;
  #eventAtMs = Number.NEGATIVE_INFINITY;
  /** The files of the active set as they were seen; empty before a set is active. */
  #active: ReadonlyMap<string, PolicyPath> = new Map();

  /** Notes that something at or under the directory has changed. */
  noteEvent(nowMs: number): void {
    this.#eventAtMs = nowMs;
  }

  noteActive(places: readonly PolicyPath[]): void {
    this.#active = byPath(places);
  }

  noteScan(places: readonly PolicyPath[], nowMs: number): void {
    const now = byPath(places);
    for (const path of new Set([...this.#seen.keys(), ...now.keys()])) {
      const place = now.get(path) ?? gone(path);
      const before = this.#seen.get(path);
      if (before?.place.mark !== place.mark) this.#seen.set(path, this.#change(before, place, nowMs));
    }
    this.#lookedAtMs = nowMs;
  }

  /**
   * Milliseconds until events have stopped for a moment, before which no look is worthwhile; 0 or less when a
   * look can be taken.
   */
  quietMs(nowMs: number): number {
    return this.#eventAtMs + shortWaitMs - nowMs;
  }

  /** Milliseconds until all files have rested; 0 or less when they have. */
  remainingMs(nowMs: number): number {
    let missing = this.quietMs(nowMs);
    for (const seen of this.#seen.values()) {
      if (seen.changedAtMs + longWaitMs < nowMs) continue;
      missing = Math.max(missing, seen.changedAtMs + this.#restMs(seen) - nowMs);
    }
    return missing;
  }

  /**
   * Milliseconds until files have rested whose content alone shows that they may not be whole: their last
   * line has no end.
   */
  remainingForMs(paths: readonly string[], nowMs: number): number {
    let missing = Number.NEGATIVE_INFINITY;
    for (const path of paths) {
      const seen = this.#seen.get(path);
      if (seen === undefined || seen.place.mark === this.#active.get(path)?.mark) continue;
      missing = Math.max(missing, seen.changedAtMs + longWaitMs - nowMs);
    }
    return missing;
  }

  #change(before: FileState | undefined, place: PolicyPath, nowMs: number): FileState {
    const { stamp } = place;
    if (before === undefined && this.#lookedAtMs === null) {
      // At the first look, the file's own stamp alone tells how long ago it was touched.
      const ageMs = stamp === null ? longWaitMs : Date.now() - stamp.changedAtMs;
      return { place, changedAtMs: nowMs - Math.max(0, ageMs), isGrowing: false, isFirst: true };
    }
    const isAnnounced = this.#eventAtMs > (this.#lookedAtMs ?? 0);
    const changedAtMs = isAnnounced ? this.#eventAtMs : nowMs;
    const isInPlace = stamp !== null && before?.place.stamp?.identity === stamp.identity;
    const isTaken = before?.place.mark === this.#active.get(place.path)?.mark;
    const isGrowing = isInPlace && !isTaken && changedAtMs - before.changedAtMs < longWaitMs;
    return { place, changedAtMs, isGrowing, isFirst: false };
  }

  #restMs({ place, isGrowing, isFirst }: FileState): number {
    const { stamp } = place;
    const before = this.#active.get(place.path);
    if (isFirst || before?.mark === place.mark) return shortWaitMs;
    if (stamp === null) return newMs;
    if (isGrowing) return longWaitMs;
    if (before?.stamp?.identity === stamp.identity)
      return stamp.sizeBytes < before.stamp.sizeBytes ? longWaitMs : shortWaitMs;
    return wasMovedHere(stamp) ? shortWaitMs : newMs;
  }
}

interface FileState {
  readonly place: PolicyPath;
  readonly changedAtMs: number;
  /** Whether this same file changed shortly before, to a state that was not taken. */
  readonly isGrowing: boolean;
  readonly isFirst: boolean;
}

/** Whether the content is older than the file's place, or has not been touched for long. */
function wasMovedHere({ writtenAtMs, changedAtMs }: FileStamp): boolean {
  return writtenAtMs < changedAtMs || changedAtMs < Date.now() - longWaitMs;
}

function gone(path: string): PolicyPath {
  return { path, mark: '', stamp: null };
}

function byPath(paths: readonly PolicyPath[]): Map<string, PolicyPath> {
  return new Map(paths.map((place) => [place.path, place]));
}
