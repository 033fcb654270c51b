// Where the lanes of a chain end, while its records are walked in the order of their numbers. INVARIANT: of a chain of one lane
// nothing is said but its last record, as if there were no lanes.

import { type ChainEntry, type ChainRecord, chainStart, type Link } from './chain.ts';

/** The last record of a lane. */
export interface LaneEnd extends Link {
  readonly lane: number;
}

/** The last record of the chain up to some place, with the last one of each lane; of lane 0 alone where none is named. */
export interface ChainPlace extends Link {
  readonly lanes?: readonly LaneEnd[];
}

/** The number of the record before in the lane, as a record says it. */
export function followedBy({ sequence, follows = sequence - 1 }: ChainEntry): number {
  return Number(follows);
}

export function laneOf({ lane = 0 }: ChainEntry): number {
  return Number(lane);
}

export interface LaneEnds {
  /** Before the first record of a lane, where every chain starts. */
  of(lane: number): Link;
  take(record: Pick<ChainRecord, 'entry' | 'hash'>): void;
  /** The last record that was taken, of whichever lane. */
  last(): Link;
  /** The same, with the end of each lane. */
  place(): ChainPlace;
  /** Whether there are others than lane 0. */
  areSeveral(): boolean;
}

export function createLaneEnds(begin: ChainPlace): LaneEnds {
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
    place() {
      if (!areSeveral()) return last;
      const lanes = [...ends].map(([lane, end]) => ({ lane, ...end }));
      return { ...last, lanes: lanes.sort((a, b) => a.lane - b.lane) };
    },
    areSeveral,
  };
}

type LaneTuple = readonly [lane: number, sequence: number, hash: string];

/** Lanes as JSON has them, in records and signatures. */
export function laneTuples(lanes: readonly LaneEnd[]): readonly LaneTuple[] {
  return lanes.map(({ lane, sequence, hash }) => [lane, sequence, hash]);
}

/** Null where the value is none. */
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
