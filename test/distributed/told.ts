// All that was told, in a file: a long run tells more than memory should hold. What is asked of it while it grows is kept.

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
  /** On one clock for all. */
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

/** One after the other, as often as it is asked for. */
export interface ToldLog extends AsyncIterable<Told> {
  add(told: Told): void;
  /** By decision, or by status where there was none. */
  readonly counts: ReadonlyMap<string, number>;
  /** Called for each from now on, until the function is called that it yields. */
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
