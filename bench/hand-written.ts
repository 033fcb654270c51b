// An engine made of the code that a programmer would write instead of policies: for each action a function of
// plain conditions, in a Map. One engine only decides; the other also checks the payload and keeps a trace of
// every rule, as a request needs.

import { type Decided, type Engine, nothingGrants, unlimited } from './engine.ts';
import type { BenchRequest, BenchRule, BenchTest } from './workloads.ts';

export const engine = engineBy('hand-written JavaScript', {
  make: compile,
  decisionOf: (decided) => decided,
  nothing: nothingGrants,
  policiesMax: unlimited,
});

/**
 * Checks the payload with hand-written code, tries every rule, and keeps the values read and the results of
 * the conditions for the record.
 */
export const requestEngine = engineBy('hand-written JavaScript, a request', {
  make: compileTraced,
  decisionOf: ({ decision }) => decision,
  nothing: { decision: nothingGrants, trace: null },
  // For a function of 100,000 rules with its trace Node takes 12 GB, and as much again for the function
  // without a trace.
  policiesMax: { ...unlimited, wild: 10_000 },
});

interface ByHand<Result> extends Pick<Engine, 'policiesMax'> {
  readonly make: (rules: readonly BenchRule[]) => (request: BenchRequest) => Result;
  readonly decisionOf: (result: Result) => Decided;
  readonly nothing: Result;
}

function engineBy<Result>(name: string, { make, decisionOf, nothing, policiesMax }: ByHand<Result>): Engine {
  return {
    name,
    policiesMax,
    prepare: ({ rules, actions, requests }) => {
      const byAction = Map.groupBy(rules, ({ action }) => action);
      const functions = new Map(actions.map((action) => [action, make(byAction.get(action) ?? [])] as const));
      return {
        decide: (at) => {
          const request = requests[at]!;
          return decisionOf(functions.get(request.action)?.(request) ?? nothing);
        },
      };
    },
  };
}

/** Puts refusals first, so that the first condition that holds decides. */
function compile(rules: readonly BenchRule[]): (request: BenchRequest) => Decided {
  const { conditions, results, sets } = inOrder(rules);
  const lines = conditions.map((tests, at) => `if (${tests}) return results[${at}];`);
  const text = `return (request) => { const p = request.payload;\n${lines.join('\n')}\n};`;
  return new Function('results', 'sets', text)(results, sets) as (request: BenchRequest) => Decided;
}

interface Traced {
  readonly decision: Decided;
  readonly trace: {
    /** Names of the rules; the same array for all requests of an action. */
    readonly rules: readonly string[];
    /** One letter for each rule: `t` when its condition holds, else `f`. */
    readonly truths: string;
    readonly values: readonly (string | number)[];
  } | null;
}

function compileTraced(rules: readonly BenchRule[]): (request: BenchRequest) => Traced {
  const { names, conditions, results, sets } = inOrder(rules);
  const [places, truths] = [
    conditions.map((_, at) => `r${at}`),
    conditions.map((_, at) => `(r${at} ? 't' : 'f')`),
  ];
  const text = `return (request) => {
    const p = request.payload;
    if (!isPayload(p)) return { decision: invalid, trace: null };
    ${conditions.map((tests, at) => `const r${at} = ${tests};`).join('\n')}
    const decision = ${places.map((place, at) => `${place} ? results[${at}] : `).join('')}nothingGrants;
    const values = [p.amount, p.vendor, p.currency, p.description, request.tier];
    return { decision, trace: { rules, truths: ${["''", ...truths].join(' + ')}, values } };
  };`;
  const made = new Function('results', 'sets', 'rules', 'isPayload', 'invalid', 'nothingGrants', text);
  return made(results, sets, names, isPayload, invalid, nothingGrants) as (request: BenchRequest) => Traced;
}

const invalid: Decided = { outcome: 'DENY', by: 'invalid_payload' };
const fields: ReadonlySet<string> = new Set(['amount', 'vendor', 'currency', 'description']);

/** Returns whether the payload has the shape that the workloads declare, and no further field. */
function isPayload(p: Readonly<Record<string, unknown>>): boolean {
  for (const name in p) if (!fields.has(name)) return false;
  return (
    typeof p.amount === 'number' &&
    Number.isFinite(p.amount) &&
    p.amount >= 0 &&
    isText(p.vendor, 1, 100) &&
    (p.currency === 'USD' || p.currency === 'EUR' || p.currency === 'GBP') &&
    isText(p.description, 0, 500)
  );
}

function isText(value: unknown, least: number, most: number): boolean {
  return typeof value === 'string' && value.length >= least && value.length <= most && value.isWellFormed();
}

interface Ordered {
  readonly names: readonly string[];
  readonly conditions: readonly string[];
  readonly results: readonly Decided[];
  readonly sets: readonly unknown[];
}

/** Sorts refusals first, then allows, each by name. */
function inOrder(rules: readonly BenchRule[]): Ordered {
  const sorted = rules.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const sets: unknown[] = [];
  return {
    names: sorted.map(({ name }) => name),
    conditions: sorted.map(({ tests }) => tests.map((test) => code(test, sets)).join(' && ')),
    results: sorted.map(({ effect, name }) => ({ outcome: effect === 'deny' ? 'DENY' : 'ALLOW', by: name })),
    sets,
  };
}

function rank({ effect, name }: BenchRule): string {
  return `${effect === 'deny' ? 0 : 1} ${name}`;
}

function code(test: BenchTest, sets: unknown[]): string {
  switch (test.kind) {
    case 'amount-between':
      return `p.amount >= ${test.low} && p.amount <= ${test.high}`;
    case 'amount-from':
      return `p.amount >= ${test.low}`;
    case 'vendor-in':
      sets.push(new Set(test.vendors));
      return `sets[${sets.length - 1}].has(p.vendor)`;
    case 'vendor-is':
      return `p.vendor === ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `p.currency === ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `(${test.tiers.map((tier) => `request.tier === ${JSON.stringify(tier)}`).join(' || ')})`;
    case 'description-contains':
      return `p.description.includes(${JSON.stringify(test.text)})`;
    case 'description-starts':
      return `p.description.startsWith(${JSON.stringify(test.text)})`;
  }
}
