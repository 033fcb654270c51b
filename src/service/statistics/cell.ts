// The counts of the requests of a minute or an hour. Counts only add up, so minutes make an hour and hours an
// overview. INVARIANT: a cell that has gone through `cellText` and back adds the same as before; hits of
// rules are separate and not in the text.

import type { Decision, Outcome } from '../../language/model/decision.ts';
import { type FormRule, type Trace, truthOf } from '../../language/model/trace.ts';
import { memo } from '../../language/value/memo.ts';
import type { CountedRefusal, WaitEnd } from '../store/contract/statistics.ts';
import { addPairs, addTo, createHistogram, type Histogram, histogramText } from './histogram.ts';

/** The parts of a recorded request that are counted. */
export interface StatisticsRequest {
  readonly createdAtMs: number;
  readonly decision: Decision;
  readonly trace: Trace;
  readonly timing: { readonly decideMicroseconds: number };
}

export interface CellCounts {
  /** Decisions by outcome, in the order of `outcomeAt`. */
  readonly decisions: number[];
  /**
   * Refusals by `agent code`. The agent is empty when it is not known, and for further pairs once
   * `refusedPairsMax` is reached.
   */
  readonly refusals: Map<string, number>;
  /** How long decisions took, in microseconds. */
  readonly latency: Histogram;
  /** Requests by risk score, in steps of ten; a score of 100 counts in the last step. */
  readonly risk: number[];
  /** Decisions by the deciding policy (empty when none decided), each in the order of `outcomeAt`. */
  readonly policies: Map<string, number[]>;
  /** The most policies that are counted by name; decisions of further policies are in all other counts. */
  readonly policiesMax: number;
  readonly ended: Record<WaitEnd['status'], number>;
  /** How many of the expired waits were for a step-up. */
  expiredStepUps: number;
  /** Times from request to approval, in milliseconds; null when there are none. */
  waits: Histogram | null;
  readonly rules: Map<string, RuleCount>;
}

export interface RuleCount {
  decided: number;
  met: number;
  lastAtMs: number | null;
  /** For a shadow rule: how often it would change a decision, by `FROM TO`; null when it never would. */
  changes: Map<string, number> | null;
}

export const outcomeAt = { ALLOW: 0, DENY: 1, ESCALATE: 2, REAUTH_REQUIRED: 3 } as const satisfies Record<
  Outcome,
  number
>;
export const riskSteps = 10;
/** The most policies stored for a minute; with `refusedPairsMax` this bounds what is stored. */
const policiesMaxDefault = 500;
const refusedPairsMax = 200;

export function createCell(policiesMax: number = policiesMaxDefault): CellCounts {
  return {
    decisions: [0, 0, 0, 0],
    refusals: new Map(),
    latency: createHistogram(),
    risk: new Array<number>(riskSteps).fill(0),
    policies: new Map(),
    policiesMax,
    ended: { approved: 0, rejected: 0, expired: 0 },
    expiredStepUps: 0,
    waits: null,
    rules: new Map(),
  };
}

/**
 * Counts a request, on the request path: the cost depends only on the rules that took part, not on how many
 * rules or requests there are.
 */
export function addRequest(
  cell: CellCounts,
  { createdAtMs, decision, trace, timing }: StatisticsRequest,
): void {
  const at = outcomeAt[decision.outcome];
  cell.decisions[at]! += 1;
  addTo(cell.latency, timing.decideMicroseconds);
  cell.risk[Math.min(riskSteps - 1, Math.trunc(decision.risk.high / riskSteps))]! += 1;
  const isByRule = decision.by !== decision.matchedPolicy;
  const policy = policyCounts(cell, isByRule ? decision.matchedPolicy : '');
  if (policy !== null) policy[at]! += 1;
  if (isByRule) ruleCount(cell, decision.by).decided += 1;
  for (const rule of decision.rules) meet(ruleCount(cell, rule), createdAtMs);
  for (let index = 0; index < trace.form.rules.length; index += 1) {
    const rule = trace.form.rules[index]!;
    if (isShadow(rule) && isMet(rule, trace.truths[index]!)) addShadow(cell, rule, { createdAtMs, decision });
  }
}

function isShadow([, , , , shadow]: FormRule): boolean {
  return shadow !== undefined;
}

/** Whether a rule is met: an allow or a risk when true, a guard when true or unknown. */
function isMet([, effect]: FormRule, letter: string): boolean {
  const truth = truthOf(letter);
  return truth === 'true' || (truth === 'unknown' && effect !== 'allow' && effect !== 'risk');
}

function meet(count: RuleCount, atMs: number): void {
  count.met += 1;
  if (count.lastAtMs === null || count.lastAtMs < atMs) count.lastAtMs = atMs;
}

/** How strict each outcome is. */
const strictness = { ALLOW: 0, ESCALATE: 1, REAUTH_REQUIRED: 2, DENY: 3 } as const satisfies Record<
  Outcome,
  number
>;

/**
 * A decision holds what all shadow rules together would make of it; the change counts for each shadow rule
 * that pulls in its direction.
 */
function addShadow(
  cell: CellCounts,
  [rule, effect, points]: FormRule,
  { createdAtMs, decision }: Pick<StatisticsRequest, 'createdAtMs' | 'decision'>,
): void {
  const count = ruleCount(cell, rule);
  meet(count, createdAtMs);
  const { outcome, withShadow } = decision;
  if (outcome === withShadow) return;
  const isStricter = strictness[withShadow] > strictness[outcome];
  if (points === 0 && isStricter !== (effect !== 'allow')) return;
  count.changes ??= new Map();
  const change = `${outcome} ${withShadow}`;
  count.changes.set(change, (count.changes.get(change) ?? 0) + 1);
}

function policyCounts({ policies, policiesMax }: CellCounts, name: string): number[] | null {
  const cached = policies.get(name);
  if (cached !== undefined) return cached;
  if (policies.size >= policiesMax) return null;
  const counts = [0, 0, 0, 0];
  policies.set(name, counts);
  return counts;
}

function ruleCount({ rules }: CellCounts, rule: string): RuleCount {
  return memo(rules, rule, newRuleCount);
}

function newRuleCount(): RuleCount {
  return { decided: 0, met: 0, lastAtMs: null, changes: null };
}

export function addRefusal({ refusals }: CellCounts, { agentId, code }: Omit<CountedRefusal, 'atMs'>): void {
  addRefusals(refusals, `${agentId ?? ''} ${code}`, 1);
}

function addRefusals(refusals: Map<string, number>, pair: string, count: number): void {
  const isTaken = refusals.has(pair) || refusals.size < refusedPairsMax;
  const pairKey = isTaken ? pair : ` ${pair.slice(pair.indexOf(' ') + 1)}`;
  refusals.set(pairKey, (refusals.get(pairKey) ?? 0) + count);
}

/** Returns how many requests were refused by code, for one agent or for all (`agentId` null). */
export function refusalsByCode(
  { refusals }: CellCounts,
  agentId: string | null = null,
): ReadonlyMap<string, number> {
  const byCode = new Map<string, number>();
  for (const [pair, count] of refusals) {
    const [agent = '', code = ''] = pair.split(' ');
    if (agentId === null || agent === agentId) byCode.set(code, (byCode.get(code) ?? 0) + count);
  }
  return byCode;
}

export function addEnd(cell: CellCounts, { atMs, status, createdAtMs, isStepUp }: WaitEnd): void {
  cell.ended[status] += 1;
  if (status === 'expired' && isStepUp) cell.expiredStepUps += 1;
  if (status !== 'approved' || createdAtMs === null) return;
  cell.waits ??= createHistogram();
  addTo(cell.waits, Math.max(0, atMs - createdAtMs));
}

/** Adds all counts of `from` to `into`. */
export function addCell(into: CellCounts, from: CellCounts): void {
  addText(into, cellText(from));
  for (const [rule, { decided, met, lastAtMs, changes }] of from.rules) {
    const count = ruleCount(into, rule);
    count.decided += decided;
    count.met += met;
    count.lastAtMs = later(count.lastAtMs, lastAtMs);
    for (const [change, times] of changes ?? []) {
      count.changes ??= new Map();
      count.changes.set(change, (count.changes.get(change) ?? 0) + times);
    }
  }
}

/** Returns the later of two times; null when both are null. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

interface CellText {
  readonly decisions: readonly number[];
  readonly refusals: readonly (readonly [string, number])[];
  readonly latency: readonly number[];
  readonly risk: readonly number[];
  readonly policies: readonly (readonly [string, readonly number[]])[];
  readonly ended: CellCounts['ended'];
  readonly expiredStepUps: number;
  readonly waits: readonly number[];
}

export function cellText(cell: CellCounts): string {
  const { decisions, refusals, latency, risk, policies, ended, expiredStepUps, waits } = cell;
  const text: CellText = {
    decisions,
    refusals: [...refusals],
    latency: histogramText(latency),
    risk,
    policies: [...policies],
    ended,
    expiredStepUps,
    waits: waits === null ? [] : histogramText(waits),
  };
  return JSON.stringify(text);
}

/** Adds a text of `cellText`, which has one line for each process that has counted. */
export function addText(into: CellCounts, text: string): void {
  for (const line of text.split('\n')) addLine(into, JSON.parse(line) as CellText);
}

function addLine(into: CellCounts, from: CellText): void {
  addAll(into.decisions, from.decisions);
  for (const [pair, count] of from.refusals) addRefusals(into.refusals, pair, count);
  addPairs(into.latency, from.latency);
  addAll(into.risk, from.risk);
  for (const [name, counts] of from.policies) addAll(policyCounts(into, name) ?? [], counts);
  for (const status of ['approved', 'rejected', 'expired'] as const) into.ended[status] += from.ended[status];
  into.expiredStepUps += from.expiredStepUps;
  if (from.waits.length === 0) return;
  into.waits ??= createHistogram();
  addPairs(into.waits, from.waits);
}

function addAll(into: number[], from: readonly number[]): void {
  for (let at = 0; at < into.length; at += 1) into[at]! += from[at]!;
}
