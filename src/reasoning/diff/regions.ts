// The ways in which two decisions about one request may differ, the most serious first. Each region is a gate
// over both sides and a test of two decisions by the definition. INVARIANT: whenever the outcome, the people
// asked or the length of a grant differs, some region's gate is true; so it is when a changed rule is named
// on one side alone.

import { areAmong, type TimedApprover } from '../../language/model/approvers.ts';
import { canonical } from '../../language/model/canonical.ts';
import type { ApprovalRequirement, Decision, Outcome, Requirements } from '../../language/model/decision.ts';
import type { Requirement } from '../../language/model/policy.ts';
import type { ProofContext } from '../prove/context.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { Cause } from './causes.ts';
import { areStandingWithin } from './enforcement.ts';
import type { SideDecision } from './joint-problem.ts';
import type { BothSides } from './joint-set.ts';
import type { Validity } from './validity.ts';

/**
 * How serious a difference is; 1 is the most serious. 1: allowed now, stopped before. 2: refused before,
 * people may let it pass now. 3: fewer or other people, a longer time, or no step-up. 4: refused before any
 * rule until now, judged by rules now. 5: stricter. 6: the same decision with another explanation.
 */
export type Tier = 1 | 2 | 3 | 4 | 5 | 6;

/**
 * What differs between the two decisions: the outcome, what is asked of people, how long a grant holds, or
 * the rule that is named.
 */
export type DecisionDifference = 'outcome' | 'people' | 'time' | 'rule';

export interface RegionKind {
  readonly tier: Tier;
  readonly difference: DecisionDifference;
  readonly from: Outcome;
  readonly to: Outcome;
}

/** Equal for two regions that ask the same question, also of two different formulas. */
function keyOfRegion({ tier, difference, from, to }: RegionKind): string {
  return `${tier} ${difference} ${from} ${to}`;
}

/** The findings that belong to the region. */
export function findingsIn<Found extends { readonly region: RegionKind }>(
  region: RegionKind,
  findings: readonly Found[],
): Found[] {
  return findings.filter((one) => keyOfRegion(one.region) === keyOfRegion(region));
}

/** A decision of one side, with no requirement met. */
export interface SidedDecision {
  readonly decision: Decision;
  /**
   * Seconds that a grant of the decision holds once all requirements are met; null when the decision refuses.
   */
  readonly holdsSeconds: number | null;
  /** What the granting rule and the guards ask of people, rule by rule. */
  readonly asking: readonly Requirement[];
}

type DecisionPair = BothSides<SidedDecision>;

export interface Region extends RegionKind {
  readonly literal: SolverLiteral;
  readonly isMetBy: (decisions: DecisionPair) => boolean;
}

const milder = [
  ['DENY', 'ALLOW', 1],
  ['REAUTH_REQUIRED', 'ALLOW', 1],
  ['ESCALATE', 'ALLOW', 1],
  ['DENY', 'ESCALATE', 2],
  ['DENY', 'REAUTH_REQUIRED', 2],
  ['REAUTH_REQUIRED', 'ESCALATE', 3],
] as const satisfies readonly (readonly [Outcome, Outcome, Tier])[];

const stricter = [
  ['ESCALATE', 'REAUTH_REQUIRED'],
  ['ALLOW', 'REAUTH_REQUIRED'],
  ['ALLOW', 'ESCALATE'],
  ['REAUTH_REQUIRED', 'DENY'],
  ['ESCALATE', 'DENY'],
  ['ALLOW', 'DENY'],
] as const satisfies readonly (readonly [Outcome, Outcome])[];

const granting = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED'] as const satisfies readonly Outcome[];
const pending = ['ESCALATE', 'REAUTH_REQUIRED'] as const satisfies readonly Outcome[];

export function regionsOf(
  ctx: ProofContext,
  decisions: BothSides<SideDecision>,
  { validity: { valid }, causes }: { readonly validity: Validity; readonly causes: readonly Cause[] },
): readonly Region[] {
  const { circuit } = ctx;
  const changes = changesOf(ctx, decisions, causes);
  const no = (literal: SolverLiteral): SolverLiteral => notLiteral(literal);
  const region = (
    kind: RegionKind,
    literals: readonly SolverLiteral[],
    isMetBy?: Region['isMetBy'],
  ): Region => ({
    ...kind,
    literal: circuit.and([
      decisions.before.outcome[kind.from],
      decisions.after.outcome[kind.to],
      ...literals,
    ]),
    isMetBy: (both) =>
      both.before.decision.outcome === kind.from &&
      both.after.decision.outcome === kind.to &&
      (isMetBy?.(both) ?? true),
  });
  const outcome = (tier: Tier, from: Outcome, to: Outcome): RegionKind => ({
    tier,
    difference: 'outcome',
    from,
    to,
  });
  const within = (tier: Tier, difference: DecisionDifference, from: Outcome): RegionKind => ({
    tier,
    difference,
    from,
    to: from,
  });
  const alike = [no(changes.fewer), no(changes.longer), no(changes.more), no(changes.shorter)];
  return [
    ...milder.map(([from, to, tier]) =>
      from === 'DENY'
        ? region(outcome(tier, from, to), [valid.before], (both) => !wasRefused(both))
        : region(outcome(tier, from, to), []),
    ),
    ...pending.map((one) => region(within(3, 'people', one), [changes.fewer], asksLess)),
    region(
      { tier: 3, difference: 'people', from: 'ESCALATE', to: 'REAUTH_REQUIRED' },
      [changes.fewer],
      asksLess,
    ),
    ...granting.map((one) =>
      region(
        within(3, 'time', one),
        [no(changes.fewer), changes.longer],
        (both) => !asksLess(both) && holdsLonger(both),
      ),
    ),
    ...milder
      .filter(([from]) => from === 'DENY')
      .map(([from, to]) => region(outcome(4, from, to), [no(valid.before)], wasRefused)),
    ...stricter.map(([from, to]) =>
      to === 'REAUTH_REQUIRED' && from === 'ESCALATE'
        ? region(outcome(5, from, to), [no(changes.fewer)], (both) => !asksLess(both))
        : region(outcome(5, from, to), []),
    ),
    ...pending.map((one) =>
      region(
        within(5, 'people', one),
        [no(changes.fewer), no(changes.longer), changes.more],
        (both) => !asksLess(both) && !holdsLonger(both) && asksMore(both),
      ),
    ),
    ...granting.map((one) =>
      region(
        within(5, 'time', one),
        [no(changes.fewer), no(changes.more), changes.shorter],
        (both) => !asksLess(both) && !asksMore(both) && holdsShorter(both),
      ),
    ),
    ...[...granting, 'DENY' as const].map((one) =>
      region(within(6, 'rule', one), [...(one === 'DENY' ? [] : alike), changes.rule], isNamedOtherwise),
    ),
  ];
}

function wasRefused({ before: { decision } }: DecisionPair): boolean {
  return decision.by === 'invalid_payload' || decision.by === 'undeclared_action';
}

function isNamedOtherwise({ before, after }: DecisionPair): boolean {
  return before.decision.by !== after.decision.by;
}

interface Changes {
  /** True if something is asked for before that is not asked for after. */
  readonly fewer: SolverLiteral;
  readonly more: SolverLiteral;
  readonly longer: SolverLiteral;
  readonly shorter: SolverLiteral;
  readonly rule: SolverLiteral;
}

function changesOf(
  { circuit }: ProofContext,
  { before, after }: BothSides<SideDecision>,
  causes: readonly Cause[],
): Changes {
  const [old, now] = [before.enforcement, after.enforcement];
  const demands = [...new Map([...old.demands, ...now.demands].map((one) => [one.key, one])).values()];
  const lengths = [...new Set([...old.lengths, ...now.lengths])];
  const only = (a: SolverLiteral, b: SolverLiteral): SolverLiteral => circuit.and([a, notLiteral(b)]);
  const ids = new Set(
    causes.flatMap(({ rule }) => [rule?.before, rule?.after]).flatMap((rule) => rule?.id ?? []),
  );
  const named = { before: old.named(ids), after: now.named(ids) };
  return {
    fewer: circuit.or(demands.map((one) => only(old.isAsked(one), now.isAsked(one)))),
    more: circuit.or(demands.map((one) => only(now.isAsked(one), old.isAsked(one)))),
    longer: circuit.or(lengths.map((one) => only(old.holdsAtMost(one), now.holdsAtMost(one)))),
    shorter: circuit.or(lengths.map((one) => only(now.holdsAtMost(one), old.holdsAtMost(one)))),
    rule: circuit.or([
      ...[...ids].flatMap((id) => {
        const [was, is] = [named.before.get(id) ?? circuit.no, named.after.get(id) ?? circuit.no];
        return [only(was, is), only(is, was)];
      }),
      ...causes.flatMap(({ rule, differs }) => (rule === null ? [differs] : [])),
    ]),
  };
}

// ---- the same questions about two decisions

/** Whether something is asked for before that is not asked for after. */
function asksLess({ before, after }: DecisionPair): boolean {
  return (
    !asksAll(after.decision.requires, before.decision.requires) ||
    !areStandingWithin(after.asking, before.asking)
  );
}

function asksMore({ before, after }: DecisionPair): boolean {
  return (
    !asksAll(before.decision.requires, after.decision.requires) ||
    !areStandingWithin(before.asking, after.asking)
  );
}

/** Whether `asked` demands everything in `wanted`, or more. */
function asksAll(requirements: Requirements | null, expected: Requirements | null): boolean {
  if (expected === null) return true;
  const areAsked = expected.approvals.every(({ needs, withinSeconds, except = [], ...whom }) =>
    requirements?.approvals.some(
      (one) =>
        isAmong(one, whom) &&
        one.needs >= needs &&
        one.withinSeconds <= withinSeconds &&
        except.every((person) => one.except?.includes(person)),
    ),
  );
  return areAsked && strictestStepUp(requirements) <= strictestStepUp(expected);
}

/** Whether everybody who may answer for `one` may answer for `other`, no later. */
function isAmong(one: ApproverGroups, other: ApproverGroups): boolean {
  return areAmong(approversIn(one), approversIn(other));
}

type ApproverGroups = Pick<ApprovalRequirement, 'group' | 'anyOf' | 'fallbacks'>;

/** Each approver who may answer, as a text; one that data name differs by what they name. */
function approversIn({
  group,
  anyOf = [{ group }],
  fallbacks = [],
}: ApproverGroups): readonly TimedApprover[] {
  return [{ afterSeconds: 0, anyOf }, ...fallbacks].flatMap((timed) =>
    timed.anyOf.flatMap((one) => {
      if ('unknown' in one) return [];
      const text = canonical('person' in one ? { person: one.person } : { group: one.group });
      return [{ text, afterSeconds: timed.afterSeconds }];
    }),
  );
}

/** In seconds; -1 for a step-up for this very request, which is the strictest, and infinity for none. */
function strictestStepUp(requires: Requirements | null): number {
  const reauth = requires?.reauth ?? null;
  return reauth === null ? Number.POSITIVE_INFINITY : (reauth.withinSeconds ?? -1);
}

function holdsLonger({ before, after }: DecisionPair): boolean {
  return (after.holdsSeconds ?? 0) > (before.holdsSeconds ?? 0);
}

function holdsShorter({ before, after }: DecisionPair): boolean {
  return (after.holdsSeconds ?? 0) < (before.holdsSeconds ?? 0);
}
