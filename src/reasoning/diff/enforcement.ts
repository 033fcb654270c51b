// The parts of a decision besides its outcome, as gates over the truth of the rules: the people asked, the
// deadline, the lifetime of a grant, and the named rule. INVARIANT: no requirement has been met, as in the
// outcome literals used with these gates.

import { asksOnly, type TimedApprover, timedApprovers } from '../../language/model/approvers.ts';
import { defaultValidForSeconds, type Outcome } from '../../language/model/decision.ts';
import { standingText } from '../../language/model/describe.ts';
import { isGuard, isStandingWithin, type Requirement, type Rule } from '../../language/model/policy.ts';
import { nothingSatisfied } from '../../language/model/request.ts';
import { preference } from '../../language/spec/authorize.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { type DemandKind, demandOf, type OutcomeLiterals } from '../prove/outcomes.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';

/** For each thing that a decision may ask for or hold, the literal under which the decision does so. */
export interface Enforcement {
  /** Everything that the side's rules may ask for. */
  readonly demands: readonly Demand[];
  readonly isAsked: (demand: Demand) => SolverLiteral;
  /** The lengths, in seconds, for which the side's grants may hold. */
  readonly lengths: readonly number[];
  readonly holdsAtMost: (seconds: number) => SolverLiteral;
  /** By rule id, whether the decision names the rule; only for the given ids that a decision may name. */
  readonly named: (ids: ReadonlySet<string>) => ReadonlyMap<string, SolverLiteral>;
}

interface EnforcedOutcome {
  /** The outcome when payloads of another shape are refused; `ruled` is the outcome by the rules alone. */
  readonly outcome: OutcomeLiterals;
  readonly ruled: OutcomeLiterals;
  readonly isValid: SolverLiteral;
}

interface Truth {
  readonly rule: Rule;
  readonly pair: Pair;
}

export function enforcementOf(ctx: ProofContext, decided: EnforcedOutcome): Enforcement {
  const truths = ctx.rules.map((rule): Truth => ({ rule, pair: ctx.lower(rule.condition, noElements) }));
  const granting = grantingAllows(ctx, truths);
  const guards = truths.filter(({ rule }) => isGuard(rule));
  return {
    ...asksOf(ctx, granting, guards),
    ...lengthsOf(ctx, truths),
    named: (ids) => namedOf(ctx, { truths, granting, decided }, ids),
  };
}

interface GrantLiteral {
  readonly rule: Rule;
  /** The allow is true, and no allow that comes before it is true. */
  readonly isChosen: SolverLiteral;
}

/** The allows in the definition's order. */
function grantingAllows({ circuit }: ProofContext, truths: readonly Truth[]): readonly GrantLiteral[] {
  const order = preference(nothingSatisfied);
  const sorted = truths
    .filter(({ rule }) => rule.effect === 'allow')
    .toSorted((a, b) => order(a.rule, b.rule));
  let isEarlier = circuit.no;
  return sorted.map(({ rule, pair }) => {
    const isChosen = circuit.and([pair.isTrue, notLiteral(isEarlier)]);
    isEarlier = circuit.or([isEarlier, pair.isTrue]);
    return { rule, isChosen };
  });
}

function asksOf(
  { circuit }: ProofContext,
  granting: readonly GrantLiteral[],
  guards: readonly Truth[],
): Pick<Enforcement, 'demands' | 'isAsked'> {
  const demanding = [
    ...granting.map(({ rule, isChosen }) => ({ rule, literal: isChosen })),
    ...guards.map(({ rule, pair }) => ({ rule, literal: notLiteral(pair.isFalse) })),
  ];
  const askers = demanding.flatMap(({ rule, literal }) =>
    rule.requirement === null ? [] : [{ requirement: rule.requirement, literal }],
  );
  const demands = askers.flatMap(({ requirement }) => demandsOf(requirement));
  return {
    demands: [...new Map(demands.map((demand) => [demand.key, demand])).values()],
    isAsked: ({ isMetBy }) =>
      circuit.or(askers.filter(({ requirement }) => isMetBy(requirement)).map(({ literal }) => literal)),
  };
}

/**
 * Something that a decision may ask for: a group with its exclusions, number of people or time, or a step-up.
 */
export interface Demand {
  readonly key: string;
  /** Whether a requirement asks for this demand or for more. */
  readonly isMetBy: (requirement: Requirement) => boolean;
}

const thisVery = -1;

function demandsOf(requirement: Requirement): readonly Demand[] {
  if (requirement.kind === 'approval') {
    const { needs, withinSeconds, except } = requirement;
    return requirement.groups.flatMap((group) => {
      const approvers = timedApprovers(requirement, group);
      const key = keyOf(approvers);
      return [
        ...except.map((person) => ({
          key: `${key} except ${person}`,
          isMetBy: (one: Requirement) => asksAmong(one, approvers) && one.except.includes(person),
        })),
        {
          key: `${key} needs ${needs}`,
          isMetBy: (one: Requirement) => asksAmong(one, approvers) && one.needs >= needs,
        },
        {
          key: `${key} within ${withinSeconds}`,
          isMetBy: (one: Requirement) => asksAmong(one, approvers) && one.withinSeconds <= withinSeconds,
        },
        standingDemand(requirement, group),
      ];
    });
  }
  const within = requirement.withinSeconds ?? thisVery;
  return [
    {
      key: `step-up within ${within}`,
      isMetBy: (one) => one.kind === 'reauth' && (one.withinSeconds ?? thisVery) <= within,
    },
  ];
}

type ApprovalOf = Extract<Requirement, { readonly kind: 'approval' }>;

function keyOf(approvers: readonly TimedApprover[]): string {
  const texts = approvers.map(({ text, afterSeconds }) =>
    afterSeconds === 0 ? text : `${text} after ${afterSeconds}`,
  );
  return texts.join(' or ');
}

/** That an approval by these approvers serves later requests no more widely than here. */
function standingDemand(requirement: ApprovalOf, group: string): Demand {
  const { standing } = requirement;
  const approvers = timedApprovers(requirement, group);
  return {
    key: `${keyOf(approvers)} ${standing === undefined ? 'standing for nothing' : standingText(standing)}`,
    isMetBy: (one) => asksAmong(one, approvers) && isStandingWithin(one.standing, standing),
  };
}

/** Whether each approval that serves later requests serves them no more widely than an approval of `others`. */
export function areStandingWithin(asking: readonly Requirement[], others: readonly Requirement[]): boolean {
  const isWithin = (one: ApprovalOf) => (other: Requirement) =>
    other.kind === 'approval' &&
    isStandingWithin(one.standing, other.standing) &&
    other.groups.some((group) => asksAmong(one, timedApprovers(other, group)));
  return asking.every(
    (one) => one.kind !== 'approval' || one.standing === undefined || others.some(isWithin(one)),
  );
}

/** Whether a requirement asks nobody but these approvers for one of its groups, and none sooner. */
function asksAmong(one: Requirement, approvers: readonly TimedApprover[]): one is ApprovalOf {
  return one.kind === 'approval' && asksOnly(one, approvers);
}

/**
 * A grant holds for the shortest validity of the true allows, or for the default when no true allow sets a
 * validity.
 */
function lengthsOf(
  { circuit }: ProofContext,
  truths: readonly Truth[],
): Pick<Enforcement, 'lengths' | 'holdsAtMost'> {
  const saying = truths.filter(({ rule }) => rule.effect === 'allow' && rule.validForSeconds !== null);
  const isSaid = circuit.or(saying.map(({ pair }) => pair.isTrue));
  return {
    lengths: [...new Set([defaultValidForSeconds, ...saying.map(({ rule }) => rule.validForSeconds!)])],
    holdsAtMost: (seconds) => {
      const short = saying.filter(({ rule }) => rule.validForSeconds! <= seconds);
      const isDefault = seconds >= defaultValidForSeconds ? notLiteral(isSaid) : circuit.no;
      return circuit.or([...short.map(({ pair }) => pair.isTrue), isDefault]);
    },
  };
}

interface DecidedCandidate {
  readonly truths: readonly Truth[];
  readonly granting: readonly GrantLiteral[];
  readonly decided: EnforcedOutcome;
}

interface Candidate {
  readonly rule: Rule;
  readonly isDefinite: SolverLiteral;
  readonly isUnknown: SolverLiteral;
}

const outcomeOfDemand = {
  nothing: 'ALLOW',
  approval: 'ESCALATE',
  reauth: 'REAUTH_REQUIRED',
  deny: 'DENY',
} as const satisfies Readonly<Record<DemandKind, Outcome>>;

/**
 * By id, whether the decision names the rule. Among rules with the same demand, a definite rule comes before
 * an unknown one, then the largest own risk counts, then the smallest id. The gates of each rule in `ids`
 * build on those of the rule before, so that their number grows in line with the rules.
 */
function namedOf(
  ctx: ProofContext,
  deciding: DecidedCandidate,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, SolverLiteral> {
  const { circuit } = ctx;
  const { granting, decided } = deciding;
  const isGranted = circuit.or(granting.map(({ isChosen }) => isChosen));
  const named = new Map<string, SolverLiteral>();
  for (const [demand, outcome] of Object.entries(outcomeOfDemand) as [DemandKind, Outcome][]) {
    const candidates = candidatesFor(ctx, deciding, demand);
    const isSomeDefinite = circuit.or(candidates.map(({ isDefinite }) => isDefinite));
    let [isDefiniteEarlier, isUnknownEarlier, from] = [circuit.no, circuit.no, 0];
    for (const [index, own] of candidates.entries()) {
      if (!ids.has(own.rule.id)) continue;
      const passed = candidates.slice(from, index);
      from = index;
      isDefiniteEarlier = circuit.or([isDefiniteEarlier, ...passed.map(({ isDefinite }) => isDefinite)]);
      isUnknownEarlier = circuit.or([isUnknownEarlier, ...passed.map(({ isUnknown }) => isUnknown)]);
      const isFirstDefinite = circuit.and([own.isDefinite, notLiteral(isDefiniteEarlier)]);
      const isFirstUnknown = circuit.and([
        own.isUnknown,
        notLiteral(isSomeDefinite),
        notLiteral(isUnknownEarlier),
      ]);
      // When no allow grants the request, the decision names a deny only if it is true.
      const isFirst = circuit.or([isFirstDefinite, circuit.and([isGranted, isFirstUnknown])]);
      const isAtStake = demand === 'deny' ? circuit.yes : isGranted;
      named.set(own.rule.id, circuit.and([decided.isValid, decided.ruled[outcome], isAtStake, isFirst]));
    }
  }
  return named;
}

function candidatesFor(
  { circuit }: ProofContext,
  { truths, granting }: DecidedCandidate,
  demand: DemandKind,
): readonly Candidate[] {
  const allows = granting.map(({ rule, isChosen }) => ({
    rule,
    isDefinite: isChosen,
    isUnknown: circuit.no,
  }));
  const guards = truths
    .filter(({ rule }) => isGuard(rule))
    .map(({ rule, pair: { isTrue, isFalse } }) => ({
      rule,
      isDefinite: isTrue,
      isUnknown: circuit.and([notLiteral(isTrue), notLiteral(isFalse)]),
    }));
  return [...allows, ...guards]
    .filter(({ rule }) => demandOf(rule) === demand)
    .toSorted((a, b) => b.rule.points - a.rule.points || (a.rule.id < b.rule.id ? -1 : 1));
}
