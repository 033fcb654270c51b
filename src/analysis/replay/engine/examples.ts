// Keeps a few examples of each kind of change; every change of a kind has the same chance to be kept.

import type { Outcome } from '../../../language/model/decision.ts';
import { createRandom, type RandomSource } from '../../../language/value/random.ts';

/** A request that the candidate decides differently, or by another rule. */
export interface ReplayExample {
  readonly id: string;
  readonly atMs: number;
  readonly agent: string;
  readonly action: string;
  readonly before: DecidedAs;
  readonly now: DecidedAs;
  /** What is asked otherwise when the outcome is the same, in phrases such as "asks finance as well". */
  readonly asks: readonly string[];
  /** Id of the finding that the request is filed under; null when there is none. */
  readonly finding: string | null;
  /**
   * Names of the meters whose readings come from the record, because the replayed totals lack what earlier
   * requests added.
   */
  readonly incompleteMeters: readonly string[];
}

export interface DecidedAs {
  readonly outcome: Outcome;
  /** Id of the rule or gate that decided. */
  readonly by: string;
}

const examplesAtMost = 10;
/** More kinds than people look at; changes of further kinds count in the matrix alone. */
const kindsMax = 2_000;

interface Reservoir {
  seen: number;
  readonly examples: ReplayExample[];
}

/** A class, because each request changes its state. */
export class Examples {
  readonly #random: RandomSource = createRandom(1);
  readonly #kinds = new Map<string, Reservoir>();

  /** Keeps the example by its cell of the matrix and the rule that decides now. */
  offer(example: ReplayExample): void {
    const { before, now } = example;
    const kind = `${before.outcome} ${now.outcome} ${now.by}`;
    let reservoir = this.#kinds.get(kind);
    if (reservoir === undefined) {
      if (this.#kinds.size >= kindsMax) return;
      reservoir = { seen: 0, examples: [] };
      this.#kinds.set(kind, reservoir);
    }
    reservoir.seen += 1;
    if (reservoir.examples.length < examplesAtMost) reservoir.examples.push(example);
    else {
      const index = this.#random.below(reservoir.seen);
      if (index < examplesAtMost) reservoir.examples[index] = example;
    }
  }

  /** All examples, sorted by kind and then by time. */
  all(): readonly ReplayExample[] {
    return [...this.#kinds]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, { examples: kept }]) => [...kept].sort((a, b) => a.atMs - b.atMs));
  }
}
