// All replies, in a file, because a long run has more of them than memory should hold. Figures that are
// needed while the file grows are kept in memory.

import { appendFileSync, createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporary } from '../acceptance/service.ts';

export interface Told {
  readonly id: string | null;
  readonly agent: string;
  readonly decision: string | null;
  readonly status: number;
  readonly key: string | null;
  readonly nonce: string | null;
  /** The vendor of a step of a plan; absent for other calls. */
  readonly step?: string;
  /** On one clock for all clients. */
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

/** The replies one after the other; can be read any number of times. */
export interface ToldLog extends AsyncIterable<Told> {
  add(told: Told): void;
  /** Counts by decision, or by HTTP status for replies without a decision. */
  readonly counts: ReadonlyMap<string, number>;
  /** Calls the listener for each further reply, until the returned function is called. */
  follow(listener: (told: Told) => void): () => void;
}

const linesAtOnce = 1_000;

export function createToldLog(): ToldLog {
  const file = join(temporary('told'), 'told.jsonl');
  writeFileSync(file, '');
  const counts = new Map<string, number>();
  const listeners = new Set<(told: Told) => void>();
  let lines: string[] = [];
  const flush = () => {
    appendFileSync(file, lines.join(''));
    lines = [];
  };
  return {
    add(told) {
      const word = told.decision ?? String(told.status);
      counts.set(word, (counts.get(word) ?? 0) + 1);
      if (lines.push(`${JSON.stringify(told)}\n`) >= linesAtOnce) flush();
      for (const listener of listeners) listener(told);
    },
    counts,
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *[Symbol.asyncIterator]() {
      flush();
      for await (const line of createInterface({ input: createReadStream(file) }))
        yield JSON.parse(line) as Told;
    },
  };
}
