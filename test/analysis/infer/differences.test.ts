// The difference that is shown, on random requests near the recorded ones: a request is decided otherwise than
// before exactly if a finding of the comparison says so. `npm run infer` tries 100,000 requests.

import { describe, expect, it } from 'vitest';
import { noPolicies } from '../../../src/analysis/infer/compare.ts';
import { type InferOptions, infer } from '../../../src/analysis/infer/infer.ts';
import { deciderOf, type Sample, turnOf } from '../../../src/analysis/infer/sample.ts';
import type { Json, JsonObject } from '../../../src/language/model/json.ts';
import type { PolicySet } from '../../../src/language/model/policy.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { diffPolicies } from '../../../src/reasoning/diff/diff.ts';
import { existingOf } from './existing.ts';
import { agentDynLog, optionsAlone, retailLog, sampleOf } from './logs.ts';

const tries = Number(process.env.WRIT_INFER_REQUESTS ?? 3_000);
const shopping = [
  'shopping.send_email',
  'shopping.send_money',
  'shopping.get_invoice',
  'shopping.read_file',
  'shopping.search_product',
];

/** Random requests: recorded ones with other values in some places. */
function* nearby(log: readonly Sample[], count: number, seed: number): Generator<Facts> {
  const random = createRandom(seed);
  const byAction = Map.groupBy(log, ({ facts }) => facts.action);
  const keys = [...byAction.keys()];
  for (let made = 0; made < count; made += 1) {
    const own = byAction.get(random.pick(keys))!;
    const { facts } = random.pick(own);
    const agent = random.chance(0.1) ? random.pick(agents) : facts.agent;
    yield { ...facts, agent, payload: mutated(facts.payload, { random, other: random.pick(own) }) };
  }
}

const agents: readonly Facts['agent'][] = [{}, { name: 'stranger' }, { name: '' }];

interface Mutation {
  readonly random: RandomSource;
  readonly other: Sample;
}

function mutated(payload: JsonObject, { random, other }: Mutation): JsonObject {
  const names = [...new Set([...Object.keys(payload), ...Object.keys(other.facts.payload)])];
  const fields = names.flatMap((name): readonly (readonly [string, Json])[] => {
    const [own, theirs] = [payload[name], other.facts.payload[name]];
    const value = random.chance(0.3) ? theirs : own;
    if (value === undefined || random.chance(0.03)) return [];
    return [[name, random.chance(0.2) ? changed(value, random) : value]];
  });
  return Object.fromEntries(random.chance(0.01) ? [...fields, ['stray', 1]] : fields);
}

function changed(value: Json, random: RandomSource): Json {
  if (random.chance(0.1)) return random.pick<Json>([null, '', 0, true, []]);
  if (typeof value === 'number') return random.pick([value + 1, value * 3, -value, value / 2, 1e9]);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return changedText(value, random);
  if (Array.isArray(value))
    return random.chance(0.3) ? [...value, ...value] : value.map((one) => changed(one as Json, random));
  return value;
}

function changedText(text: string, random: RandomSource): string {
  const at = random.below(text.length + 1);
  return random.pick([
    `${text.slice(0, at)}x${text.slice(at)}`,
    `${text.slice(0, at)}7${text.slice(at + 1)}`,
    text.toUpperCase(),
    `${text}/../../etc`,
    `https://evil.example.net/${text}`,
    `${text}\n`,
  ]);
}

interface Trial {
  readonly log: readonly Sample[];
  readonly options: InferOptions;
  readonly before: PolicySet;
}

interface Tally {
  tried: number;
  changed: number;
  /** Requests that get a looser decision, although policies exist. */
  loosened: number;
  readonly wrong: string[];
}

function tally({ log, options, before }: Trial): Tally {
  const { combined } = infer(log, options);
  const diff = diffPolicies(before, combined.set);
  expect(diff.limits).toEqual([]);
  const [old, now] = [deciderOf(before), deciderOf(combined.set)];
  const counts: Tally = { tried: 0, changed: 0, loosened: 0, wrong: [] };
  const inferred = log.filter(({ facts }) => combined.set.actions.has(facts.action));
  for (const facts of nearby(inferred, tries, 5)) {
    const sample = { facts, holdsDigests: false };
    const [from, to] = [old(sample).outcome, now(sample).outcome];
    counts.tried += 1;
    if (from !== to) counts.changed += 1;
    const isLooser = from !== to && turnOf(from, to) === 'as before';
    if (options.existing !== null && isLooser) counts.loosened += 1;
    const met = diff.findings.filter((finding) => finding.isMetBy({ before: facts, after: facts }));
    const claims = met.filter((finding) => finding.from !== finding.to);
    const isSaid = claims.some((finding) => finding.from === from && finding.to === to);
    const isRight = from === to ? claims.length === 0 : isSaid && claims.every((one) => one.to === to);
    if (!isRight)
      counts.wrong.push(`${from} ${to} ${JSON.stringify([facts.action, facts.payload, facts.agent])}`);
  }
  return counts;
}

describe('the difference that is shown', () => {
  it.each([
    [
      'AgentDyn',
      { log: agentDynLog(), options: { ...optionsAlone, patterns: shopping }, before: noPolicies },
    ],
    ['a retail assistant', { log: retailLog(3, 3_000), options: optionsAlone, before: noPolicies }],
    ['a retail assistant with policies', withPolicies()],
  ])(
    'is true of random requests of %s',
    (_name, trial) => {
      const { tried, changed: turned, loosened, wrong } = tally(trial);
      expect(wrong.slice(0, 3)).toEqual([]);
      expect(loosened).toBe(0);
      expect(tried).toBe(tries);
      expect(turned).toBeGreaterThan(tries / 20);
    },
    1_200_000,
  );
});

function withPolicies(): Trial {
  const existing = existingOf(`
    action retail.refund_payment { order_id: string, amount: money(currency) 0.01.., currency: "USD" | "EUR", note?: string }
    action retail.save_receipt { path: path, link: url, urgent: boolean }
    approvers finance "Finance"
    policy refunds on retail.refund_payment {
      allow all when payload.amount <= 2_000 USD or payload.amount <= 2_000 EUR
      escalate large to finance when payload.amount > 100 USD or payload.amount > 100 EUR
    }
    policy receipts on retail.save_receipt {
      allow kept when payload.path inside "/receipts"
    }`);
  const log = [
    ...retailLog(3, 3_000),
    ...Array.from({ length: 40 }, () =>
      sampleOf('retail.save_receipt', { path: '/x', link: 'https://x.example', urgent: true }),
    ),
  ];
  return { log, options: { ...optionsAlone, existing, prefix: 'inferred/' }, before: existing.set };
}
