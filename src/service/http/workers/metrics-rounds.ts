// The metrics of all workers in one text, whichever of them is asked: each sample with the place of its worker as a label, so that
// a sum over the workers is right, and one that is started anew begins at 0 by itself.

import { joinedTexts } from '../telemetry/joined-texts.ts';

/** A worker that has not answered by then is left out, as one that does not serve. */
const answerMaxMs = 2_000;

interface Round {
  /** Those that have not answered. */
  readonly asked: Set<number>;
  readonly texts: Map<number, string>;
  readonly end: () => void;
}

export interface MetricsRounds {
  /** `tell` gets the text once all have answered, or the time is over. */
  ask(tell: (text: string) => void): void;
  receive(round: number, slot: number, text: string): void;
}

/** `want` asks all that serve, and returns their slots. */
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
        asked: new Set(want(number)),
        texts,
        end() {
          clearTimeout(timer);
          rounds.delete(number);
          tell(joinedTexts('worker', texts));
        },
      };
      rounds.set(number, round);
    },
    receive(number, slot, text) {
      const round = rounds.get(number);
      if (round === undefined) return;
      round.texts.set(slot, text);
      round.asked.delete(slot);
      if (round.asked.size === 0) round.end();
    },
  };
}
