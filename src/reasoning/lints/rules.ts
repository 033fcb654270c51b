// Finds what the rules of one action cannot do, with at most one finding for each rule: be true at all, meet
// a grant, escape a denial, or differ from what other rules do anyway. INVARIANT: a finding is proved; a rule
// of which nothing is known has none.

import { asksOnly, timedApprovers } from '../../language/model/approvers.ts';
import { isGuard, isStandingWithin, type Rule } from '../../language/model/policy.ts';
import type { ProofContext } from '../prove/context.ts';
import { type RuleOutcome, ruleOutcomes } from '../prove/outcomes.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { Questions } from './questions.ts';

export interface RuleFinding {
  readonly kind:
    | 'never-true'
    | 'guard-without-allow'
    | 'rule-never-decides'
    | 'rule-duplicated'
    | 'rule-implied';
  readonly rule: Rule;
  /** The rules that are the cause of the finding. */
  readonly by: readonly Rule[];
}

/**
 * A rule with the literal under which it has its effect: an `allow` if it is true, a guard unless it is
 * false.
 */
interface RuleQuery {
  readonly one: RuleOutcome;
  readonly acts: SolverLiteral;
  readonly literals: readonly SolverLiteral[];
}

export interface ActionRules {
  readonly ctx: ProofContext;
  readonly questions: Questions;
  readonly judged: readonly RuleOutcome[];
  /** Holds when some `allow` is true. */
  readonly granted: SolverLiteral;
}

export function actionRules(ctx: ProofContext, questions: Questions): ActionRules {
  const judged = ruleOutcomes(ctx, true);
  const allows = judged.filter(({ rule }) => rule.effect === 'allow');
  return { ctx, questions, judged, granted: ctx.circuit.or(allows.map(({ pair }) => pair.isTrue)) };
}

export function findingsOfRules(of: ActionRules): readonly RuleFinding[] {
  const settled = rulesThatDecide(of);
  const queries = of.judged
    .filter(({ rule }) => !settled.has(rule))
    .map((one): RuleQuery => ({ one, acts: actsOf(one), literals: [actsOf(one)] }));
  const dead = of.questions.amongExcluded(queries).map(({ one }) => finding('never-true', one.rule));
  const live = without(queries, dead).filter(
    ({ one: { rule } }) => rule.effect !== 'risk' && rule.points === 0,
  );
  const stray = strayGuards(live, of);
  const denied = deniedRules(without(live, stray), of);
  const gone = [...dead, ...stray];
  return [...gone, ...denied, ...impliedRules(without(live, [...gone, ...denied]), gone, of)];
}

/** Rules that alone determine the decision of some request; no other question about them is needed. */
function rulesThatDecide({ judged, granted, questions }: ActionRules): ReadonlySet<Rule> {
  const guards = judged.filter(({ rule }) => isGuard(rule));
  const allows = judged.filter(({ rule }) => rule.effect === 'allow');
  const outcomes = [
    ...alone(guards, [granted], questions),
    ...alone(
      allows,
      guards.map((one) => notLiteral(actsOf(one))),
      questions,
    ),
  ];
  return new Set(outcomes.map(({ rule }) => rule));
}

/**
 * The rules that can have their effect when none of the other given rules has. The rules are split into
 * halves, which share the assumption about the other half.
 */
function alone(
  judged: readonly RuleOutcome[],
  assumed: SolverClause,
  questions: Questions,
): readonly RuleOutcome[] {
  const [first] = judged;
  if (first === undefined) return [];
  if (judged.length === 1) return questions.canHold([...assumed, actsOf(first)]) ? [first] : [];
  const middle = judged.length >> 1;
  const [left, right] = [judged.slice(0, middle), judged.slice(middle)];
  const without = (others: readonly RuleOutcome[]): SolverClause => [
    ...assumed,
    ...others.map((one) => notLiteral(actsOf(one))),
  ];
  return [...alone(left, without(right), questions), ...alone(right, without(left), questions)];
}

function without(queries: readonly RuleQuery[], findings: readonly RuleFinding[]): readonly RuleQuery[] {
  const rules = new Set(findings.map(({ rule }) => rule));
  return queries.filter(({ one }) => !rules.has(one.rule));
}

function finding(kind: RuleFinding['kind'], rule: Rule, by: readonly Rule[] = []): RuleFinding {
  return { kind, rule, by };
}

export function actsOf({ rule, pair }: RuleOutcome): SolverLiteral {
  return rule.effect === 'allow' ? pair.isTrue : notLiteral(pair.isFalse);
}

/**
 * Guards that are false for every request that an `allow` grants. A `deny` with a reason is none of them: it
 * explains the refusal.
 */
function strayGuards(
  queries: readonly RuleQuery[],
  { questions, granted }: ActionRules,
): readonly RuleFinding[] {
  const guards = queries.filter(({ one: { rule } }) => isGuard(rule) && !isDenialWithReason(rule));
  return questions
    .amongExcluded(guards.map(({ one, acts }) => ({ one, literals: [acts, granted] })))
    .map(({ one }) => finding('guard-without-allow', one.rule));
}

function isDenialWithReason({ effect, reason }: Rule): boolean {
  return effect === 'deny' && reason !== null;
}

/** Rules that have their effect only on requests that are denied. */
function deniedRules(queries: readonly RuleQuery[], of: ActionRules): readonly RuleFinding[] {
  const denials = of.judged.filter(({ rule }) => rule.effect === 'deny');
  const others = queries.filter(({ one }) => one.rule.effect !== 'deny');
  return replacedBy(others, () => denials, of).map(({ one, by }) =>
    finding('rule-never-decides', one.rule, by),
  );
}

interface Replacement {
  readonly one: RuleOutcome;
  readonly by: readonly Rule[];
}

/** Rules that have no effect when none of the others has: what they do happens anyway. */
function replacedBy(
  queries: readonly RuleQuery[],
  othersOf: (rule: Rule) => readonly RuleOutcome[],
  of: ActionRules,
): readonly Replacement[] {
  const candidates = queries.flatMap(({ one, acts }) => {
    const others = othersOf(one.rule);
    if (others.length === 0) return [];
    const granted = isGuard(one.rule) ? [of.granted] : [];
    return [{ one, others, literals: [acts, ...granted, ...others.map((each) => notLiteral(actsOf(each)))] }];
  });
  return of.questions.amongExcluded(candidates).map(({ one, others, literals, core }) => ({
    one,
    by: neededOf(one, others, { literals, core }, of),
  }));
}

const minimizedMax = 12;

interface Exclusion {
  readonly literals: SolverClause;
  /** Some of the literals that cannot hold together. */
  readonly core: SolverClause;
}

/**
 * The other rules that keep a rule from having an effect of its own; the search for a smallest set is
 * limited.
 */
function neededOf(
  one: RuleOutcome,
  others: readonly RuleOutcome[],
  { literals, core }: Exclusion,
  { questions }: ActionRules,
): readonly Rule[] {
  const base = literals.slice(0, literals.length - others.length);
  let needed = others.filter((each) => core.includes(notLiteral(actsOf(each))));
  const single = needed.find((each) => questions.isExcluded([...base, notLiteral(actsOf(each))]));
  if (single !== undefined) return [single.rule];
  if (needed.length <= minimizedMax) {
    for (const each of needed) {
      const without = needed.filter((other) => other !== each);
      const rest = without.map((other) => notLiteral(actsOf(other)));
      if (questions.isExcluded([...base, ...rest])) needed = without;
    }
  }
  return needed.filter((each) => each !== one).map(({ rule }) => rule);
}

/** Rules that others make needless; of two rules that do the same, the later one. */
function impliedRules(
  queries: readonly RuleQuery[],
  findings: readonly RuleFinding[],
  of: ActionRules,
): readonly RuleFinding[] {
  const gone = new Set(findings.map(({ rule }) => rule));
  const coverersOf = (rule: Rule): readonly RuleOutcome[] =>
    of.judged.filter((other) => !gone.has(other.rule) && covers(other.rule, rule));
  // All other rules are considered at first: a rule that they do not replace is not replaced by fewer of
  // them.
  const candidates = new Set(replacedBy(queries, coverersOf, of).map(({ one }) => one));
  const latestFirst = queries.filter(({ one }) => candidates.has(one)).toReversed();
  return latestFirst.flatMap((each) => {
    const [replaced] = replacedBy([each], coverersOf, of);
    // A guard that no other rule replaces is about nothing that an `allow` grants, which is another finding.
    if (replaced === undefined || (isGuard(each.one.rule) && replaced.by.length === 0)) return [];
    gone.add(each.one.rule);
    const { by } = replaced;
    const isSame = by.length === 1 && areSame(each.one, of.judged.find(({ rule }) => rule === by[0])!, of);
    return [finding(isSame ? 'rule-duplicated' : 'rule-implied', each.one.rule, by)];
  });
}

/**
 * Whether another rule makes a rule needless where both apply. A guard must deny, or require at least as
 * much; an `allow` must require no more and last no longer.
 */
function covers(other: Rule, rule: Rule): boolean {
  if (other === rule) return false;
  if (rule.effect === 'allow')
    return other.effect === 'allow' && asksNoMore(other, rule) && lastsNoLonger(other, rule);
  if (!isGuard(other)) return false;
  return other.effect === 'deny' || (other.effect === rule.effect && asksNoMore(rule, other));
}

function asksNoMore({ requirement: a }: Rule, { requirement: b }: Rule): boolean {
  if (a === null) return true;
  if (a.kind === 'approval' && b?.kind === 'approval')
    return (
      a.groups.every((group) => asksOnly(b, timedApprovers(a, group))) &&
      a.needs <= b.needs &&
      a.except.every((person) => b.except.includes(person)) &&
      a.withinSeconds >= b.withinSeconds &&
      isStandingWithin(b.standing, a.standing)
    );
  if (a.kind !== 'reauth' || b?.kind !== 'reauth') return false;
  // Without a time, the step-up is for the request itself.
  return b.withinSeconds === null || (a.withinSeconds !== null && a.withinSeconds >= b.withinSeconds);
}

function lastsNoLonger({ validForSeconds: a }: Rule, { validForSeconds: b }: Rule): boolean {
  return b === null || (a !== null && a <= b);
}

function areSame(a: RuleOutcome, b: RuleOutcome, { questions }: ActionRules): boolean {
  if (!covers(a.rule, b.rule) || !covers(b.rule, a.rule) || a.rule.effect !== b.rule.effect) return false;
  if (b.rule.points !== 0) return false;
  return (['isTrue', 'isFalse'] as const).every(
    (side) =>
      questions.isExcluded([a.pair[side], notLiteral(b.pair[side])]) &&
      questions.isExcluded([notLiteral(a.pair[side]), b.pair[side]]),
  );
}
