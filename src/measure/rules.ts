// Finds which rules a set of requests tries, which of them take part, and what each costs. The cost of a rule
// is that of a program with this one rule less that of a program without rules, because the rules of an
// action run as one function that cannot be taken apart.

import { link } from '../language/emit/link.ts';
import type { Decision } from '../language/model/decision.ts';
import type { Effect } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { explainIndexKey } from '../language/program/index/explain-index-key.ts';
import { unpack } from '../language/program/packed/unpack.ts';
import { pack } from '../language/program/plan/incremental.ts';
import type { ActionProgram, PlannedRule, Program } from '../language/program/program.ts';
import { sha256 } from '../pipeline.ts';
import { timeFastest } from './clock.ts';
import { percentile } from './figure.ts';

export interface RuleUse {
  readonly rule: string;
  readonly effect: Effect;
  /** The number of requests for which the rule was tried, took part, and decided. */
  readonly tried: number;
  readonly fired: number;
  readonly decided: number;
  /**
   * Nanoseconds to try the rule once; null when it was not tried, or when time was too short to measure it.
   */
  readonly cost: number | null;
  /** The rule's share of the cost of trying all measured rules; null when the rule was not measured. */
  readonly share: number | null;
}

export interface UnindexedRule {
  readonly action: string;
  readonly rule: string;
  readonly why: string;
}

export interface UsedRules {
  /** The most costly rules first, unmeasured rules last. */
  readonly rules: readonly RuleUse[];
  /** The number of rules that a request tried. */
  readonly perDecision: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Rules that the index of their action always tries. */
  readonly unfiled: readonly UnindexedRule[];
}

export interface RuleTrials {
  readonly facts: Facts;
  readonly decision: Decision;
  /** Ids of the rules that were tried. */
  readonly tried: readonly string[];
}

export interface RulesOptions {
  /** The number of rules of an action from which an index chooses the rules to try. */
  readonly indexedFrom: number;
  /** Milliseconds for measuring what rules cost. */
  readonly ms: number;
}

export function useOfRules(
  program: Program,
  decided: readonly RuleTrials[],
  { indexedFrom, ms }: RulesOptions,
): UsedRules {
  const uses = countUses(program, decided);
  const costs = measureCosts(program, uses, ms);
  const total = [...costs].reduce((sum, [id, cost]) => sum + cost * uses.get(id)!.tried.length, 0);
  const rules = [...uses].map(([id, { rule, tried, fired, decides }]): RuleUse => {
    const cost = costs.get(id) ?? null;
    const share = cost === null ? null : total === 0 ? 0 : (cost * tried.length) / total;
    return { rule: id, effect: rule.effect, tried: tried.length, fired, decided: decides, cost, share };
  });
  const counts = decided.map(({ tried }) => tried.length).sort((a, b) => a - b);
  return {
    rules: rules.toSorted(
      (a, b) => (b.share ?? -1) - (a.share ?? -1) || b.tried - a.tried || (a.rule < b.rule ? -1 : 1),
    ),
    perDecision: { p50: percentile(counts, 0.5), p99: percentile(counts, 0.99), max: percentile(counts, 1) },
    unfiled: unfiledRules(program, indexedFrom),
  };
}

function unfiledRules(program: Program, indexedFrom: number): readonly UnindexedRule[] {
  return [...program.actions.values()]
    .filter(({ rules }) => rules.length >= indexedFrom)
    .flatMap(({ action, rules }) =>
      explainIndexKey(rules, program.lists).map((explained) => ({ action, ...explained })),
    );
}

interface Use {
  readonly rule: PlannedRule;
  /** The requests that tried the rule. */
  readonly tried: Facts[];
  fired: number;
  decides: number;
}

function countUses(program: Program, decided: readonly RuleTrials[]): ReadonlyMap<string, Use> {
  const all = [...program.actions.values()].flatMap(({ rules }) => rules);
  const uses = new Map<string, Use>(
    all.map((rule) => [rule.id, { rule, tried: [], fired: 0, decides: 0 }] as const),
  );
  for (const { facts, decision, tried } of decided) {
    for (const id of tried) uses.get(id)!.tried.push(facts);
    for (const id of decision.rules) uses.get(id)!.fired += 1;
    const deciding = uses.get(decision.by);
    if (deciding !== undefined) deciding.decides += 1;
  }
  return uses;
}

/** The most requests on which a rule is measured. */
const requestsMax = 200;
const measureMs = 2;
/** The number of rules that are measured however short the time is. */
const measuredMin = 20;
const costRounds = 3;

/** Nanoseconds by rule, until time is over. The rules that were tried most often come first. */
function measureCosts(
  program: Program,
  uses: ReadonlyMap<string, Use>,
  ms: number,
): ReadonlyMap<string, number> {
  const until = performance.now() + ms;
  const costs = new Map<string, number>();
  const inOrder = [...uses].filter(([, { tried }]) => tried.length > 0);
  inOrder.sort(([, a], [, b]) => b.tried.length - a.tried.length);
  for (const [id, { tried }] of inOrder) {
    if (costs.size >= measuredMin && performance.now() > until) break;
    costs.set(id, measureCost(program, id, spreadOver(tried)));
  }
  return costs;
}

/** Measures with and without the rule in alternating rounds, of which the first warms up. */
function measureCost(program: Program, id: string, requests: readonly Facts[]): number {
  const withRule = deciding(program, requests, (rule) => rule.id === id);
  const without = deciding(program, requests, () => false);
  let [upper, lower] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = -1; round < costRounds; round += 1) {
    const ms = round < 0 ? 2 * measureMs : measureMs;
    upper = Math.min(upper, timeFastest(withRule, requests.length, ms));
    lower = Math.min(lower, timeFastest(without, requests.length, ms));
  }
  return Math.max(0, upper - lower);
}

/**
 * Decides the requests by the chosen rules of their actions. A rule on a pattern of actions differs from
 * action to action.
 */
function deciding(
  program: Program,
  requests: readonly Facts[],
  isKept: (rule: PlannedRule) => boolean,
): () => void {
  const names = new Set(requests.map(({ action }) => action));
  const actions = new Map(
    [...names].map((name): [string, ActionProgram] => {
      const action = program.actions.get(name)!;
      return [name, { ...action, rules: action.rules.filter(isKept) }];
    }),
  );
  const engine = link(unpack(pack({ ...program, actions }, sha256)));
  return () => {
    for (const facts of requests) engine.decideChecked(facts);
  };
}

function spreadOver(requests: readonly Facts[]): readonly Facts[] {
  const step = Math.max(1, requests.length / requestsMax);
  return Array.from(
    { length: Math.min(requests.length, requestsMax) },
    (_, at) => requests[Math.floor(at * step)]!,
  );
}
