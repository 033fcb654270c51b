// `node test/e2e/acceptance/budget-rounds.ts [--clients 64] [--requests 2000] [--kills 10]`: many clients ask for
// shares of one budget at once, and the process is killed without warning in between. Afterwards every
// recorded decision must be the one that the definition gives in the order of the records, and the grants may
// not exceed the budget.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { PolicySet } from '../../../src/language/model/policy.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { type MeteredRequest, meterReading, meterShare } from '../../../src/language/spec/meters.ts';
import { add } from '../../../src/language/value/decimal.ts';
import { compile } from '../../../src/pipeline.ts';
import { type RequestRecord, requestRecord } from '../../../src/service/requests/record/record.ts';
import type { RequestRow } from '../../../src/service/store/contract/records.ts';
import { openStore, type StoreLocation } from '../../../src/service/store/open.ts';
import { locationOfStore } from '../../service/store/place.ts';
import { type Answered, runLoad } from './load.ts';
import { addAgent, type Service, startService, temporary } from './service.ts';

/**
 * About half of the requested amount; less in large runs, so that most of their requests meet an empty budget.
 */
function budgetOf({ clients, requests }: BudgetOptions): number {
  return Math.min(5_000, clients * requests);
}

const policiesWith = (budget: number): string => `
action payment.create { amount: money(currency) 0.01.., currency: "USD" }
meter spent = sum(payload.amount) in USD of payment.create per agent over 24h
approvers finance "Finance"
policy shares on payment.create {
  allow any_share
  escalate large_share to finance within 24h
    when payload.amount >= 90 USD
  deny beyond_budget
    when spent > ${budget} USD
}
`;

export interface BudgetRun {
  readonly answered: number;
  readonly recorded: number;
  readonly granted: number;
  readonly grantedSum: number;
  /** The amount that pending requests may still spend. */
  readonly pendingSum: number;
  readonly budget: number;
  /**
   * Recorded decisions that differ from the definition, and grants that were answered but are not recorded.
   */
  readonly faults: readonly string[];
}

export interface BudgetOptions {
  readonly clients: number;
  /** Requests of each client. */
  readonly requests: number;
  readonly kills: number;
  readonly onRound?: (round: number, answered: number) => void;
}

export async function runBudget(options: BudgetOptions): Promise<BudgetRun> {
  const folder = temporary('budget');
  const [directory, data] = [join(folder, 'policies'), join(folder, 'data')];
  mkdirSync(directory);
  mkdirSync(data);
  const budget = budgetOf(options);
  writeFileSync(join(directory, 'shares.policy'), policiesWith(budget));
  const answered = await load(directory, data, options);
  const records = await recordsOf(await locationOfStore(data));
  return { answered: answered.length, budget, ...judge(budget, records, answered) };
}

/** Runs one round more than there are kills; each round uses the store of the round before. */
async function load(
  directory: string,
  data: string,
  { clients, requests, kills, onRound }: BudgetOptions,
): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  let key: string | null = null;
  const perRound = Math.ceil((clients * requests) / (kills + 1));
  for (let round = 0; round <= kills; round += 1) {
    // The rate limit is lifted, so that only the budget refuses.
    const env = { WRIT_LIMITS_RATE_PER_MINUTE: '100000000', WRIT_LIMITS_BURST: '1000000' };
    const service: Service = await startService({ policies: directory, data, env });
    key ??= await addAgent(data, 'spender');
    const isLast = round === kills;
    const killAt = Math.floor(perRound * (0.3 + 0.6 * Math.random()));
    const replies = await runLoad({
      url: service.url,
      key,
      clients,
      total: perRound,
      request: (index) => ({
        action_key: 'payment.create',
        // One request of each round waits for people.
        payload: { amount: index === 5 ? 95 : 1 + (index % 7) / 4, currency: 'USD' },
      }),
      onReply: (count) => {
        if (!isLast && count === killAt) service.process.kill('SIGKILL');
      },
    });
    for (const reply of replies) answered.push(reply);
    onRound?.(round, answered.length);
    if (isLast) await service.end('SIGTERM');
    else await service.end('SIGKILL');
  }
  return answered;
}

/** The records of requests in the order of the chain. */
async function recordsOf(place: StoreLocation): Promise<readonly RequestRecord[]> {
  const store = await openStore(place);
  const records: RequestRecord[] = [];
  try {
    for (let after = 0; ; ) {
      const segment = await store.chain.segment(after, 500);
      for (const { entry } of segment.records) {
        if (entry.kind !== 'request') continue;
        const row = await store.requests.find(String(entry.id));
        records.push(requestRecord(row as RequestRow));
      }
      after += 500;
      if (after >= segment.lastSequence) return records;
    }
  } finally {
    await store.close();
  }
}

function judge(
  budget: number,
  records: readonly RequestRecord[],
  answered: readonly Answered[],
): Omit<BudgetRun, 'answered' | 'budget'> {
  const set = setOf(policiesWith(budget));
  const meter = set.meters.get('spent')!;
  const counted: MeteredRequest[] = [];
  const faults: string[] = [];
  let sums: readonly MeteredRequest[] = [];
  let [granted, grantedSum, pendingSum] = [0, 0, 0];
  for (const [at, record] of records.entries()) {
    const facts: Facts = {
      action: record.actionKey,
      payload: record.payload,
      agent: record.agent,
      request: record.request,
      nowMs: record.createdAtMs,
      meters: {},
      satisfied: record.satisfied,
    };
    const { contribution } = meterShare(set, meter, facts);
    const moment = { nowMs: record.createdAtMs, current: contribution };
    const reading = meterReading(meter, sums, moment);
    if (at % wholeWalkEvery === 0 && !isDeepStrictEqual(reading, meterReading(meter, counted, moment)))
      faults.push(`${record.id}: sums of what was counted are not what a walk over it says`);
    const expected = authorize(set, { ...facts, meters: reading === null ? {} : { spent: reading } });
    const { outcome } = record.decision;
    if (outcome !== expected.outcome)
      faults.push(`${record.id}: ${outcome}, by definition ${expected.outcome}`);
    const amount = Number(record.payload.amount);
    if (outcome === 'ALLOW') {
      granted += 1;
      grantedSum += amount;
    } else if (outcome === 'ESCALATE') pendingSum += amount;
    if (outcome !== 'DENY' && contribution !== null) {
      const one = { grantedAtMs: outcome === 'ALLOW' ? record.createdAtMs : null, contribution };
      counted.push(one);
      sums = withOne(sums, one);
    }
  }
  const outcomes = new Map(records.map(({ id, decision }) => [id, decision.outcome as string]));
  for (const { reply } of answered) {
    const { request_id: id, decision } = reply.body;
    if (reply.status !== 200) faults.push(`a reply of ${reply.status}: ${JSON.stringify(reply.body)}`);
    else if (outcomes.get(String(id)) !== decision)
      faults.push(`${id}: answered ${decision}, recorded ${outcomes.get(String(id))}`);
  }
  return { recorded: records.length, granted, grantedSum, pendingSum, faults };
}

/**
 * One request in this many is decided by the definition from a walk over all counted requests, which must
 * equal the walk over their sums.
 */
const wholeWalkEvery = 1_000;

/**
 * Keeps the granted sum as one entry, at the time of the first grant, and the pending sum as another. The
 * definition reads both alike while all requests are in the window, and a run ends long before any of them
 * leaves it.
 */
function withOne(sums: readonly MeteredRequest[], one: MeteredRequest): readonly MeteredRequest[] {
  const isGranted = one.grantedAtMs !== null;
  const known = sums.find(({ grantedAtMs }) => (grantedAtMs !== null) === isGranted);
  if (known === undefined) return [...sums, one];
  const [before, more] = [known.contribution.value, one.contribution.value];
  if (before === null || more === null || typeof before === 'string' || typeof more === 'string')
    throw new Error('every amount is known');
  const value = add(before, more);
  const sum: MeteredRequest = { ...known, contribution: { ...known.contribution, value } };
  return [...sums.filter((other) => other !== known), sum];
}

function setOf(text: string): PolicySet {
  const { set } = compile({
    files: [{ path: 'shares.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null) throw new Error('the policies compile');
  return set;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '64' },
      requests: { type: 'string', default: '2000' },
      kills: { type: 'string', default: '0' },
    },
  });
  const run = await runBudget({
    clients: Number(values.clients),
    requests: Number(values.requests),
    kills: Number(values.kills),
    onRound: (round, count) => process.stdout.write(`round ${round}: ${count} answered so far\n`),
  });
  const { faults, ...totals } = run;
  process.stdout.write(`${JSON.stringify(totals)}\n${faults.slice(0, 20).join('\n')}\n`);
  const isWithin = run.grantedSum + run.pendingSum <= run.budget;
  process.exitCode = faults.length === 0 && isWithin && run.granted > 0 ? 0 : 1;
}
