// `node bench/replay.ts [--records 1000000]`: tries a policy set on the records of a store, in order and as
// recorded. The peer reads the same records and only parses them. Each runs in a process of its own, so that
// its peak memory is its own. A second thread reads a long log: on a machine with a processor for each
// thread, the clock shows little more than the processor seconds of the thread that decides.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStoredLog } from '../src/analysis/replay/read-store.ts';
import { replayLog, windowMsOf } from '../src/analysis/replay/replay-log.ts';
import { candidateOf } from '../src/analysis/replay/service-rules.ts';
import { nothingSatisfied } from '../src/language/model/request.ts';
import { parseDecimal, zero } from '../src/language/value/decimal.ts';
import { createRandom } from '../src/language/value/random.ts';
import { compile } from '../src/pipeline.ts';
import { readPolicies } from '../src/service/policies/read-policies.ts';
import { engineVersions } from '../src/service/requests/record/engine-versions.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import { validSeconds } from '../src/service/requests/record/lifecycle.ts';
import { type RequestRecord, requestRow } from '../src/service/requests/record/record.ts';
import { eventOf, type RequestChange } from '../src/service/requests/record/request-state.ts';
import type { Store } from '../src/service/store/contract/store.ts';
import { openRecords, openStore } from '../src/service/store/open.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    measure: { type: 'string' },
    path: { type: 'string' },
  },
});

const folder = new URL('../policies/payments/', import.meta.url).pathname;
const metered = `
meter paid = sum(payload.amount) in USD of payment.create per agent over 24h
policy budgets on payment.create { deny over_budget when paid > 9_000_000 USD }`;

/** Compiles the payments pack with a budget added; payments above `limit` USD need two people. */
async function compiledOf(limit: string) {
  const { sources } = await readPolicies(folder);
  const files = sources.files.map(({ path, text }) => ({
    path,
    text: `${text.replaceAll(/(?<=payload\.amount )> (?:small_limit|1_000 USD)/g, `> ${limit} USD`)}${metered}`,
  }));
  const { set, engine, diagnostics } = compile({ ...sources, files });
  if (set === null || engine === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { set, engine };
}

const [agentsCount, atOnce] = [40, 1_000];
const startMs = Date.UTC(2026, 5, 1);
const pauseMs = 7_500;

/**
 * Fills the store with requests for payments, 7.5 s apart (three months for 1,000,000). About half of the
 * requests that wait are approved 1 ms later; the others expire.
 */
async function fill(store: Store, count: number): Promise<void> {
  const { engine } = await compiledOf('1_000');
  const random = createRandom(1);
  const vendors = ['Staples', 'Uline', 'Grainger', 'Acme', 'Initech'];
  const agents = Array.from({ length: agentsCount }, (_, at): RequestRecord['agent'] => ({
    id: `agent-${at}`,
    name: `buyer ${at}`,
    risk_tier: 'low',
    control_owner: 'ops@example.com',
    tags: [],
  }));
  const reading = { low: '1000', high: '2000' };
  for (let from = 0; from < count; from += atOnce) {
    const waiting: RequestRecord[] = [];
    const records = Array.from({ length: Math.min(atOnce, count - from) }, (_, at) => {
      const nowMs = startMs + (from + at) * pauseMs;
      const agent = random.pick(agents);
      const amount = Math.round(10 ** (1 + random.below(1_000) / 300) * 100) / 100;
      const payload = {
        amount,
        currency: 'USD',
        vendor: random.pick(vendors),
        description: 'office supplies',
      };
      const request = { ip: '192.0.2.7', signed: false };
      const facts = { action: 'payment.create', payload, agent, request, nowMs, satisfied: nothingSatisfied };
      const { decision, trace } = engine.decideTraced({ ...facts, meters: { paid: readingOf(reading) } });
      const status = {
        ALLOW: 'auto_approved',
        DENY: 'rejected',
        ESCALATE: 'pending',
        REAUTH_REQUIRED: 'pending',
      } as const;
      const record: RequestRecord = {
        id: createRequestId(nowMs),
        agentId: agent.id ?? '',
        actionKey: facts.action,
        payload,
        agent,
        request,
        meters: { paid: reading },
        satisfied: nothingSatisfied,
        createdAtMs: nowMs,
        decision,
        trace,
        policySet: { digest: 'd', commit: null },
        engine: engineVersions,
        isSigned: false,
        key: { id: 'key00001', isReplaced: false },
        clientAddress: '192.0.2.7',
        idempotency: null,
        timing: { decideMicroseconds: 3 },
        status: status[decision.outcome],
        decidedAtMs: nowMs,
        expiresAtMs: nowMs + validSeconds(decision) * 1_000,
      };
      if (record.status === 'pending' && random.chance(0.5)) waiting.push(record);
      return record;
    });
    const limits = { openMax: 1e9 };
    await Promise.all(records.map((record) => store.requests.append(requestRow(record), limits)));
    await Promise.all(waiting.map((record) => approve(store, record)));
    const nowMs = startMs + (from + records.length) * pauseMs;
    while ((await store.requests.expireDue(nowMs, atOnce)).length > 0);
  }
}

async function approve(store: Store, record: RequestRecord): Promise<void> {
  const atMs = record.createdAtMs + 1;
  const expiresAtMs = atMs + 600_000;
  const { decision, meters, policySet, satisfied } = record;
  const vote = {
    email: 'ann@example.com',
    comment: '',
    digest: '',
    rules: [],
    group: decision.requires?.approvals[0]?.group ?? null,
  };
  const pending = { status: 'pending', decidedAtMs: null, expiresAtMs: record.expiresAtMs } as const;
  const voted = (person: string): RequestChange =>
    eventOf('approved', { who: person, atMs, state: pending }, { ...vote, person });
  const granted = { ...decision, outcome: 'ALLOW', requires: null, validForSeconds: 600 };
  const state = { status: 'approved', decidedAtMs: atMs, expiresAtMs } as const;
  const detail = { decision: granted, trace: [], satisfied, meters, policySet };
  const events = [voted('p1'), voted('p2'), eventOf('decided', { who: 'system', atMs, state }, detail)];
  await store.requests.change({ requestId: record.id, events, from: ['pending'], seen: null });
}

function readingOf({ low, high }: { readonly low: string; readonly high: string }) {
  return { low: parseDecimal(low) ?? zero, high: parseDecimal(high) ?? zero };
}

/**
 * The most seconds for 1,000,000 requests, on an otherwise idle machine, and the most megabytes of memory.
 */
const [secondsMost, peakMbMost] = [20, 500];

const measures = ['parse alone', 'in order', 'as recorded'] as const;
type Measure = (typeof measures)[number];

async function measure(what: Measure, path: string): Promise<void> {
  const records = await openRecords({ path });
  const { set, engine } = await compiledOf('1_500');
  const started = { cpu: process.cpuUsage(), ownCpu: process.threadCpuUsage(), at: performance.now() };
  let [requests, changed] = [0, 0];
  if (what === 'parse alone') {
    const { lastSequence } = await records.extent();
    for (let after = 0; after < lastSequence; after += atOnce) {
      for (const record of await records.records(after, atOnce))
        if (record.kind === 'request' && JSON.parse(record.recordJson).payload !== undefined) requests += 1;
    }
  } else {
    const candidate = candidateOf(set, engine);
    const log = await openStoredLog(records, { windowMs: windowMsOf(candidate), location: { path } });
    const result = await replayLog(log, { candidate, reading: what });
    if (log.faults.count > 0) throw new Error(log.faults.named.join('\n'));
    requests = result.requests;
    changed = result.changes.outcome + result.changes.asked;
  }
  const cpuSeconds = secondsOf(process.cpuUsage(started.cpu));
  const ownCpuSeconds = secondsOf(process.threadCpuUsage(started.ownCpu));
  const seconds = (performance.now() - started.at) / 1_000;
  await records.close();
  const peakMb = process.resourceUsage().maxRSS / 1_024;
  console.log(JSON.stringify({ requests, changed, seconds, cpuSeconds, ownCpuSeconds, peakMb }));
}

function secondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'writ-replay-'));
  try {
    const path = join(temporary, 'writ.db');
    const store = await openStore({ path, writesPendingMax: 100_000 });
    await fill(store, Number(values.records));
    await store.close();
    console.log(
      `${cpus()[0]?.model}, Node ${process.version}, ${(statSync(path).size / 1e6).toFixed(0)} MB of records\n`,
    );
    console.log(
      '| | requests | changed | seconds | processor seconds | of the thread that decides | requests/s | peak, MB | to parsing alone | target |',
    );
    console.log('|---|---|---|---|---|---|---|---|---|---|');
    let alone = 0;
    for (const what of measures) {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [new URL(import.meta.url).pathname, '--measure', what, '--path', path],
        { encoding: 'utf8' },
      );
      if (status !== 0) throw new Error(stderr);
      const one = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      if (what === 'parse alone') alone = one.cpuSeconds;
      const perMillion = (one.seconds * 1e6) / Number(values.records);
      const isMet = perMillion <= secondsMost && one.peakMb <= peakMbMost;
      const ratio = `${(one.cpuSeconds / alone).toFixed(2)}x`;
      console.log(
        `| ${what} | ${one.requests} | ${one.changed} | ${one.seconds.toFixed(1)} | ${one.cpuSeconds.toFixed(1)} | ${one.ownCpuSeconds.toFixed(1)} | ${(one.requests / one.seconds).toFixed(0)} | ${one.peakMb.toFixed(0)} | ${ratio} | ${what === 'parse alone' ? '' : isMet ? 'met' : 'missed'} |`,
      );
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const asked = measures.find((one) => one === values.measure);
if (asked === undefined) await main();
else await measure(asked, values.path ?? '');
