// One way in which two policy sets decide differently: which decisions change, for which requests, because of
// which rules, with an example that the definition decided for both sides. For any two decisions about a
// request, a finding can determine whether the request belongs to it.

import type { Span } from '../../language/diagnostic/span.ts';
import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import type { PolicySet, Requirement } from '../../language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { unknown } from '../../language/model/value.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { askingOf } from '../../language/spec/guarantee-clause.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { memo } from '../../language/value/memo.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { CauseChange } from './causes.ts';
import { type BothSides, type DiffSide, type JointSet, sides } from './joint-set.ts';
import type { Region, RegionKind, SidedDecision } from './regions.ts';
import { isReadable } from './shapes.ts';

export interface DiffFinding extends RegionKind {
  /** Sorted; equal findings of several actions are joined into one. */
  readonly actions: readonly string[];
  /**
   * The conditions under which the finding applies, all of which hold; empty when every request between the
   * two decisions changes.
   */
  readonly when: readonly string[];
  readonly causes: readonly FindingCause[];
  /** Null when the formula admits such requests, but none was found that the definition decides this way. */
  readonly example: DiffExample | null;
  /** Conditions whose truth the formula guesses; empty when there is an example. */
  readonly guessed: readonly string[];
  /** Whether a request belongs to the finding. */
  readonly isMetBy: (request: FindingRequest) => boolean;
}

export interface FindingRequest extends BothSides<Facts> {
  /** Whether digests replace the payload's secrets; a digest counts as a value of the declared type. */
  readonly holdsDigests?: boolean;
}

export interface FindingCause {
  /** Id of the rule; null when the cause is the action itself or its shape. */
  readonly rule: string | null;
  readonly change: CauseChange;
  readonly span: Span;
  /** The side whose file `span` lies in. */
  readonly side: DiffSide;
  /** Changed declarations that the rule reads, such as `let single_limit`. */
  readonly reads: readonly { readonly name: string; readonly span: Span | null }[];
}

export interface DiffExample {
  /** The request on both sides, equal except for readings of changed meters. */
  readonly facts: BothSides<Facts>;
  readonly decisions: BothSides<Decision>;
  /**
   * The known request that the example was made from, and the paths in which they differ; null when no
   * request was known.
   */
  readonly near: { readonly name: string | null; readonly changed: readonly string[] } | null;
}

/** One condition of a finding and the truths it may have: true, false, unknown, or two of the three. */
export interface FindingTerm {
  readonly expression: Expression;
  readonly side: DiffSide;
  readonly truths: readonly SpecTruth[];
}

/**
 * Whether two decisions about one request belong to the region, and the conditions have the truths of the
 * terms.
 */
export function isOfRegion(
  ofValues: JointSet,
  { region, terms }: { readonly region: Region; readonly terms: readonly FindingTerm[] },
  request: FindingRequest,
): boolean {
  const joint = request.holdsDigests === true ? ofDigests(ofValues) : ofValues;
  const decided = decidedOnce(joint, request);
  if (!region.isMetBy(decided)) return false;
  // When a side does not declare the action, its conditions have no truth.
  const isJudged = sides.every((side) => decided[side].decision.by !== 'undeclared_action');
  return (
    !isJudged ||
    terms.every((term) => term.truths.includes(truthOf(joint, term, { requests: request, decided })))
  );
}

const opened = new WeakMap<JointSet, JointSet>();

/** The same rules over payloads in which a digest replaces each secret. */
function ofDigests(joint: JointSet): JointSet {
  return memo(opened, joint, ({ original, ...rest }) => ({
    ...rest,
    original: { before: withDigests(original.before), after: withDigests(original.after) },
  }));
}

function withDigests(set: PolicySet): PolicySet {
  const actions = [...set.actions].map(
    ([key, action]) => [key, { ...action, shape: withoutSecretTypes(action.shape) }] as const,
  );
  return { ...set, actions: new Map(actions) };
}

const decisions = new WeakMap<JointSet, WeakMap<BothSides<Facts>, BothSides<SidedDecision>>>();

/**
 * The decisions of both sides, cached by facts, because each finding is asked about the same request in turn.
 */
export function decidedOnce(joint: JointSet, request: BothSides<Facts>): BothSides<SidedDecision> {
  const decisionsBySides = memo(
    decisions,
    joint,
    () => new WeakMap<BothSides<Facts>, BothSides<SidedDecision>>(),
  );
  return memo(decisionsBySides, request, () => ({
    before: decide(joint.original.before, request.before),
    after: decide(joint.original.after, request.after),
  }));
}

function decide(set: PolicySet, request: Facts): SidedDecision {
  const facts = { ...request, satisfied: nothingSatisfied };
  const decision = authorize(set, facts);
  let holds: { readonly seconds: number | null } | null = null;
  let asking: readonly Requirement[] | null = null;
  return {
    decision,
    // Computed on demand: few callers need the value, and it takes another decision.
    get holdsSeconds() {
      holds ??= { seconds: holdsOf(set, facts, decision) };
      return holds.seconds;
    },
    get asking() {
      asking ??= askingOf(set, decision);
      return asking;
    },
  };
}

/** Seconds that a grant holds; for a request that waits, once everything is met. */
function holdsOf(set: PolicySet, facts: Facts, { outcome, validForSeconds }: Decision): number | null {
  if (outcome === 'ALLOW' || outcome === 'DENY') return validForSeconds;
  const ids = set.policies.flatMap(({ rules, actions }) =>
    actions.includes(facts.action) ? rules.map(({ id }) => id) : [],
  );
  return authorize(set, { ...facts, satisfied: { escalate: ids, reauth: ids } }).validForSeconds;
}

interface DecidedPair {
  readonly requests: BothSides<Facts>;
  readonly decided: BothSides<SidedDecision>;
}

function truthOf(
  joint: JointSet,
  { expression, side }: FindingTerm,
  { requests, decided }: DecidedPair,
): SpecTruth {
  const facts = resolveFacts(joint.original[side], jointFacts(joint, requests[side], requests));
  const { risk } = decided[side].decision;
  if (!isReadable(expression, facts)) return unknown;
  return evaluateCondition(expression, { set: joint.set, facts, risk, variables: new Map() });
}

/** The facts with the readings of both sides, by the meters' names in the joint set. */
export function jointFacts({ meters }: JointSet, facts: Facts, requestFacts: BothSides<Facts>): Facts {
  const readings = sides.flatMap((side) =>
    [...meters[side]].flatMap(([joint, own]) => {
      const reading = requestFacts[side].meters[own];
      return reading === undefined ? [] : [[joint, reading] as const];
    }),
  );
  return { ...facts, meters: Object.fromEntries(readings) };
}

/** Facts of the joint set, with the readings of each side under the side's own meter names. */
export function sidedFacts({ meters }: JointSet, facts: Facts): BothSides<Facts> {
  const of = (side: DiffSide): Facts => ({
    ...facts,
    meters: Object.fromEntries(
      [...meters[side]].flatMap(([joint, own]) => {
        const reading = facts.meters[joint];
        return reading === undefined ? [] : [[own, reading] as const];
      }),
    ),
  });
  return { before: of('before'), after: of('after') };
}

/** The terms with each condition once; its truths are those that all terms of the condition admit. */
export function termsIn(terms: readonly FindingTerm[]): readonly FindingTerm[] {
  const byText = new Map<string, FindingTerm>();
  for (const term of terms) {
    const key = `${term.side} ${canonicalMeaning(term.expression)}`;
    const before = byText.get(key)?.truths;
    const truths = term.truths.filter((truth) => before?.includes(truth) !== false);
    byText.set(key, { ...term, truths });
  }
  return [...byText.values()];
}

// ---- for the formula of any problem about the same action

/** A new literal; if it holds, at least one term of each of these findings fails. */
export function excludeFindings(
  ctx: ProofContext,
  findings: readonly { readonly terms: readonly FindingTerm[] }[],
): SolverLiteral {
  const literal = ctx.circuit.free(true);
  for (const { terms } of findings)
    ctx.circuit.require([notLiteral(literal), ...terms.flatMap((term) => failing(ctx, term))]);
  return literal;
}

/** Literals of which at least one holds when the term fails. */
function failing(ctx: ProofContext, { expression, truths }: FindingTerm): readonly SolverLiteral[] {
  const { isTrue, isFalse } = ctx.lower(expression, noElements);
  const { circuit } = ctx;
  const others = ([true, false] as readonly SpecTruth[]).filter((truth) => !truths.includes(truth));
  const isUnknown = circuit.and([notLiteral(isTrue), notLiteral(isFalse)]);
  const isOther = others.map((truth) => (truth === true ? isTrue : isFalse));
  const includesUnknown = truths.some((truth) => typeof truth !== 'boolean');
  return includesUnknown ? isOther : [...isOther, isUnknown];
}
