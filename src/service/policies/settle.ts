// From what is seen of a directory's files, look by look, to how long it must still be left alone before its content
// is taken for whole. Someone who writes a file in place cuts it first and fills it up again, and a file that is cut
// between two declarations is a good policy that says less: nothing on disk tells it from one that is finished.
// INVARIANT: a file that may be half written is waited for the longest; one that is replaced whole, by a rename, the
// shortest. Writers that pause for longer than `carefulMs` within one file are beyond what can be known from outside.

import type { PolicyPath } from './read.ts';
import type { Stamp } from './walk.ts';

/** What was just replaced whole, or written in place without growing shorter; and after any event. */
export const quickMs = 100;
/** A new file, or one that is gone: both may be the middle of a replacement. */
const newMs = 300;
/** A file that was cut, that grows, or whose last line has no end. */
export const carefulMs = 1_000;

/** A class because it holds what was seen before. Times are those of one clock that only rises, in milliseconds. */
export class Settling {
  readonly #seen = new Map<string, Seen>();
  #lookedAtMs: number | null = null;
  #eventAtMs = Number.NEGATIVE_INFINITY;
  /** As it was in the active set; empty before there is one. */
  #active: ReadonlyMap<string, PolicyPath> = new Map();

  /** Something at or under the directory has changed. */
  noteEvent(nowMs: number): void {
    this.#eventAtMs = nowMs;
  }

  noteActive(places: readonly PolicyPath[]): void {
    this.#active = byPath(places);
  }

  noteLook(places: readonly PolicyPath[], nowMs: number): void {
    const now = byPath(places);
    for (const path of new Set([...this.#seen.keys(), ...now.keys()])) {
      const place = now.get(path) ?? gone(path);
      const before = this.#seen.get(path);
      if (before?.place.mark !== place.mark) this.#seen.set(path, this.#change(before, place, nowMs));
    }
    this.#lookedAtMs = nowMs;
  }

  /** Milliseconds for which nothing need be looked at: until events have stopped for a moment. 0 or less: now. */
  quietMs(nowMs: number): number {
    return this.#eventAtMs + quickMs - nowMs;
  }

  /** Milliseconds that are missing until all files have rested; 0 or less when they have. */
  missingMs(nowMs: number): number {
    let missing = this.quietMs(nowMs);
    for (const seen of this.#seen.values()) {
      if (seen.changedAtMs + carefulMs < nowMs) continue;
      missing = Math.max(missing, seen.changedAtMs + this.#restMs(seen) - nowMs);
    }
    return missing;
  }

  /** The same for files of which only their content shows that they may not be whole: the last line has no end. */
  missingForMs(paths: readonly string[], nowMs: number): number {
    let missing = Number.NEGATIVE_INFINITY;
    for (const path of paths) {
      const seen = this.#seen.get(path);
      if (seen === undefined || seen.place.mark === this.#active.get(path)?.mark) continue;
      missing = Math.max(missing, seen.changedAtMs + carefulMs - nowMs);
    }
    return missing;
  }

  #change(before: Seen | undefined, place: PolicyPath, nowMs: number): Seen {
    const { stamp } = place;
    if (before === undefined && this.#lookedAtMs === null) {
      // The first look: how long ago it was touched is known from the file alone.
      const ageMs = stamp === null ? carefulMs : Date.now() - stamp.changedAtMs;
      return { place, changedAtMs: nowMs - Math.max(0, ageMs), isGrowing: false, isFirst: true };
    }
    const isAnnounced = this.#eventAtMs > (this.#lookedAtMs ?? 0);
    const changedAtMs = isAnnounced ? this.#eventAtMs : nowMs;
    const isInPlace = stamp !== null && before?.place.stamp?.identity === stamp.identity;
    const isTaken = before?.place.mark === this.#active.get(place.path)?.mark;
    const isGrowing = isInPlace && !isTaken && changedAtMs - before.changedAtMs < carefulMs;
    return { place, changedAtMs, isGrowing, isFirst: false };
  }

  #restMs({ place, isGrowing, isFirst }: Seen): number {
    const { stamp } = place;
    const before = this.#active.get(place.path);
    if (isFirst || before?.mark === place.mark) return quickMs;
    if (stamp === null) return newMs;
    if (isGrowing) return carefulMs;
    if (before?.stamp?.identity === stamp.identity)
      return stamp.sizeBytes < before.stamp.sizeBytes ? carefulMs : quickMs;
    return wasMovedHere(stamp) ? quickMs : newMs;
  }
}

interface Seen {
  readonly place: PolicyPath;
  readonly changedAtMs: number;
  /** The same file was another a moment before, and that was not taken. */
  readonly isGrowing: boolean;
  readonly isFirst: boolean;
}

/** Its content is older than its place, or has not been touched for long. */
function wasMovedHere({ writtenAtMs, changedAtMs }: Stamp): boolean {
  return writtenAtMs < changedAtMs || changedAtMs < Date.now() - carefulMs;
}

function gone(path: string): PolicyPath {
  return { path, mark: '', stamp: null };
}

function byPath(places: readonly PolicyPath[]): Map<string, PolicyPath> {
  return new Map(places.map((place) => [place.path, place]));
}
