// Splits the requests of an action into those that policies are inferred from and those that are held out to
// measure the result. INVARIANT: no request is in both parts, and the same seed gives the same split.

import { createRandom } from '../../language/value/random.ts';
import type { Sample } from './sample.ts';

export interface SplitOptions {
  /** The share that is held out, from 0 to below 1. */
  readonly share: number;
  /** Whether the latest requests are held out, and not random ones. */
  readonly isLatest: boolean;
  readonly seed: number;
}

export interface Split {
  readonly learned: readonly Sample[];
  readonly heldOut: readonly Sample[];
}

export function split(samples: readonly Sample[], { share, isLatest, seed }: SplitOptions): Split {
  const ordered = isLatest
    ? samples.toSorted((a, b) => a.facts.nowMs - b.facts.nowMs)
    : shuffled(samples, seed);
  const end = samples.length - Math.round(share * samples.length);
  return { learned: ordered.slice(0, end), heldOut: ordered.slice(end) };
}

function shuffled(samples: readonly Sample[], seed: number): readonly Sample[] {
  const random = createRandom(seed);
  const all = [...samples];
  for (let end = all.length; end > 1; end -= 1) {
    const at = random.below(end);
    [all[at], all[end - 1]] = [all[end - 1]!, all[at]!];
  }
  return all;
}
