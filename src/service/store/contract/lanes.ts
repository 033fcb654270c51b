// Follows where the lanes of a chain end, while its records are read in the order of their numbers.
// INVARIANT: a chain of one lane yields only its last record, as if there were no lanes.

import { type ChainEntry, type ChainRecord, chainStart, type Link } from './chain.ts';

/** The last record of a lane. */
export interface LaneEnd extends Link {
  readonly lane: number;
}

/**
 * The last record of the chain up to some place, with the last record of each lane. `lanes` is absent when
 * the chain has lane 0 alone.
 */
export interface ChainPosition extends Link {
  readonly lanes?: readonly LaneEnd[];
}

/** Returns the number of the record before in the lane, as the record names it. */
export function followedBy({ sequence, follows = sequence - 1 }: ChainEntry): number {
  return Number(follows);
}

export function laneOf({ lane = 0 }: ChainEntry): number {
  return Number(lane);
}

export interface LaneEnds {
  /** The last record taken of a lane; `chainStart` before the first. */
  of(lane: number): Link;
  take(record: Pick<ChainRecord, 'entry' | 'hash'>): void;
  /** The last record taken, of any lane. */
  last(): Link;
  /** The last record taken, with the end of each lane when there are several lanes. */
  link(): ChainPosition;
  /** Whether there are lanes besides lane 0. */
  areSeveral(): boolean;
}

export function createLaneEnds(begin: ChainPosition): LaneEnds {
  const ends = new Map<number, Link>();
  for (const { lane, sequence, hash } of begin.lanes ?? [{ ...begin, lane: 0 }])
    ends.set(lane, { sequence, hash });
  let last: Link = { sequence: begin.sequence, hash: begin.hash };
  const areSeveral = () => ends.size > 1 || !ends.has(0);
  return {
    of: (lane) => ends.get(lane) ?? chainStart,
    take({ entry, hash }) {
      last = { sequence: entry.sequence, hash };
      ends.set(laneOf(entry), last);
    },
    last: () => last,
    link() {
      if (!areSeveral()) return last;
      const lanes = [...ends].map(([lane, end]) => ({ lane, ...end }));
      return { ...last, lanes: lanes.sort((a, b) => a.lane - b.lane) };
    },
    areSeveral,
  };
}

type LaneTuple = readonly [lane: number, sequence: number, hash: string];

/** Returns lane ends in the JSON form that records and signatures hold. */
export function laneTuples(lanes: readonly LaneEnd[]): readonly LaneTuple[] {
  return lanes.map(({ lane, sequence, hash }) => [lane, sequence, hash]);
}

/** Reads the JSON form of lane ends; returns null when the value does not have that form. */
export function readLanes(value: unknown): readonly LaneEnd[] | null {
  if (!Array.isArray(value)) return null;
  const lanes: LaneEnd[] = [];
  for (const one of value as readonly unknown[]) {
    if (!Array.isArray(one)) return null;
    const [lane, sequence, hash] = one as readonly unknown[];
    if (!Number.isSafeInteger(lane) || !Number.isSafeInteger(sequence) || typeof hash !== 'string')
      return null;
    lanes.push({ lane: Number(lane), sequence: Number(sequence), hash });
  }
  return lanes;
}
