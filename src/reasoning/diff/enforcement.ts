// What a decision says besides its outcome, as gates over the truth of the rules: who is asked, how soon, how long a grant
// holds, and which rule is named. INVARIANT: nothing has been approved, as in the outcomes that it belongs to.

import { defaultValidForSeconds, type Outcome } from '../../language/model/decision.ts';
import type { Requirement, Rule } from '../../language/model/policy.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import type { OutcomeLiterals } from '../prove/outcomes.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';

/** By what is said, the condition under which it is. */
export interface Enforcement {
  /** What its rules may ask for. */
  readonly demands: readonly Demand[];
  readonly isAsked: (demand: Demand) => SolverLiteral;
  /** How long its grants may hold, in seconds. */
  readonly lengths: readonly number[];
  readonly holdsAtMost: (seconds: number) => SolverLiteral;
  /** By rule id or gate. */
  readonly deciders: ReadonlyMap<string, SolverLiteral>;
}

interface EnforcedOutcome {
  /** With payloads of another shape refused. */
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
    deciders: decidersOf(ctx, { truths, granting, decided }),
  };
}

export function isGuard({ effect }: Rule): boolean {
  return effect === 'deny' || effect === 'escalate' || effect === 'reauth';
}

interface Granting {
  readonly rule: Rule;
  /** It is true, and no other that is true comes before it. */
  readonly isChosen: SolverLiteral;
}

const demandOrder = ['nothing', 'approval', 'reauth'] as const;

/** In the order of the definition: what asks for least, for fewest people, and by id. */
function grantingAllows({ circuit }: ProofContext, truths: readonly Truth[]): readonly Granting[] {
  const rank = ({ requirement }: Rule): number => demandOrder.indexOf(requirement?.kind ?? 'nothing');
  const people = ({ requirement }: Rule): number => (requirement?.kind === 'approval' ? requirement.needs : 0);
  const sorted = truths
    .filter(({ rule }) => rule.effect === 'allow')
    .toSorted(
      (a, b) =>
        rank(a.rule) - rank(b.rule) || people(a.rule) - people(b.rule) || (a.rule.id < b.rule.id ? -1 : 1),
    );
  let isEarlier = circuit.no;
  return sorted.map(({ rule, pair }) => {
    const isChosen = circuit.and([pair.isTrue, notLiteral(isEarlier)]);
    isEarlier = circuit.or([isEarlier, pair.isTrue]);
    return { rule, isChosen };
  });
}

function asksOf(
  { circuit }: ProofContext,
  granting: readonly Granting[],
  guards: readonly Truth[],
): Pick<Enforcement, 'demands' | 'isAsked'> {
  const inForce = [
    ...granting.map(({ rule, isChosen }) => ({ rule, literal: isChosen })),
    ...guards.map(({ rule, pair }) => ({ rule, literal: notLiteral(pair.isFalse) })),
  ];
  const askers = inForce.flatMap(({ rule, literal }) =>
    rule.requirement === null ? [] : [{ requirement: rule.requirement, literal }],
  );
  const demands = askers.flatMap(({ requirement }) => demandsOf(requirement));
  return {
    demands: [...new Map(demands.map((demand) => [demand.key, demand])).values()],
    isAsked: ({ isMetBy }) =>
      circuit.or(askers.filter(({ requirement }) => isMetBy(requirement)).map(({ literal }) => literal)),
  };
}

/** Something that a decision may ask for. */
export interface Demand {
  readonly key: string;
  /** Whether a requirement asks at least for this. */
  readonly isMetBy: (requirement: Requirement) => boolean;
}

const thisVery = -1;

function demandsOf(requirement: Requirement): readonly Demand[] {
  if (requirement.kind === 'approval') {
    const { group, needs, withinSeconds } = requirement;
    const isOfGroup = (one: Requirement): one is Extract<Requirement, { readonly kind: 'approval' }> =>
      one.kind === 'approval' && one.group === group;
    return [
      { key: `${group} needs ${needs}`, isMetBy: (one) => isOfGroup(one) && one.needs >= needs },
      {
        key: `${group} within ${withinSeconds}`,
        isMetBy: (one) => isOfGroup(one) && one.withinSeconds <= withinSeconds,
      },
    ];
  }
  const within = requirement.withinSeconds ?? thisVery;
  return [
    {
      key: `step-up within ${within}`,
      isMetBy: (one) => one.kind === 'reauth' && (one.withinSeconds ?? thisVery) <= within,
    },
  ];
}

/** The shortest of what allows that hold say; what is usual where none says anything. */
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

interface Deciding {
  readonly truths: readonly Truth[];
  readonly granting: readonly Granting[];
  readonly decided: EnforcedOutcome;
}

interface Candidate {
  readonly rule: Rule;
  readonly literal: SolverLiteral;
}

function decidersOf(
  ctx: ProofContext,
  { truths, granting, decided }: Deciding,
): ReadonlyMap<string, SolverLiteral> {
  const { circuit } = ctx;
  const { ruled, isValid } = decided;
  const isGranted = circuit.or(granting.map(({ isChosen }) => isChosen));
  const found = new Map<string, SolverLiteral>([['invalid_payload', notLiteral(isValid)]]);
  const add = (id: string, literal: SolverLiteral): void =>
    void found.set(id, circuit.or([found.get(id) ?? circuit.no, circuit.and([isValid, literal])]));
  const nothing = rankedFirst(ctx, candidatesOf(truths, 'deny', 'definite'), notLiteral(isGranted));
  for (const [id, literal] of nothing.first) add(id, literal);
  add('default_deny', nothing.none);
  for (const [outcome, demand] of demandOfOutcome) {
    const own = granting
      .filter(({ rule }) => (rule.requirement?.kind ?? 'nothing') === demand)
      .map(({ rule, isChosen }) => ({ rule, literal: isChosen }));
    const when = circuit.and([isGranted, ruled[outcome]]);
    const definite = rankedFirst(ctx, [...own, ...candidatesOf(truths, demand, 'definite')], when);
    const open = rankedFirst(ctx, candidatesOf(truths, demand, 'unknown', circuit), definite.none);
    for (const [id, literal] of [...definite.first, ...open.first]) add(id, literal);
  }
  return found;
}

const demandOfOutcome = [
  ['ALLOW', 'nothing'],
  ['ESCALATE', 'approval'],
  ['REAUTH_REQUIRED', 'reauth'],
  ['DENY', 'deny'],
] as const satisfies readonly (readonly [Outcome, string])[];

function candidatesOf(
  truths: readonly Truth[],
  demand: string,
  which: 'definite' | 'unknown',
  circuit?: ProofContext['circuit'],
): readonly Candidate[] {
  const guards = truths.filter(({ rule }) => isGuard(rule) && demandOf(rule) === demand);
  return guards.map(({ rule, pair }) => ({
    rule,
    literal:
      which === 'definite' ? pair.isTrue : circuit!.and([notLiteral(pair.isTrue), notLiteral(pair.isFalse)]),
  }));
}

function demandOf({ effect, requirement }: Rule): string {
  return effect === 'deny' ? 'deny' : (requirement?.kind ?? 'nothing');
}

/** The first in the order of the definition: the largest own risk, then the smallest id. */
function rankedFirst(
  { circuit }: ProofContext,
  candidates: readonly Candidate[],
  when: SolverLiteral,
): { readonly first: readonly (readonly [string, SolverLiteral])[]; readonly none: SolverLiteral } {
  const sorted = candidates.toSorted(
    (a, b) => b.rule.points - a.rule.points || (a.rule.id < b.rule.id ? -1 : 1),
  );
  let left = when;
  const first = sorted.map(({ rule, literal }) => {
    const isFirst = circuit.and([left, literal]);
    left = circuit.and([left, notLiteral(literal)]);
    return [rule.id, isFirst] as const;
  });
  return { first, none: left };
}
