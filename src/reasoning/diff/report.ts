// A comparison of two policy sets as plain data: what every way of printing it, and every program that reads it, goes by.

import { position, type SourceOf } from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import { canonicalMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import { type Outcome, outcomes, type Requirements } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Claim, PolicySet } from '../../language/model/policy.ts';
import { claimedOutcomes, refutation } from '../../language/spec/claim.ts';
import { horizon } from '../cells/times.ts';
import { type ClaimVerdict, type KnownVerdict, proveGuarantees } from '../prove/prove.ts';
import { requestJson } from '../prove/report/request-json.ts';
import { claimText, shownCondition } from '../prove/report/wording.ts';
import type { FiledRequests, Tallied } from '../replay/tally.ts';
import { isAlike, readsChanged } from './declarations.ts';
import type { PolicyDiff } from './diff.ts';
import type { DiffExample, DiffFinding, FindingCause } from './finding.ts';
import type { BothSides } from './joint-set.ts';
import { type DiffRemark, remarksOf } from './remarks.ts';

export interface ComparedSide {
  /** As people named it: a revision or a folder. */
  readonly name: string;
  readonly digest: string;
  readonly set: PolicySet;
  readonly sourceOf: SourceOf;
  /** A path of the set as people see it. */
  readonly shown: (file: string) => string;
}

export interface SetComparison {
  readonly sides: BothSides<ComparedSide>;
  readonly diff: PolicyDiff;
  /** Of both sides; none where nobody asks for them. */
  readonly guarantees: readonly GuaranteeChange[];
  /** Requests of the past, filed under the findings in their order; null where none were asked. */
  readonly log: Tallied | null;
}

/** What became of one claim; null where the side does not make it. */
export interface GuaranteeChange {
  readonly name: string;
  readonly text: string;
  readonly old: ClaimVerdict['kind'] | null;
  readonly new: ClaimVerdict['kind'] | null;
}

export type Direction = 'loosened' | 'stricter' | 'reworded';

export interface ReportedPlace {
  readonly file: string;
  readonly line: number;
}

export interface ReportedFinding {
  readonly direction: Direction;
  readonly tier: DiffFinding['tier'];
  readonly difference: DiffFinding['difference'];
  readonly from: string;
  readonly to: string;
  readonly actions: readonly string[];
  readonly when: readonly string[];
  readonly causes: readonly (Omit<FindingCause, 'span' | 'side' | 'reads'> & {
    readonly place: ReportedPlace | null;
    readonly side: 'old' | 'new';
    readonly reads: readonly string[];
  })[];
  readonly example: ReportedExample | null;
  /** Conditions that were guessed, where there is no example. */
  readonly guessed: readonly string[];
  /** The requests of the log that meet it, and what they ask of people. */
  readonly log: FiledRequests | null;
}

/** The log as a whole. */
export interface ReportedLog {
  readonly requests: number;
  readonly from: string | null;
  readonly until: string | null;
  /** Requests that change without a finding. */
  readonly without_finding: number;
  /** What requests ask of people that meet no finding, unchanged ones included. */
  readonly people_without_finding: Tallied['otherPeople'];
  /** Of these it cannot be told which finding they meet: digests stand for what the sets read. */
  readonly unfiled: number;
  /** Of these it cannot be told: secrets that the payload check reads are not in the records. */
  readonly withheld: number;
  /** By fact that a rule reads, how many requests lack it. */
  readonly unknown_facts: Tallied['unknownFacts'];
}

interface ReportedExample {
  /** As `writ decide` takes it. */
  readonly request: object;
  /** Readings on the old side, where meters that say something else take part. */
  readonly old_meters: object | null;
  readonly old: ReportedDecision;
  readonly new: ReportedDecision;
  readonly near: { readonly name: string; readonly changed: readonly string[] } | null;
}

interface ReportedDecision {
  readonly decision: string;
  readonly by: string;
  readonly valid_for_seconds: number | null;
  readonly requires: Requirements | null;
}

export interface DiffReport {
  readonly old: { readonly name: string; readonly digest: string };
  readonly new: { readonly name: string; readonly digest: string };
  readonly loosened: number;
  readonly stricter: number;
  readonly reworded: number;
  /** Findings without a request, and actions of which not everything is proved to be found. */
  readonly undecided: number;
  readonly findings: readonly ReportedFinding[];
  /** What changes of rules without a decision changing: told by the rules, and not proved. */
  readonly remarks: readonly ReportedRemark[];
  /** What keeps the findings from being proved to be all, by action. */
  readonly limits: PolicyDiff['limits'];
  readonly actions: readonly string[];
  readonly meters: readonly string[];
  readonly guarantees: readonly GuaranteeChange[];
  /** Dates: the decisions that the proof speaks of. */
  readonly horizon: { readonly from: string; readonly to: string };
  readonly log: ReportedLog | null;
}

/** What changes without a decision changing. */
export interface ReportedRemark extends Omit<DiffRemark, 'span' | 'side' | 'points'> {
  readonly place: ReportedPlace | null;
  readonly side: 'old' | 'new';
  readonly points: { readonly old: number; readonly new: number } | null;
}

function remarksBetween({ sides, diff }: SetComparison): readonly ReportedRemark[] {
  const sets = { before: sides.before.set, after: sides.after.set };
  return remarksOf(sets, diff.changed).map(({ span, side, points, ...remark }) => ({
    ...remark,
    place: placeOf(sides[side], span),
    side: side === 'before' ? 'old' : 'new',
    points: points === null ? null : { old: points.before, new: points.after },
  }));
}

export function reportOf(comparison: SetComparison): DiffReport {
  const { sides, diff, guarantees, log } = comparison;
  const findings = diff.findings.map((finding, at) => ({
    ...reportedFinding(sides, finding),
    log: log?.findings[at] ?? null,
  }));
  const decided = findings.filter(({ example }) => example !== null);
  const count = (direction: Direction): number =>
    decided.filter((finding) => finding.direction === direction).length;
  return {
    old: namedSide(sides.before),
    new: namedSide(sides.after),
    loosened: count('loosened'),
    stricter: count('stricter'),
    reworded: count('reworded'),
    undecided: findings.length - decided.length + diff.limits.length,
    findings,
    remarks: remarksBetween(comparison),
    limits: diff.limits,
    actions: diff.actions,
    meters: diff.meters,
    guarantees,
    horizon: { from: dateOf(horizon.from), to: dateOf(horizon.to) },
    log: log === null ? null : reportedLog(log),
  };
}

function namedSide(side: ComparedSide): DiffReport['old'] {
  return {
    name: side.name,
    get digest() {
      return side.digest;
    },
  };
}

function reportedLog({
  requests,
  period,
  withoutFinding,
  otherPeople,
  unfiled,
  withheld,
  unknownFacts,
}: Tallied): ReportedLog {
  return {
    requests,
    from: period === null ? null : new Date(period.fromMs).toISOString(),
    until: period === null ? null : new Date(period.untilMs).toISOString(),
    without_finding: withoutFinding,
    people_without_finding: otherPeople,
    unfiled,
    withheld,
    unknown_facts: unknownFacts,
  };
}

function dateOf(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 10);
}

function reportedFinding(sides: SetComparison['sides'], finding: DiffFinding): Omit<ReportedFinding, 'log'> {
  const { tier, difference, from, to, actions, when, causes, example, guessed } = finding;
  return {
    direction: tier < 5 ? 'loosened' : tier === 5 ? 'stricter' : 'reworded',
    tier,
    difference,
    from,
    to,
    actions,
    when,
    causes: causes.map((cause) => reportedCause(sides, cause)),
    example: example === null ? null : reportedExample(example),
    guessed: [...new Set(guessed.map(shownCondition))],
  };
}

function reportedCause(
  sides: SetComparison['sides'],
  { rule, change, span, side, reads }: FindingCause,
): ReportedFinding['causes'][number] {
  const own = sides[side];
  const shown = reads.map(({ name, span: at }) => {
    const place = at === null ? null : placeOf(own, at);
    return place === null ? name : `${name}, ${place.file}:${place.line}`;
  });
  return { rule, change, place: placeOf(own, span), side: side === 'before' ? 'old' : 'new', reads: shown };
}

function placeOf({ sourceOf, shown }: ComparedSide, { file, start }: Span): ReportedPlace | null {
  const text = sourceOf(file);
  return text === null ? null : { file: shown(file), line: position(text, start).line };
}

function reportedExample({ facts, decisions, near }: DiffExample): ReportedExample {
  const [old, now] = [requestJson(facts.before), requestJson(facts.after)];
  const meters = (request: object): object => (request as { readonly meters: object }).meters;
  const isSame = JSON.stringify(meters(old)) === JSON.stringify(meters(now));
  return {
    request: now,
    old_meters: isSame ? null : meters(old),
    old: reportedDecision(decisions.before),
    new: reportedDecision(decisions.after),
    near,
  };
}

function reportedDecision({
  outcome,
  by,
  validForSeconds,
  requires,
}: DiffExample['decisions']['before']): ReportedDecision {
  return { decision: outcome, by, valid_for_seconds: validForSeconds, requires };
}

/** What became of each claim on the two sides: the same claim is one of the same words under the same name. */
export function guaranteeChanges(
  { before, after }: SetComparison['sides'],
  diff: PolicyDiff,
): readonly GuaranteeChange[] {
  const verdicts = proveGuarantees(after.set, { isEachAsked: false });
  const now = namedBySide(after, verdicts);
  const known = knownOf({ before, after }, diff, now);
  const old = namedBySide(before, proveGuarantees(before.set, { known, isEachAsked: false }));
  return [...new Map([...old, ...now])].map(([key, { name, text }]) => ({
    name,
    text,
    old: old.get(key)?.kind ?? null,
    new: now.get(key)?.kind ?? null,
  }));
}

interface NamedVerdict extends ClaimVerdict {
  readonly name: string;
  readonly text: string;
}

type ByName = ReadonlyMap<string, NamedVerdict>;

function namedBySide({ sourceOf }: ComparedSide, verdicts: readonly ClaimVerdict[]): ByName {
  return new Map(
    verdicts.map((verdict) => {
      const { name } = verdict.guarantee;
      const text = claimText(verdict.claim, sourceOf);
      return [`${name} ${text}`, { ...verdict, name, text }];
    }),
  );
}

/**
 * What is said of the same claim afterwards: of an action of which nothing has changed it was so before, and a request that
 * refutes it may have done so before. A claim that is kept now was kept where no finding turns what breaks it.
 */
function knownOf({ before, after }: SetComparison['sides'], diff: PolicyDiff, now: ByName): KnownVerdict {
  const { asked, changed } = diff;
  const isAsked = new Set(asked);
  const byText = new Map([...now.values()].map((one) => [canonicalMeaning(one.claim), one]));
  return (claim, action) => {
    const verdicts = byText.get(canonicalMeaning(claim))?.verdicts ?? [];
    const verdict = verdicts.find((one) => one.action === action) ?? null;
    if (verdict === null) return null;
    const isSameClaim = claim.when === null || !readsChanged(claim.when, changed);
    if (!isAsked.has(action) && isSameClaim) return verdict;
    if (verdict.kind === 'proved' && isSameClaim && wasKept(claim, action, { before, after, diff }))
      return verdict;
    if (verdict.kind !== 'refuted') return null;
    const decision = refutation(before.set, claim, verdict.facts);
    return decision === null ? null : { kind: 'refuted', facts: verdict.facts, decision };
  };
}

/** The claim means the same on both sides, and is kept now. */
function wasKept(
  claim: Claim,
  action: string,
  { before, after, diff }: BothSides<ComparedSide> & { readonly diff: PolicyDiff },
): boolean {
  const breaking = breakingOutcomes(claim);
  if (breaking === null || diff.limits.some((one) => one.action === action)) return false;
  // A request of another shape, or of another risk, is none that the claim speaks of.
  const [old, own] = [before, after].map(({ set }) => set.actions.get(action)?.shape);
  if (!isAlike(old, own) || (claim.when !== null && mayReadRisk(claim.when))) return false;
  return !diff.findings.some(
    ({ actions, from, to }) => actions.includes(action) && breaking.includes(from) && !breaking.includes(to),
  );
}

/** What is decided of a request for which nothing has been met, where it breaks the claim; null where that does not tell. */
function breakingOutcomes({ mode, effect, isUnapproved }: Claim): readonly Outcome[] | null {
  if (effect === 'ask') return null;
  // Whatever waits may pass, and what is refused is refused whoever approves.
  if (effect === 'allow' && mode === 'never' && !isUnapproved)
    return outcomes.filter((outcome) => outcome !== 'DENY');
  if (!isUnapproved && effect !== 'deny' && (effect !== 'allow' || mode === 'never')) return null;
  const claimed = claimedOutcomes[effect];
  return outcomes.filter((outcome) => (outcome === claimed) === (mode === 'never'));
}

function mayReadRisk(when: Expression): boolean {
  return descendants(when).some(({ kind }) => kind === 'risk' || kind === 'let');
}
