// `node test/service/store/kill-rounds.ts --rounds 200`: on one store, a process that appends is killed without
// warning, again and again. After each round every acknowledged record must exist and the chain must be
// whole. Prints how long the store took to open again; exits with 1 at the first loss.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import { openStore } from '../../../src/service/store/open.ts';

const appendScript = fileURLToPath(new URL('./append-until-killed.ts', import.meta.url));
const acknowledgedMax = 100;

export interface KillRounds {
  readonly acknowledgedCount: number;
  /**
   * Records in the chain at the end, including records that were stored but not acknowledged before the kill.
   */
  readonly recordCount: number;
  /** Ids that were acknowledged and are missing. */
  readonly lost: readonly string[];
  /** The first damage that was found; null when all was well after every round. */
  readonly broken: string | null;
  /** Milliseconds from the start of opening to the first read, for each round. */
  readonly openMs: readonly number[];
}

export async function runKillRounds(
  path: string,
  rounds: number,
  onRound: (openedInMs: number) => void = () => {},
): Promise<KillRounds> {
  let acknowledgedCount = 0;
  let recordCount = 0;
  const openMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const acknowledged = await appendUntilKilled(path, 1 + Math.floor(Math.random() * acknowledgedMax));
    acknowledgedCount += acknowledged.length;
    const startedAt = performance.now();
    const store = await openStore({ path });
    try {
      const found = await Promise.all(acknowledged.map((id) => store.requests.find(id)));
      openMs.push(performance.now() - startedAt);
      onRound(openMs.at(-1) ?? 0);
      const lost = acknowledged.filter((_, index) => found[index] === null);
      const { chain, differences } = await verifyStore(store);
      const broken =
        chain.kind === 'broken'
          ? `record ${chain.break.sequence}: ${chain.break.message}`
          : (differences[0]?.message ?? null);
      recordCount = chain.kind === 'whole' ? chain.end.sequence : recordCount;
      if (lost.length > 0 || broken !== null) return { acknowledgedCount, recordCount, lost, broken, openMs };
    } finally {
      await store.close();
    }
  }
  return { acknowledgedCount, recordCount, lost: [], broken: null, openMs };
}

/** The ids that a process printed before it was killed, shortly after the first `enough` of them. */
async function appendUntilKilled(path: string, enough: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [appendScript, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ids: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.length === 36) ids.push(line);
      if (ids.length === enough) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.signalCode !== 'SIGKILL') throw new Error(`the process ended by itself with ${child.exitCode}`);
  return ids;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '200' } } });
  const folder = mkdtempSync(join(tmpdir(), 'writ-kill-'));
  try {
    let round = 0;
    const result = await runKillRounds(join(folder, 'writ.db'), Number(values.rounds), (openedInMs) => {
      if (++round % 20 === 0) console.log(`round ${round}, opened again in ${openedInMs.toFixed(0)} ms`);
    });
    const { acknowledgedCount, recordCount, lost, broken, openMs } = result;
    const sorted = openMs.toSorted((a, b) => a - b);
    const [median = 0, longest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    console.log(
      `${openMs.length} rounds, ${acknowledgedCount} records acknowledged, ${recordCount} in the chain`,
    );
    console.log(`opened again in ${median.toFixed(0)} ms (median), ${longest.toFixed(0)} ms (longest)`);
    console.log(
      `lost: ${lost.length === 0 ? 'none' : lost.join(' ')}\nchain: ${broken ?? 'whole after every round'}`,
    );
    process.exitCode = lost.length === 0 && broken === null ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
