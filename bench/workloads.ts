// Makes the sets of policies that every engine is measured on, as plain data that each adapter writes in its
// own language, and the requests to decide. Everything is drawn from a seed, so that all engines get the
// same.

import { createRandom, type RandomSource } from '../src/language/value/random.ts';

export type Outcome = 'ALLOW' | 'DENY';

/** The only rule of its policy; the rule holds when all of its tests hold. */
export interface BenchRule {
  /** The policy's name, such as `p12`. */
  readonly name: string;
  readonly action: string;
  readonly effect: 'allow' | 'deny';
  readonly tests: readonly BenchTest[];
}

export type BenchTest =
  | { readonly kind: 'amount-between'; readonly low: number; readonly high: number }
  | { readonly kind: 'amount-from'; readonly low: number }
  | { readonly kind: 'vendor-in'; readonly vendors: readonly string[] }
  | { readonly kind: 'vendor-is'; readonly vendor: string }
  | { readonly kind: 'currency-is'; readonly currency: string }
  | { readonly kind: 'tier-in'; readonly tiers: readonly string[] }
  | { readonly kind: 'description-contains'; readonly text: string }
  | { readonly kind: 'description-starts'; readonly text: string };

export interface BenchRequest {
  readonly action: string;
  readonly payload: BenchPayload;
  readonly tier: string;
}

export interface BenchPayload {
  readonly amount: number;
  readonly vendor: string;
  readonly currency: string;
  readonly description: string;
}

export interface Workload {
  readonly name: WorkloadName;
  readonly policies: number;
  readonly rules: readonly BenchRule[];
  /**
   * Declared actions. Rules of `wild` and `same` are on `payment.*`, which matches the one declared action.
   */
  readonly actions: readonly string[];
  readonly requests: readonly BenchRequest[];
}

export const workloadNames = ['actions', 'wild', 'same'] as const;
export type WorkloadName = (typeof workloadNames)[number];

export const currencies = ['USD', 'EUR', 'GBP'];
export const tiers = ['low', 'medium', 'high', 'critical'];
const words = ['invoice', 'office', 'travel', 'refund', 'urgent', 'monthly', 'license', 'hosting'];
const amountMax = 1_000_000;
const requestsDrawn = 1_000;
const rulesPerAction = 4;
const vendorsInSet = 50;
const undeclaredShare = 0.05;
const steeredShare = 0.7;
/** Rules of `wild` that name one vendor, and bands that hold one amount: the same numbers at every size. */
const rulesPerVendor = 4;
const bandsPerAmount = 2;

export function createWorkload(name: WorkloadName, policies: number): Workload {
  switch (name) {
    case 'actions':
      return actionsWorkload(policies);
    case 'wild':
      return wildWorkload(policies);
    case 'same':
      return sameWorkload(policies);
  }
}

/** Spreads the policies over many actions, four policies for each. */
function actionsWorkload(policies: number): Workload {
  const random = createRandom(1);
  const count = Math.max(1, Math.floor(policies / rulesPerAction));
  const actions = Array.from({ length: count }, (_, at) => `area${at % 97}.verb${at}`);
  const vendors = Array.from({ length: 2_000 }, (_, at) => `Vendor ${at}`);
  const rules = Array.from({ length: policies }, (_, at): BenchRule => {
    const kinds = random.some(testKinds, 0.5);
    const drawn = kinds.length < 2 ? testKinds.slice(0, 2) : kinds.slice(0, 4);
    return {
      name: `p${at}`,
      action: actions[at % count]!,
      effect: random.chance(0.7) ? 'allow' : 'deny',
      tests: drawn.map((kind) => randomTest(random, kind, vendors)),
    };
  });
  const byAction = Map.groupBy(rules, ({ action }) => action);
  const requests = Array.from({ length: requestsDrawn }, () => {
    const action = random.chance(undeclaredShare)
      ? `area0.unknown${random.below(50)}`
      : actions[zipf(random, count)]!;
    const own = byAction.get(action) ?? [];
    return randomRequest(random, action, own, vendors);
  });
  return { name: 'actions', policies, rules, actions, requests };
}

/** Puts all policies on one pattern: half name a vendor, half a band of amounts. */
function wildWorkload(policies: number): Workload {
  const random = createRandom(2);
  const vendors = Array.from({ length: Math.ceil(policies / 2 / rulesPerVendor) }, (_, at) => `Vendor ${at}`);
  const width = (amountMax / (policies / 2)) * bandsPerAmount;
  const rules = Array.from({ length: policies }, (_, at): BenchRule => {
    const low = Math.floor(fraction(random) * (amountMax - width));
    const tests: readonly BenchTest[] =
      at % 2 === 0
        ? [
            { kind: 'vendor-is', vendor: random.pick(vendors) },
            { kind: 'amount-from', low: Math.floor(fraction(random) * amountMax) },
          ]
        : [
            { kind: 'amount-between', low, high: Math.ceil(low + width) },
            { kind: 'currency-is', currency: random.pick(currencies) },
          ];
    return { name: `p${at}`, action: 'payment.create', effect: random.chance(0.7) ? 'allow' : 'deny', tests };
  });
  const requests = Array.from({ length: requestsDrawn }, () => {
    const action = random.chance(undeclaredShare) ? 'refund.create' : 'payment.create';
    return randomRequest(random, action, rules, vendors);
  });
  return { name: 'wild', policies, rules, actions: ['payment.create'], requests };
}

/**
 * Makes policies that no index helps with: all name the one vendor that all requests name, and a text to
 * search for.
 */
function sameWorkload(policies: number): Workload {
  const random = createRandom(3);
  const rules = Array.from({ length: policies }, (_, at): BenchRule => {
    return {
      name: `p${at}`,
      action: 'payment.create',
      effect: random.chance(0.7) ? 'allow' : 'deny',
      tests: [
        { kind: 'vendor-is', vendor: 'Vendor 0' },
        { kind: 'description-contains', text: `number ${at};` },
      ],
    };
  });
  const requests = Array.from({ length: requestsDrawn }, () => {
    const request = randomRequest(random, 'payment.create', [], ['Vendor 0']);
    const description = `${request.payload.description}, number ${random.below(2 * policies)};`;
    return { ...request, payload: { ...request.payload, description } };
  });
  return { name: 'same', policies, rules, actions: ['payment.create'], requests };
}

const testKinds = [
  'amount-between',
  'vendor-in',
  'currency-is',
  'tier-in',
  'description-contains',
  'description-starts',
] as const satisfies readonly BenchTest['kind'][];

function randomTest(
  random: RandomSource,
  kind: (typeof testKinds)[number],
  vendors: readonly string[],
): BenchTest {
  switch (kind) {
    case 'amount-between': {
      const low = random.below(amountMax / 2);
      return { kind, low, high: low + 1 + random.below(amountMax / 2) };
    }
    case 'vendor-in': {
      const from = random.below(vendors.length - vendorsInSet);
      return { kind, vendors: vendors.slice(from, from + vendorsInSet) };
    }
    case 'currency-is':
      return { kind, currency: random.pick(currencies) };
    case 'tier-in':
      return { kind, tiers: tiers.slice(random.below(2), 3) };
    case 'description-contains':
    case 'description-starts':
      return { kind, text: random.pick(words) };
  }
}

function randomRequest(
  random: RandomSource,
  action: string,
  rules: readonly BenchRule[],
  vendors: readonly string[],
): BenchRequest {
  const request = {
    action,
    tier: random.pick(tiers),
    payload: {
      amount: random.below(amountMax),
      vendor: random.pick(vendors),
      currency: random.pick(currencies),
      description: `${random.pick(words)} for ${random.pick(words)} number ${random.below(1_000)}`,
    },
  };
  if (rules.length === 0 || !random.chance(steeredShare)) return request;
  return random.pick(rules).tests.reduce(steer, request);
}

/** Returns the request, changed so that it meets one more test. */
function steer(request: BenchRequest, test: BenchTest): BenchRequest {
  const { payload } = request;
  switch (test.kind) {
    case 'amount-between':
      return { ...request, payload: { ...payload, amount: Math.floor((test.low + test.high) / 2) } };
    case 'amount-from':
      return { ...request, payload: { ...payload, amount: Math.max(payload.amount, test.low) } };
    case 'vendor-in':
      return { ...request, payload: { ...payload, vendor: test.vendors[7]! } };
    case 'vendor-is':
      return { ...request, payload: { ...payload, vendor: test.vendor } };
    case 'currency-is':
      return { ...request, payload: { ...payload, currency: test.currency } };
    case 'tier-in':
      return { ...request, tier: test.tiers[0]! };
    case 'description-contains':
      return { ...request, payload: { ...payload, description: `${payload.description} ${test.text}` } };
    case 'description-starts':
      return { ...request, payload: { ...payload, description: `${test.text} ${payload.description}` } };
  }
}

/**
 * Draws an index by Zipf's law: the first is the most frequent, and the frequency of the next is in
 * proportion to one over their rank.
 */
function zipf(random: RandomSource, count: number): number {
  return Math.min(count - 1, Math.floor(Math.exp(fraction(random) * Math.log(count + 1))) - 1);
}

function fraction(random: RandomSource): number {
  return random.below(2 ** 32) / 2 ** 32;
}
