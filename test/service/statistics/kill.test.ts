// A process that counts is killed without warning, again and again: the next process's statistics equal the
// records.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { overviewRange } from '../../../src/service/statistics/overview.ts';
import { hourMs, minuteMs } from '../../../src/service/statistics/times.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { temporaryFolder } from '../store/rows.ts';
import { naiveHits, overviewFaults, shownHits } from './naive.ts';
import { beginStatistics } from './world.ts';

const script = fileURLToPath(new URL('./count-until-killed.ts', import.meta.url));

/** Kills the process after this number of its minutes; returns the time that it had reached. */
async function countUntilKilled(path: string, minutes: number): Promise<number> {
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let [first, last] = [0, 0];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      last = Number(line) || last;
      if (first === 0) first = last;
      if (last - first > minutes * minuteMs) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.signalCode !== 'SIGKILL') throw new Error(`the process ended by itself with ${child.exitCode}`);
  return last;
}

test('nothing is lost or counted twice when it is killed', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  let stored = 0;
  for (let round = 0; round < 5; round += 1) {
    const nowMs = (await countUntilKilled(path, 2 + Math.random() * 5)) + 1;
    const store = await openStore({ path });
    try {
      const { statistics, failures } = await beginStatistics({ store }, () => nowMs);
      await statistics.caughtUp();
      const asked = { fromMs: nowMs - 24 * hourMs, untilMs: nowMs + 1 };
      const range = overviewRange(asked, { bucketsMax: 100, nowMs });
      expect(await overviewFaults(statistics, store, range)).toEqual([]);
      expect(shownHits(await statistics.hits())).toEqual(await naiveHits(store));
      expect(failures).toEqual([]);
      const page = { fromMs: 0, untilMs: nowMs, spanMs: null, after: null, countMax: 1_000 };
      stored = (await store.statistics.cells(page)).length;
      await statistics.close();
    } finally {
      await store.close();
    }
  }
  // Otherwise everything was counted from the records, and the test has tried nothing.
  expect(stored).toBeGreaterThan(0);
});
