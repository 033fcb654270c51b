// `node bench/store-growth.ts [--records 1000000]`: measures what storing one request costs as the records
// grow, through the store as the service uses it, and what the chain adds to one append. Figures are medians
// of rounds with minimum and maximum, in processor time of all threads: unlike the time on the clock, it does
// not grow when other programs share the machine. Latencies are on the clock.

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { verifyChain } from '../src/service/audit/verify.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import { linkHash } from '../src/service/store/contract/chain.ts';
import type { RequestRow } from '../src/service/store/contract/records.ts';
import { sealKeyOf } from '../src/service/store/contract/seal.ts';
import type { Store } from '../src/service/store/contract/store.ts';
import { openStore } from '../src/service/store/open.ts';
import { prepareChain } from '../src/service/store/sqlite/chain/chain.ts';
import { migrate } from '../src/service/store/sqlite/migrate.ts';
import { preparePreconditionCheck } from '../src/service/store/sqlite/precondition-check.ts';
import { prepareWrites } from '../src/service/store/sqlite/writes.ts';

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const requestsPerRound = 2_000;
/** Requests that are under way at the same time. */
const clients = 64;
const fillAtOnce = 1_000;
const openMax = 1_000_000;
const recordBytes = 1_000;
/** Number of rows made so far. */
let made = 0;

const folder = mkdtempSync(join(tmpdir(), 'writ-growth-'));
try {
  console.log(`${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`);
  await measureGrowth(Number(values.records));
  measureChain();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureGrowth(recordsMax: number): Promise<void> {
  const path = join(folder, 'growth.db');
  const store = await openStore({ path });
  try {
    console.log(
      '| records | request, µs | min..max | with idempotency key, µs | min..max | p99, ms | find, µs | file, MB |',
    );
    console.log('|---|---|---|---|---|---|---|---|');
    let stored = 0;
    for (const share of [0, 0.01, 0.1, 0.25, 0.5, 1]) {
      const size = Math.round(share * recordsMax);
      await fill(store, size - stored);
      const [plain, keyed, find] = await measureAt(store);
      stored = size + 2 * rounds * requestsPerRound;
      const file = (statSync(path).size / 1e6).toFixed(0);
      console.log(
        `| ${size} | ${show(plain)} | ${show(keyed)} | ${percentile(keyed).toFixed(1)} | ${find} | ${file} |`,
      );
    }
    await measureVerification(store);
  } finally {
    await store.close();
  }
}

/**
 * Measures the cost of a request without an idempotency key and with one, in alternating rounds, and of
 * finding a request by its id.
 */
async function measureAt(store: Store): Promise<readonly [readonly Cost[], readonly Cost[], number]> {
  const plain: Cost[] = [];
  const keyed: Cost[] = [];
  const ids: string[] = [];
  for (let round = 0; round < rounds; round++) {
    plain.push(await measureRequests(store, ids, () => null));
    keyed.push(await measureRequests(store, ids, randomUUID));
  }
  const costOf = startMeasuring();
  for (const id of ids) {
    if ((await store.requests.find(id)) === null) throw new Error('the request is stored');
  }
  return [plain, keyed, costOf(ids.length).processor];
}

async function measureVerification(store: Store): Promise<void> {
  const startedAt = performance.now();
  const chain = await verifyChain(store);
  const seconds = (performance.now() - startedAt) / 1000;
  if (chain.kind === 'broken') throw new Error(chain.break.message);
  const { sequence } = chain.end;
  const rate = Math.round(sequence / seconds);
  console.log(`\nThe chain of ${sequence} records verified in ${seconds.toFixed(1)} s, ${rate} a second.\n`);
}

async function fill(store: Store, count: number): Promise<void> {
  for (let done = 0; done < count; done += fillAtOnce) {
    const rows = Array.from({ length: Math.min(fillAtOnce, count - done) }, () => row(randomUUID()));
    await Promise.all(rows.map((each) => store.requests.append(each, { openMax })));
  }
}

interface Cost {
  /** Microseconds of processor time per operation. */
  readonly processor: number;
  /** Milliseconds on the clock of each operation. */
  readonly latencies: readonly number[];
}

function startMeasuring(): (count: number, latencies?: readonly number[]) => Cost {
  const before = process.cpuUsage();
  return (count, latencies = []) => {
    const { user, system } = process.cpuUsage(before);
    return { processor: Math.round(((user + system) * 10) / count) / 10, latencies };
  };
}

/** Does what the service does with a request: looks up the idempotency key if there is one, then appends. */
async function measureRequests(store: Store, ids: string[], createKey: () => string | null): Promise<Cost> {
  const latencies: number[] = [];
  let left = requestsPerRound;
  const costOf = startMeasuring();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) {
        const sentAt = performance.now();
        const request = row(createKey());
        await findKey(store, request);
        if ((await store.requests.append(request, { openMax })) !== 'stored')
          throw new Error('the request is new');
        latencies.push(performance.now() - sentAt);
        ids.push(request.id);
      }
    }),
  );
  return costOf(requestsPerRound, latencies);
}

async function findKey(
  store: Store,
  { agentId, idempotency, createdAtMs: nowMs }: RequestRow,
): Promise<void> {
  if (idempotency === null) return;
  const found = await store.requests.findByIdempotencyKey({ agentId, key: idempotency.key, nowMs });
  if (found !== null) throw new Error('the key is new');
}

/**
 * Makes a row of one of 100 agents. One request in ten waits for people, for a second, so that few are open
 * however many are stored.
 */
function row(key: string | null): RequestRow {
  made++;
  const nowMs = Date.now();
  const isPending = made % 10 === 0;
  return {
    id: createRequestId(nowMs),
    agentId: `agent-${made % 100}`,
    actionKey: 'payment.create',
    outcome: isPending ? 'ESCALATE' : 'ALLOW',
    createdAtMs: nowMs,
    idempotency: key === null ? null : { key, bodyDigest: 'd'.repeat(64), keptUntilMs: nowMs + 86_400_000 },
    status: isPending ? 'pending' : 'auto_approved',
    decidedAtMs: isPending ? null : nowMs,
    expiresAtMs: nowMs + (isPending ? 1_000 : 300_000),
    recordJson: JSON.stringify({
      payload: { amount: made, vendor: 'Staples', note: 'n'.repeat(recordBytes - 60) },
    }),
  };
}

/** Measures in one thread and without waiting for the disk, so that the difference stands out. */
function measureChain(): void {
  const batch = 100;
  const appends = 10_000;
  const withChain = openWriter('chained.db', linkHash);
  const without = openWriter('plain.db', () => '0'.repeat(64));
  const costs: { readonly withChain: Cost[]; readonly without: Cost[] } = { withChain: [], without: [] };
  for (let round = 0; round < rounds; round++) {
    costs.without.push(append(without));
    costs.withChain.push(append(withChain));
  }
  console.log('| one append of 1 kB | processor time, µs | min..max |\n|---|---|---|');
  console.log(`| without chain | ${show(costs.without)} |`);
  console.log(`| with chain | ${show(costs.withChain)} |`);

  function openWriter(name: string, hashOf: typeof linkHash) {
    const database = new Database(join(folder, name));
    migrate(database, { masterKey: randomBytes(32), isSealed: false, isUpgradeAllowed: false });
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = OFF');
    const chain = prepareChain(database, hashOf);
    const apply = database.transaction(
      prepareWrites(database, {
        chain,
        actor: 'system',
        precondition: preparePreconditionCheck(database),
        sealKey: sealKeyOf(randomBytes(32)),
        seal: { noteEntry: () => undefined },
      }),
    );
    return database.transaction((rows: readonly RequestRow[]) => {
      chain.refresh();
      for (const each of rows)
        apply({ kind: 'append-request', row: each, openMax, precondition: null, entries: [] });
    });
  }

  function append(writer: (rows: readonly RequestRow[]) => void): Cost {
    const batches = Array.from({ length: appends / batch }, () =>
      Array.from({ length: batch }, () => row(randomUUID())),
    );
    const costOf = startMeasuring();
    for (const rows of batches) writer(rows);
    return costOf(appends);
  }
}

/** Returns median, minimum and maximum as two cells of a table. */
function show(costs: readonly Cost[]): string {
  const sorted = costs.map(({ processor }) => processor).sort((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]} | ${sorted[0]}..${sorted.at(-1)}`;
}

/** Returns the 99th percentile of all latencies. */
function percentile(costs: readonly Cost[]): number {
  const sorted = costs.flatMap(({ latencies }) => latencies).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
