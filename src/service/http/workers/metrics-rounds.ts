// Joins the metrics of all workers into one text, whichever worker is asked. Each sample has the slot of its
// worker as a label, so that a sum over the workers is right, and a restarted worker begins at 0 by itself.

import { mergeMetrics } from '../telemetry/merge-metrics.ts';

/** A worker that has not answered within this time is left out, like one that does not serve. */
const answerMaxMs = 2_000;

interface Round {
  /** Slots of the workers that have not answered yet. */
  readonly pending: Set<number>;
  readonly texts: Map<number, string>;
  readonly end: () => void;
}

export interface MetricsRounds {
  /** Asks all workers; `tell` gets the text once all have answered, or the time is over. */
  ask(tell: (text: string) => void): void;
  receive(round: number, slot: number, text: string): void;
}

/** `want` asks all workers that serve, and returns their slots. */
export function createMetricsRounds(want: (round: number) => readonly number[]): MetricsRounds {
  const rounds = new Map<number, Round>();
  let latest = 0;
  return {
    ask(tell) {
      latest += 1;
      const number = latest;
      const texts = new Map<number, string>();
      const timer = setTimeout(() => round.end(), answerMaxMs);
      const round: Round = {
        pending: new Set(want(number)),
        texts,
        end() {
          clearTimeout(timer);
          rounds.delete(number);
          tell(mergeMetrics('worker', texts));
        },
      };
      rounds.set(number, round);
    },
    receive(number, slot, text) {
      const round = rounds.get(number);
      if (round === undefined) return;
      round.texts.set(slot, text);
      round.pending.delete(slot);
      if (round.pending.size === 0) round.end();
    },
  };
}
