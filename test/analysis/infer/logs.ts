// Logs to infer from: the recorded runs of AgentDyn, and random requests of a retail assistant with the tools of
// tau-bench. The same seed gives the same log.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRuns } from '../../../bench/recorded-runs.ts';
import type { InferOptions } from '../../../src/analysis/infer/infer.ts';
import type { Sample } from '../../../src/analysis/infer/sample.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';

export const startMs = Date.UTC(2026, 2, 2);

export interface SampleFacts {
  readonly agent?: string;
  readonly atMs?: number;
  readonly status?: Sample['status'];
}

export function sampleOf(
  action: string,
  payload: JsonObject,
  { agent, atMs = startMs, status = 'undecided' }: SampleFacts = {},
): Sample {
  return {
    facts: {
      action,
      payload,
      agent: agent === undefined ? {} : { name: agent },
      request: {},
      nowMs: atMs,
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    },
    holdsDigests: false,
    status,
    policies: null,
  };
}

export const optionsAlone: InferOptions = {
  existing: null,
  patterns: [],
  split: { share: 0.3, isLatest: false, seed: 1 },
  approvers: null,
  isDeniedLearned: false,
  prefix: '',
};

/** The calls of the runs in which a user's task was given. */
export function agentDynLog(): readonly Sample[] {
  const file = join(import.meta.dirname, '../../../bench/data/agentdyn/runs-shopping.jsonl');
  const runs = parseRuns(readFileSync(file, 'utf8'), 'runs-shopping.jsonl').filter(
    ({ kind }) => kind === 'user',
  );
  return runs.flatMap(({ suite, model, calls }) =>
    calls.map(({ tool, args }) => sampleOf(`${suite}.${tool}`, args, { agent: model })),
  );
}

// ---- a retail assistant

const minuteMs = 60_000;

export function retailLog(seed: number, requests: number): readonly Sample[] {
  const random = createRandom(seed);
  return Array.from({ length: requests }, (_, at) => {
    const { tool, args } = random.pick(tools);
    const agent = random.chance(0.01) ? 'trial' : `assistant-${1 + random.below(3)}`;
    return sampleOf(`retail.${tool}`, args(random), { agent, atMs: startMs + at * 7 * minuteMs });
  });
}

const digits = (random: RandomSource, count: number): string =>
  Array.from({ length: count }, () => random.below(10)).join('');
const order = (random: RandomSource): string => `#W${digits(random, 7)}`;
const item = (random: RandomSource): string => digits(random, 10);
const items = (random: RandomSource): readonly string[] =>
  Array.from({ length: 1 + random.below(3) }, () => item(random));
const means = (random: RandomSource): string =>
  random.chance(0.002)
    ? 'cash'
    : `${random.pick(['gift_card', 'credit_card', 'paypal'])}_${digits(random, 7)}`;

interface Tool {
  readonly tool: string;
  readonly args: (random: RandomSource) => JsonObject;
}

const tools: readonly Tool[] = [
  {
    tool: 'find_user_id_by_email',
    args: (random) => ({
      email: `${random.pick(['yusuf', 'mia', 'noah', 'aarav'])}.${digits(random, 4)}@example.com`,
    }),
  },
  { tool: 'get_order_details', args: (random) => ({ order_id: order(random) }) },
  {
    tool: 'cancel_pending_order',
    args: (random) => ({
      order_id: order(random),
      reason: random.chance(0.01)
        ? 'other'
        : random.pick(['no longer needed', 'ordered by mistake', 'no longer needed']),
    }),
  },
  {
    tool: 'exchange_delivered_order_items',
    args: (random) => ({
      order_id: order(random),
      item_ids: items(random),
      new_item_ids: items(random),
      payment_method_id: means(random),
    }),
  },
  {
    tool: 'refund_payment',
    args: (random) => ({
      order_id: order(random),
      amount: Math.round(100 * (random.chance(0.004) ? 900 : 5 + 120 * random.next())) / 100,
      currency: random.chance(0.3) ? 'EUR' : 'USD',
      ...(random.chance(0.4) ? { note: `refund ${digits(random, 5)} as agreed` } : {}),
    }),
  },
  {
    tool: 'transfer_to_human_agents',
    args: (random) => ({ summary: `customer ${digits(random, 6)} asks about order ${order(random)}` }),
  },
  {
    tool: 'save_receipt',
    args: (random) => ({
      path: `/receipts/${random.pick(['2026', '2025'])}/${digits(random, 6)}.pdf`,
      link: `https://${random.pick(['files', 'cdn'])}.example.com/r/${digits(random, 6)}`,
      urgent: false,
    }),
  },
];
