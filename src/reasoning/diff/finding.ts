// One way in which two policy sets decide otherwise: which decisions turn, for which requests, because of which rules, and
// a request that both definitions have decided. Whether a request is one of a finding can be asked of any two decisions.

import type { Span } from '../../language/diagnostic/span.ts';
import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { unknown } from '../../language/model/value.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
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
  /** Sorted; one finding may hold for several alike. */
  readonly actions: readonly string[];
  /** The conditions, all of which hold where it does; none where it is every request that turns so. */
  readonly when: readonly string[];
  readonly causes: readonly FindingCause[];
  /** Null: the formula admits such requests, and none was found that the definition decides so. */
  readonly example: DiffExample | null;
  /** Conditions that were guessed, where there is no example. */
  readonly guessed: readonly string[];
  /** Whether a request of one of the actions is one of these. */
  readonly isMetBy: (asked: AskedRequest) => boolean;
}

export interface AskedRequest extends BothSides<Facts> {
  /** In its payload digests stand for secrets, which are of the declared shape then. */
  readonly holdsDigests?: boolean;
}

export interface FindingCause {
  /** Id of the rule; null where the action itself, or its shape, is the cause. */
  readonly rule: string | null;
  readonly change: CauseChange;
  readonly span: Span;
  /** Which side's file the place is in. */
  readonly side: DiffSide;
  /** What the rule reads and that says something else, such as `let single_limit`. */
  readonly reads: readonly { readonly name: string; readonly span: Span | null }[];
}

export interface DiffExample {
  /** The same but for readings of meters that say something else. */
  readonly facts: BothSides<Facts>;
  readonly decisions: BothSides<Decision>;
  /** The request that people know and that it was made of, and where it is another. */
  readonly near: { readonly name: string; readonly changed: readonly string[] } | null;
}

/** What one condition of a finding has to be: true, false or unknown, or one of two of these. */
export interface FindingTerm {
  readonly expression: Expression;
  readonly side: DiffSide;
  readonly truths: readonly SpecTruth[];
}

/** Whether two decisions about one request are of the region, and the conditions come out as they do in it. */
export function isOfRegion(
  ofValues: JointSet,
  { region, terms }: { readonly region: Region; readonly terms: readonly FindingTerm[] },
  asked: AskedRequest,
): boolean {
  const joint = asked.holdsDigests === true ? ofDigests(ofValues) : ofValues;
  const decided = decidedOnce(joint, asked);
  if (!region.isMetBy(decided)) return false;
  // What lies outside of the declared shape has no truth.
  const isJudged = sides.every((side) => decided[side].decision.by !== 'undeclared_action');
  return !isJudged || terms.every((term) => term.truths.includes(truthOf(joint, term, { asked, decided })));
}

const opened = new WeakMap<JointSet, JointSet>();

/** The same rules of payloads in which a digest stands for each secret. */
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

/** One request is asked of each finding in turn, and need not be decided as often. */
export function decidedOnce(joint: JointSet, asked: BothSides<Facts>): BothSides<SidedDecision> {
  const known = memo(decisions, joint, () => new WeakMap<BothSides<Facts>, BothSides<SidedDecision>>());
  return memo(known, asked, () => ({
    before: decide(joint.original.before, asked.before),
    after: decide(joint.original.after, asked.after),
  }));
}

function decide(set: PolicySet, asked: Facts): SidedDecision {
  const facts = { ...asked, satisfied: nothingSatisfied };
  const decision = authorize(set, facts);
  let holds: { readonly seconds: number | null } | null = null;
  return {
    decision,
    // Few ask for it, and it takes another decision.
    get holdsSeconds() {
      holds ??= { seconds: holdsOf(set, facts, decision) };
      return holds.seconds;
    },
  };
}

/** How long a grant holds, also of a request that waits. */
function holdsOf(set: PolicySet, facts: Facts, { outcome, validForSeconds }: Decision): number | null {
  if (outcome === 'ALLOW' || outcome === 'DENY') return validForSeconds;
  const ids = set.policies.flatMap(({ rules, actions }) =>
    actions.includes(facts.action) ? rules.map(({ id }) => id) : [],
  );
  return authorize(set, { ...facts, satisfied: { escalate: ids, reauth: ids } }).validForSeconds;
}

interface Asked {
  readonly asked: BothSides<Facts>;
  readonly decided: BothSides<SidedDecision>;
}

function truthOf(joint: JointSet, { expression, side }: FindingTerm, { asked, decided }: Asked): SpecTruth {
  const facts = resolveFacts(joint.original[side], jointFacts(joint, asked[side], asked));
  const { risk } = decided[side].decision;
  if (!isReadable(expression, facts)) return unknown;
  return evaluateCondition(expression, { set: joint.set, facts, risk, variables: new Map() });
}

/** Facts with the readings of both sides, by their names in the joint set. */
export function jointFacts({ meters }: JointSet, facts: Facts, asked: BothSides<Facts>): Facts {
  const readings = sides.flatMap((side) =>
    [...meters[side]].flatMap(([joint, own]) => {
      const reading = asked[side].meters[own];
      return reading === undefined ? [] : [[joint, reading] as const];
    }),
  );
  return { ...facts, meters: Object.fromEntries(readings) };
}

/** The facts of the joint set as each side knows them. */
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

/** Each condition once, as narrowly as its literals say together. */
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

// ---- in the formula of any problem about the same action

/** Where it holds, of each of these not all terms do. */
export function elsewhereThanAll(
  ctx: ProofContext,
  found: readonly { readonly terms: readonly FindingTerm[] }[],
): SolverLiteral {
  const own = ctx.circuit.free(true);
  for (const { terms } of found)
    ctx.circuit.require([notLiteral(own), ...terms.flatMap((term) => failing(ctx, term))]);
  return own;
}

/** Literals of which one holds where the term does not. */
function failing(ctx: ProofContext, { expression, truths }: FindingTerm): readonly SolverLiteral[] {
  const { isTrue, isFalse } = ctx.lower(expression, noElements);
  const { circuit } = ctx;
  const others = ([true, false] as readonly SpecTruth[]).filter((truth) => !truths.includes(truth));
  const isUnknown = circuit.and([notLiteral(isTrue), notLiteral(isFalse)]);
  const isOther = others.map((truth) => (truth === true ? isTrue : isFalse));
  const includesUnknown = truths.some((truth) => typeof truth !== 'boolean');
  return includesUnknown ? isOther : [...isOther, isUnknown];
}
