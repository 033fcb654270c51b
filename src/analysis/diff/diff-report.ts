// A comparison of two policy sets as plain data, which every printer and every reading program uses.

import { entryAbout, type OwnersEntry } from '../../language/check/owners/owners-file.ts';
import { position, type SourceOf } from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import { canonicalMeaning } from '../../language/model/canonical.ts';
import { descendants } from '../../language/model/children.ts';
import { type Outcome, outcomes, type Requirements } from '../../language/model/decision.ts';
import { standingText } from '../../language/model/describe.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { GuaranteeClause, PolicySet, Rule } from '../../language/model/policy.ts';
import { clauseOutcomes, refutation } from '../../language/spec/guarantee-clause.ts';
import { horizon } from '../../reasoning/cells/times.ts';
import { chatLimitChanges } from '../../reasoning/diff/chat-limits.ts';
import { isAlike, readsChanged } from '../../reasoning/diff/declarations.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { DiffExample, DiffFinding, FindingCause } from '../../reasoning/diff/finding.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import { type DiffRemark, remarksOf } from '../../reasoning/diff/remarks.ts';
import { type ClauseVerdict, proveGuarantees, type VerdictLookup } from '../../reasoning/prove/prove.ts';
import { requestJson } from '../../reasoning/prove/report/request-json.ts';
import { clauseText, shortenCondition } from '../../reasoning/prove/report/wording.ts';
import type { FiledRequests, TallyResult } from '../replay/engine/tally.ts';

export interface ComparedSide {
  /** The name that people gave: a revision or a folder. */
  readonly name: string;
  readonly digest: string;
  readonly set: PolicySet;
  readonly sourceOf: SourceOf;
  /** A path of the set in the form that people see. */
  readonly shown: (file: string) => string;
  /** Who owns which files; absent when the set has no owners, or nobody asks. */
  readonly owners?: readonly OwnersEntry[];
}

export interface SetComparison {
  readonly sides: BothSides<ComparedSide>;
  readonly diff: PolicyDiff;
  /** The guarantees of both sides; empty when the caller does not ask for them. */
  readonly guarantees: readonly GuaranteeChange[];
  /** Past requests, filed under the findings in the order of the findings; null when no log was replayed. */
  readonly log: TallyResult | null;
}

/** The verdict on one claim before and now; a verdict is null when the side does not make the claim. */
export interface GuaranteeChange {
  readonly name: string;
  readonly text: string;
  readonly old: ClauseVerdict['kind'] | null;
  readonly new: ClauseVerdict['kind'] | null;
}

/** A finding without a request is undecided, whatever its tier. */
export type Direction = 'loosened' | 'stricter' | 'reworded' | 'undecided';

export interface ReportLocation {
  readonly file: string;
  readonly line: number;
}

export interface ReportedFinding {
  /** The files of the owner whose change causes the finding, as `owners.yaml` names them; absent without owners. */
  readonly owner?: string;
  readonly direction: Direction;
  readonly tier: DiffFinding['tier'];
  readonly difference: DiffFinding['difference'];
  readonly from: string;
  readonly to: string;
  readonly actions: readonly string[];
  readonly when: readonly string[];
  readonly causes: readonly (Omit<FindingCause, 'span' | 'side' | 'reads'> & {
    readonly location: ReportLocation | null;
    readonly side: 'old' | 'new';
    readonly reads: readonly string[];
  })[];
  readonly example: ReportedExample | null;
  /** Conditions whose truth the formula guesses; empty when there is an example. */
  readonly guessed: readonly string[];
  /**
   * The requests of the log that meet the finding, and what they ask of people; null when no log was
   * replayed.
   */
  readonly log: FiledRequests | null;
}

/** Totals of the log that was replayed. */
export interface ReportedLog {
  readonly requests: number;
  readonly from: string | null;
  readonly until: string | null;
  /** Number of requests that change but meet no finding. */
  readonly without_finding: number;
  /** What requests ask of people if they meet no finding, unchanged requests included. */
  readonly people_without_finding: TallyResult['otherPeople'];
  /** Number of requests whose finding cannot be told, because digests replace what the sets read. */
  readonly unfiled: number;
  /**
   * Number of requests that cannot be decided, because records leave out secrets that the payload check
   * reads.
   */
  readonly withheld: number;
  /** By fact that a rule reads, the number of requests that lack the fact. */
  readonly unknown_facts: TallyResult['unknownFacts'];
}

interface ReportedExample {
  /** In the form that `writ decide` reads. */
  readonly request: object;
  /** Readings of the old side's meters; null when the two sides have equal readings. */
  readonly old_meters: object | null;
  readonly old: ReportedDecision;
  readonly new: ReportedDecision;
  readonly near: { readonly name: string | null; readonly changed: readonly string[] } | null;
}

interface ReportedDecision {
  readonly decision: string;
  readonly by: string;
  readonly valid_for_seconds: number | null;
  readonly requires: Requirements | null;
  /** What approvals may serve later, by the rules that ask; absent when they serve the request only. */
  readonly standing?: readonly string[];
}

export interface DiffReport {
  readonly old: { readonly name: string; readonly digest: string };
  readonly new: { readonly name: string; readonly digest: string };
  readonly loosened: number;
  readonly stricter: number;
  readonly reworded: number;
  /** Number of findings without a request, and of actions whose findings are not proved complete. */
  readonly undecided: number;
  readonly findings: readonly ReportedFinding[];
  /** Changes of rules that change no decision; read from the rules, and not proved. */
  readonly remarks: readonly ReportedRemark[];
  /** By action, what keeps the findings from being proved complete. */
  readonly limits: PolicyDiff['limits'];
  readonly actions: readonly string[];
  readonly meters: readonly string[];
  /** Groups that may decide by chat up to another risk than before; counted as loosened or stricter. */
  readonly chat_limits: readonly ReportedChatLimit[];
  readonly guarantees: readonly GuaranteeChange[];
  /** Dates between which the proof covers decisions. */
  readonly horizon: { readonly from: string; readonly to: string };
  readonly log: ReportedLog | null;
}

export interface ReportedChatLimit {
  readonly group: string;
  readonly direction: 'loosened' | 'stricter';
  /** The highest risk; null for never by chat. */
  readonly old: number | null;
  readonly new: number | null;
}

/** A change of a rule that changes no decision. */
export interface ReportedRemark extends Omit<DiffRemark, 'span' | 'side' | 'points'> {
  readonly location: ReportLocation | null;
  readonly side: 'old' | 'new';
  readonly points: { readonly old: number; readonly new: number } | null;
}

function remarksBetween({ sides, diff }: SetComparison): readonly ReportedRemark[] {
  const sets = { before: sides.before.set, after: sides.after.set };
  return remarksOf(sets, diff.changed).map(({ span, side, points, ...remark }) => ({
    ...remark,
    location: locationOf(sides[side], span),
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
  const limits = reportedChatLimits({ before: sides.before.set, after: sides.after.set });
  const count = (wanted: Direction): number =>
    [...findings, ...limits].filter(({ direction }) => direction === wanted).length;
  return {
    old: namedSide(sides.before),
    new: namedSide(sides.after),
    loosened: count('loosened'),
    stricter: count('stricter'),
    reworded: count('reworded'),
    undecided: count('undecided') + diff.limits.length,
    findings,
    remarks: remarksBetween(comparison),
    limits: diff.limits,
    actions: diff.actions,
    meters: diff.meters,
    chat_limits: limits,
    guarantees,
    horizon: { from: dateOf(horizon.from), to: dateOf(horizon.to) },
    log: log === null ? null : reportedLog(log),
  };
}

export function reportedChatLimits(sets: BothSides<PolicySet>): readonly ReportedChatLimit[] {
  return chatLimitChanges(sets).map(({ group, maxRisk, isLooser }) => ({
    group,
    direction: isLooser ? 'loosened' : 'stricter',
    old: maxRisk.before,
    new: maxRisk.after,
  }));
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
}: TallyResult): ReportedLog {
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
    direction: example === null ? 'undecided' : directionOf(tier),
    tier,
    difference,
    from,
    to,
    actions,
    when,
    causes: causes.map((cause) => reportedCause(sides, cause)),
    example: example === null ? null : reportedExample(sides, example),
    guessed: [...new Set(guessed.map(shortenCondition))],
    ...ownerOf(sides, causes),
  };
}

/** The owner of the file with the first cause. */
function ownerOf(
  sides: SetComparison['sides'],
  [cause]: DiffFinding['causes'],
): Pick<ReportedFinding, 'owner'> {
  const owners = cause === undefined ? undefined : sides[cause.side].owners;
  const entry = cause === undefined || owners === undefined ? null : entryAbout(owners, cause.span.file);
  return entry === null ? {} : { owner: entry.files };
}

function directionOf(tier: DiffFinding['tier']): Direction {
  if (tier === 6) return 'reworded';
  return tier === 5 ? 'stricter' : 'loosened';
}

function reportedCause(
  sides: SetComparison['sides'],
  { rule, change, span, side, reads }: FindingCause,
): ReportedFinding['causes'][number] {
  const compared = sides[side];
  const readNames = reads.map(({ name, span: at }) => {
    const location = at === null ? null : locationOf(compared, at);
    return location === null ? name : `${name}, ${location.file}:${location.line}`;
  });
  return {
    rule,
    change,
    location: locationOf(compared, span),
    side: side === 'before' ? 'old' : 'new',
    reads: readNames,
  };
}

function locationOf({ sourceOf, shown }: ComparedSide, { file, start }: Span): ReportLocation | null {
  const text = sourceOf(file);
  return text === null ? null : { file: shown(file), line: position(text, start).line };
}

function reportedExample(
  sides: SetComparison['sides'],
  { facts, decisions, near }: DiffExample,
): ReportedExample {
  const [old, now] = [requestJson(facts.before), requestJson(facts.after)];
  const meters = (request: object): object => (request as { readonly meters: object }).meters;
  const isSame = JSON.stringify(meters(old)) === JSON.stringify(meters(now));
  return {
    request: now,
    old_meters: isSame ? null : meters(old),
    old: reportedDecision(sides.before, decisions.before),
    new: reportedDecision(sides.after, decisions.after),
    near,
  };
}

function reportedDecision(
  { set }: ComparedSide,
  { outcome, by, validForSeconds, requires, rules }: DiffExample['decisions']['before'],
): ReportedDecision {
  const standing =
    requires === null ? [] : set.policies.flatMap((policy) => policy.rules).flatMap(standingOf);
  const own = standing.flatMap(({ rule, text }) => (rules.includes(rule) ? [text] : []));
  const decided = { decision: outcome, by, valid_for_seconds: validForSeconds, requires };
  return own.length === 0 ? decided : { ...decided, standing: own };
}

function standingOf({
  id: rule,
  requirement,
}: Rule): readonly { readonly rule: string; readonly text: string }[] {
  if (requirement?.kind !== 'approval' || requirement.standing === undefined) return [];
  return [{ rule, text: standingText(requirement.standing) }];
}

/**
 * The verdict on each claim on both sides. Two claims are the same if they have the same name and the same
 * text.
 */
export function guaranteeChanges(
  { before, after }: SetComparison['sides'],
  diff: PolicyDiff,
): readonly GuaranteeChange[] {
  const verdicts = proveGuarantees(after.set, { isEachAsked: false });
  const now = namedBySide(after, verdicts);
  const knownVerdict = knownOf({ before, after }, diff, now);
  const old = namedBySide(before, proveGuarantees(before.set, { known: knownVerdict, isEachAsked: false }));
  return [...new Map([...old, ...now])].map(([key, { name, text }]) => ({
    name,
    text,
    old: old.get(key)?.kind ?? null,
    new: now.get(key)?.kind ?? null,
  }));
}

interface NamedVerdict extends ClauseVerdict {
  readonly name: string;
  readonly text: string;
}

type ByName = ReadonlyMap<string, NamedVerdict>;

function namedBySide({ sourceOf }: ComparedSide, verdicts: readonly ClauseVerdict[]): ByName {
  return new Map(
    verdicts.map((verdict) => {
      const { name } = verdict.guarantee;
      const text = clauseText(verdict.claim, sourceOf);
      return [`${name} ${text}`, { ...verdict, name, text }];
    }),
  );
}

/**
 * Verdicts on the new side that also hold for the old set: if nothing about the action has changed, the
 * verdict was the same before, and a request that refutes the claim now may have refuted it before. A claim
 * that is proved now was kept before if no finding changes a breaking outcome.
 */
function knownOf({ before, after }: SetComparison['sides'], diff: PolicyDiff, now: ByName): VerdictLookup {
  const { actions: comparedActions, changed } = diff;
  const isCompared = new Set(comparedActions);
  const byText = new Map([...now.values()].map((one) => [canonicalMeaning(one.claim), one]));
  return (claim, action) => {
    const verdicts = byText.get(canonicalMeaning(claim))?.verdicts ?? [];
    const verdict = verdicts.find((one) => one.action === action) ?? null;
    if (verdict === null) return null;
    const isSameClaim = claim.when === null || !readsChanged(claim.when, changed);
    if (!isCompared.has(action) && isSameClaim) return verdict;
    if (verdict.kind === 'proved' && isSameClaim && wasKept(claim, action, { before, after, diff }))
      return verdict;
    if (verdict.kind !== 'refuted') return null;
    const decision = refutation(before.set, claim, verdict.facts);
    return decision === null ? null : { kind: 'refuted', facts: verdict.facts, decision };
  };
}

/** Whether the old set kept a claim that means the same on both sides and is kept now. */
function wasKept(
  claim: GuaranteeClause,
  action: string,
  { before, after, diff }: BothSides<ComparedSide> & { readonly diff: PolicyDiff },
): boolean {
  const breaking = breakingOutcomes(claim);
  if (breaking === null || diff.limits.some((one) => one.action === action)) return false;
  // The claim does not cover requests of another shape or another risk score, so the findings cannot answer
  // for it.
  const [old, own] = [before, after].map(({ set }) => set.actions.get(action)?.shape);
  if (!isAlike(old, own) || (claim.when !== null && mayReadRisk(claim.when))) return false;
  return !diff.findings.some(
    ({ actions, from, to }) => actions.includes(action) && breaking.includes(from) && !breaking.includes(to),
  );
}

/**
 * The outcomes that break the claim, decided with no requirement met; null when these outcomes do not tell.
 */
function breakingOutcomes({ mode, effect, isUnapproved }: GuaranteeClause): readonly Outcome[] | null {
  if (effect === 'ask' || effect === 'standing') return null;
  // A request that waits may pass later, and a refused request stays refused whoever approves.
  if (effect === 'allow' && mode === 'never' && !isUnapproved)
    return outcomes.filter((outcome) => outcome !== 'DENY');
  if (!isUnapproved && effect !== 'deny' && (effect !== 'allow' || mode === 'never')) return null;
  const claimed = clauseOutcomes[effect];
  return outcomes.filter((outcome) => (outcome === claimed) === (mode === 'never'));
}

export function mayReadRisk(when: Expression): boolean {
  return descendants(when).some(({ kind }) => kind === 'risk' || kind === 'let');
}
