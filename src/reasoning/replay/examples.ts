// A few examples of each kind of change out of however many there are, each with the same chance to be among them.

import type { Outcome } from '../../language/model/decision.ts';
import { createRandom, type Random } from '../../language/value/random.ts';

/** A request that is decided otherwise, or by another rule. */
export interface ReplayExample {
  readonly id: string;
  readonly atMs: number;
  readonly agent: string;
  readonly action: string;
  readonly before: DecidedAs;
  readonly now: DecidedAs;
  /** Id of the finding under which it is filed; null where there is none. */
  readonly finding: string | null;
  /** Names of the meters that it reads as its record says, since they lack what others have added. */
  readonly incompleteMeters: readonly string[];
}

export interface DecidedAs {
  readonly outcome: Outcome;
  /** Id of the rule, or the gate. */
  readonly by: string;
}

const examplesAtMost = 10;
/** More kinds than people look at: further ones are counted in the matrix alone. */
const kindsMax = 2_000;

interface Reservoir {
  seen: number;
  readonly kept: ReplayExample[];
}

/** A class because it is changed by each request. */
export class Examples {
  readonly #random: Random = createRandom(1);
  readonly #kinds = new Map<string, Reservoir>();

  /** Kept by its cell of the matrix and the rule that decides now. */
  offer(example: ReplayExample): void {
    const { before, now } = example;
    const kind = `${before.outcome} ${now.outcome} ${now.by}`;
    let reservoir = this.#kinds.get(kind);
    if (reservoir === undefined) {
      if (this.#kinds.size >= kindsMax) return;
      reservoir = { seen: 0, kept: [] };
      this.#kinds.set(kind, reservoir);
    }
    reservoir.seen += 1;
    if (reservoir.kept.length < examplesAtMost) reservoir.kept.push(example);
    else {
      const place = this.#random.below(reservoir.seen);
      if (place < examplesAtMost) reservoir.kept[place] = example;
    }
  }

  /** By kind, and in the order of time. */
  all(): readonly ReplayExample[] {
    return [...this.#kinds]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, { kept }]) => [...kept].sort((a, b) => a.atMs - b.atMs));
  }
}
