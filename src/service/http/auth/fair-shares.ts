// Shares places for work that is under way among holders. Each holder has at most its own maximum, and may
// take at most half of what is free. So a place is left for the next holder, however many holders take all
// they can get. INVARIANT: a holder without a place gets one while more than one is free.

export interface FairShares {
  /** Takes a place; false when the holder may not have another. */
  enter(holder: string): boolean;
  /** Gives back a place that `enter` took. */
  leave(holder: string): void;
}

export interface FairShareOptions {
  readonly placesMax: number;
  readonly ofOneMax: number;
}

export function createFairShares({ placesMax, ofOneMax }: FairShareOptions): FairShares {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    enter(holder) {
      const ownCount = counts.get(holder) ?? 0;
      if (ownCount >= ofOneMax || ownCount >= Math.floor((placesMax - total) / 2)) return false;
      counts.set(holder, ownCount + 1);
      total += 1;
      return true;
    },
    leave(holder) {
      const ownCount = counts.get(holder) ?? 0;
      if (ownCount === 0) throw new Error('a slot was released that was not taken');
      if (ownCount === 1) counts.delete(holder);
      else counts.set(holder, ownCount - 1);
      total -= 1;
    },
  };
}
