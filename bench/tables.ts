// Measures what a table with many rows costs: bytes in addition to its text, a look-up beside that of a `Map`
// with the same keys, and how long a reload of the table keeps requests waiting, in processor time of the
// serving thread. `node bench/tables.ts [ROWS]`.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';
import type { Facts } from '../src/language/model/request.ts';
import { findCell, hasRow, RowsBuilder, type TableRows } from '../src/language/value/table/rows.ts';
import { threadMicroseconds } from '../src/measure/clock.ts';
import { openPolicies, type PolicyHost } from '../src/service/policies/policy-host.ts';

const policies = `action order.refund { order_id: string }
table orders from "orders.csv" key id: string { owner: string, status: "open" | "closed", region: string }
policy refunds on order.refund {
  allow own when orders[payload.order_id].owner == agent.id and orders[payload.order_id].status == "open"
}
`;

/** Milliseconds, more than even a busy machine takes to compile. */
const compileMsMax = 600_000;

const keyAt = (row: number): string => `ord-${(row * 7_919) % 10_000_000}-${row}`;
const cellsAt = (row: number, owner: string): readonly string[] => [
  `${owner}-${row % 1_000}`,
  row % 3 === 0 ? 'closed' : 'open',
  'eu-west',
];

const busyMs = (): number => threadMicroseconds() / 1_000;

function lookUps(rows: number): Readonly<Record<string, number>> {
  const builder = new RowsBuilder();
  let textBytes = 0;
  for (let row = 0; row < rows; row += 1) {
    const cells = cellsAt(row, 'agent');
    textBytes += keyAt(row).length + cells.join('').length;
    builder.add(keyAt(row), cells);
  }
  const table = builder.finish() as TableRows;
  const map = new Map(Array.from({ length: rows }, (_, row) => [keyAt(row), row]));
  // Makes new strings, so that no key is the same object as a key of the map.
  const keys = Array.from({ length: 200_000 }, () => keyAt(Math.floor(Math.random() * rows)));
  const rounds = Array.from({ length: 5 }, () => ({
    cell: nanoseconds(keys, (key) => findCell(table, key, 0) !== null),
    has: nanoseconds(keys, (key) => hasRow(table, key)),
    map: nanoseconds(keys, (key) => map.has(key)),
  }));
  const best = (of: 'cell' | 'has' | 'map'): number => Math.min(...rounds.map((round) => round[of]));
  const bytes = table.bytes.byteLength + table.buckets.byteLength;
  return {
    bytesBesideText: (bytes - textBytes) / rows,
    cellNs: best('cell'),
    hasNs: best('has'),
    mapNs: best('map'),
  };
}

function nanoseconds(keys: readonly string[], isFound: (key: string) => boolean): number {
  const before = busyMs();
  let found = 0;
  for (const key of keys) found += Number(isFound(key));
  if (found !== keys.length) throw new Error('a row is missing');
  return ((busyMs() - before) * 1e6) / keys.length;
}

function writeRows(directory: string, rows: number, owner: string): void {
  const lines = Array.from({ length: rows }, (_, row) => [keyAt(row), ...cellsAt(row, owner)].join(','));
  writeFileSync(join(directory, 'orders.csv.new'), `id,owner,status,region\n${lines.join('\n')}\n`);
}

async function reload(rows: number): Promise<Readonly<Record<string, number>>> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const put = (): void => renameSync(join(directory, 'orders.csv.new'), join(directory, 'orders.csv'));
    writeFileSync(join(directory, 'a.policy'), policies);
    writeRows(directory, rows, 'agent');
    put();
    // Writes the new rows before the start, so that the garbage from writing is not part of the reload.
    writeRows(directory, rows, 'other');
    const host = await openPolicies({ directory, timeoutMs: compileMsMax });
    try {
      await decideUntil(host, endAfter(2_000));
      const usual = await decideUntil(host, endAfter(2_000));
      await pause(20);
      const { digest } = host.current();
      const started = performance.now();
      put();
      const during = await decideUntil(host, () => host.current().digest !== digest);
      const reloadMs = performance.now() - started;
      const after = await decideUntil(host, endAfter(1_000));
      return { usualPauseMs: usual, longestPauseMs: Math.max(during, after), reloadMs };
    } finally {
      await host.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function endAfter(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() > end;
}

/** Returns the longest stretch of processor time between two decisions, in milliseconds. */
async function decideUntil(host: PolicyHost, isOver: () => boolean): Promise<number> {
  let longest = 0;
  let before = busyMs();
  for (let row = 0; !isOver(); row += 1) {
    host.current().decideTraced(factsOf(keyAt(row % 1_000)));
    await nextTick();
    const now = busyMs();
    longest = Math.max(longest, now - before);
    before = now;
  }
  return longest;
}

function factsOf(orderId: string): Facts {
  return {
    action: 'order.refund',
    payload: { order_id: orderId },
    agent: { id: 'agent-1' },
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  };
}

const rows = Number(process.argv[2] ?? 1_000_000);
process.stdout.write(`${JSON.stringify({ rows, ...(await reload(rows)), ...lookUps(rows) }, null, 2)}\n`);
