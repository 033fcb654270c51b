// Measures a start with many requests in a meter's window: `writ serve` as a process on a store in a file,
// from its start until `/readyz` says that it is ready and until a request that the meter guards is decided
// on what was counted; with the snapshots that the service keeps, and where it had no time to make any.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from '../src/pipeline.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import type { RequestRow } from '../src/service/store/contract/records.ts';
import { openStore, type StoreLocation } from '../src/service/store/open.ts';
import { addAgent, ask, startService } from '../test/e2e/acceptance/service.ts';

export interface MetersAtStart {
  readonly requests: number;
  readonly hasSnapshots: boolean;
  /** Milliseconds from the start of the process until a guarded request is decided on what was counted. */
  readonly decidedMs: number;
  /** Milliseconds until `/readyz` answers 200. */
  readonly readyMs: number;
  /** What `/readyz` said of meters before; null when it was ready at its first answer. */
  readonly missing: string | null;
}

const policy = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy budget on pay.send { allow all  deny beyond when spent > 1_000_000_000 USD }`;
const request = { action_key: 'pay.send', payload: { amount: 10, currency: 'USD' } };
const overMs = 20 * 3_600_000;
const appendsAtOnce = 5_000;
const agents = 100;
const pollMs = 20;

/** To be called in a process of its own, with room for the requests that are on their way to the store. */
export async function measureMetersAtStart(requests: number): Promise<readonly MetersAtStart[]> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    const policies = join(folder, 'policies');
    const data = join(folder, 'data');
    mkdirSync(policies);
    writeFileSync(join(policies, 'pay.policy'), policy);
    const place = { path: join(data, 'writ.db') };
    await fill(place, requests);
    const key = await addAgent(data, 'buyer');
    const start = (hasSnapshots: boolean) => measureStart({ requests, hasSnapshots, policies, data, key });
    const without = await start(false);
    await keepSnapshots(place);
    return [without, await start(true)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const definition = compile({
  files: [{ path: 'pay.policy', text: policy }],
  readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
}).engine!.meters[0]!.id;

/** Stores grants that lie evenly over the last hours. */
async function fill(place: StoreLocation, requests: number): Promise<void> {
  const store = await openStore(place);
  const nowMs = Date.now();
  await store.meters.note([definition], nowMs - overMs);
  const entry = { definition, isCertain: true, value: '10' };
  for (let from = 0; from < requests; from += appendsAtOnce) {
    const count = Math.min(appendsAtOnce, requests - from);
    await Promise.all(
      Array.from({ length: count }, (_, at) => {
        const atMs = nowMs - overMs + Math.floor(((from + at) * overMs) / requests);
        const key = `"agent-${(from + at) % agents}`;
        return store.requests.append(grant(atMs), { openMax: 1 }, [{ ...entry, key }]);
      }),
    );
  }
  await store.close();
}

function grant(atMs: number): RequestRow {
  return {
    id: createRequestId(atMs),
    agentId: 'filled',
    actionKey: request.action_key,
    outcome: 'ALLOW',
    status: 'auto_approved',
    idempotency: null,
    createdAtMs: atMs,
    decidedAtMs: atMs,
    expiresAtMs: atMs + 60_000,
    recordJson: JSON.stringify({ payload: request.payload }),
  };
}

async function keepSnapshots(place: StoreLocation): Promise<void> {
  const store = await openStore(place);
  const untilMs = Date.now();
  for (let fromMs: number | null = 0; fromMs !== null; )
    fromMs = await store.meters.keepSnapshot(definition, { fromMs, untilMs, countMax: 2_000 });
  await store.close();
}

interface StartOptions {
  readonly requests: number;
  readonly hasSnapshots: boolean;
  readonly policies: string;
  readonly data: string;
  readonly key: string;
}

async function measureStart({ key, ...options }: StartOptions): Promise<MetersAtStart> {
  const { requests, hasSnapshots, policies, data } = options;
  const startedAt = performance.now();
  const service = await startService({ policies, data });
  try {
    let missing: string | null = null;
    let readyMs: number | null = null;
    for (;;) {
      const ready = await fetch(`${service.url}/readyz`);
      const { meters } = (await ready.json()) as { readonly meters: { readonly missing: readonly object[] } };
      if (meters.missing.length > 0) missing ??= JSON.stringify(meters.missing);
      if (ready.status === 200) readyMs ??= performance.now() - startedAt;
      const { body } = await ask(service.url, key, request);
      const decidedMs = performance.now() - startedAt;
      if (body.decision === 'ALLOW' && readyMs !== null)
        return { requests, hasSnapshots, decidedMs, readyMs, missing };
      await sleep(pollMs);
    }
  } finally {
    await service.end('SIGTERM');
  }
}
