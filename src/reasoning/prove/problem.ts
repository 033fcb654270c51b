// One action as a formula that admits every request of the declared shape and derives the decision.
// INVARIANT: the formula admits at least everything that can happen. A part that is not understood makes the
// formula admit more, so that proofs still hold; deciding the request of a model reveals what was admitted in
// excess.

import { approversFor, approverText, namingValues } from '../../language/model/approvers.ts';
import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import {
  type Approver,
  type AskClause,
  type GuaranteeClause,
  isGuard,
  type NamedApprover,
  type Policy,
  type PolicySet,
  type Rule,
} from '../../language/model/policy.ts';
import { nothingSatisfied } from '../../language/model/request.ts';
import { booleanType, enumeration } from '../../language/model/type.ts';
import { preference } from '../../language/spec/authorize.ts';
import { clauseOutcomes } from '../../language/spec/guarantee-clause.ts';
import { memo } from '../../language/value/memo.ts';
import { cutLeaf } from '../cells/cut.ts';
import { type Faults, noFaults } from '../cells/faults.ts';
import type { Leaf } from '../cells/leaf.ts';
import { Circuit } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { noElements, type ProofContext } from './context.ts';
import { linkEqualities, shareTexts } from './equality.ts';
import { noteFolds } from './folded.ts';
import { lowerCondition } from './lower.ts';
import { type OutcomeLiterals, outcomesOf, type RuleOutcome, ruleOutcomes } from './outcomes.ts';
import { countElements } from './quantifiers.ts';

export interface ProofProblem {
  readonly ctx: ProofContext;
  /** The outcomes, with any requirements met. */
  readonly outcomes: OutcomeLiterals;
  /** By claim, a literal that holds if the request breaks the claim. */
  readonly broken: readonly SolverLiteral[];
}

export interface ProofProblemOptions {
  readonly isCoarse?: boolean;
  /** The rules to use instead of all enforced rules of the action. */
  readonly rules?: readonly Rule[] | undefined;
  readonly faults?: Faults;
}

export function createProblem(
  set: PolicySet,
  action: string,
  { claims = [], ...options }: ProofProblemOptions & { readonly claims?: readonly GuaranteeClause[] } = {},
): ProofProblem {
  const ctx = createContext(set, action, options);
  countElements(ctx, conditionsOf(ctx, claims));
  noteFolds(ctx, conditionsOf(ctx, claims));
  const outcomes = outcomesOf(ctx, false);
  const broken = claims.map((claim) => breaks(ctx, claim));
  finishProblem(ctx);
  return { ctx, outcomes, broken };
}

/**
 * The context for the action's enforced rules, with an empty formula. Throws when the set does not declare
 * the action.
 */
export function createContext(
  set: PolicySet,
  key: string,
  { isCoarse = false, faults = noFaults, rules = enforcedOf(set, key) }: ProofProblemOptions,
): ProofContext {
  const action = set.actions.get(key);
  if (action === undefined) throw new Error(`no action ${key} is declared`);
  const ctx: ProofContext = {
    set,
    action,
    rules,
    circuit: new Circuit(),
    faults,
    isCoarse,
    leftOpen: new Set(),
    lower: (condition, elements) => lowerCondition(ctx, condition, elements),
    leaves: new Map(),
    lists: new Map(),
    meters: new Map(),
    equalities: new Map(),
    satisfied: new Map(),
    guesses: new Map(),
    bounds: new Map(),
    sums: new Map(),
    dates: [],
    rests: new Map(),
    lemmas: [],
    numbers: new Map(),
    inequalities: null,
    conditions: [],
    known: new Map(),
    lowered: new Map(),
    elementsOf: new Map(),
    folds: { areRead: false },
    bounded: new Set(),
    beforeCut: [],
    afterCut: [],
  };
  return ctx;
}

const policiesByAction = new WeakMap<PolicySet, ReadonlyMap<string, readonly Policy[]>>();
const enforced = new WeakMap<PolicySet, Map<string, readonly Rule[]>>();

/** The action's rules that are not in shadow, in the order of the set; returns the same array each time. */
export function enforcedOf(set: PolicySet, action: string): readonly Rule[] {
  const byAction = memo(enforced, set, () => new Map<string, readonly Rule[]>());
  return memo(byAction, action, () =>
    (memo(policiesByAction, set, groupedByAction).get(action) ?? [])
      .flatMap(({ rules }) => rules)
      .filter(({ isShadow }) => !isShadow),
  );
}

function groupedByAction({ policies }: PolicySet): ReadonlyMap<string, readonly Policy[]> {
  const byAction = new Map<string, Policy[]>();
  for (const policy of policies)
    for (const action of policy.actions) memo(byAction, action, (): Policy[] => []).push(policy);
  return byAction;
}

const costly: ReadonlySet<Expression['kind']> = new Set([
  'like',
  'matches',
  'text-test',
  'quantify',
  'call',
  'in-hours',
]);

/**
 * The first `most` rules that are quick to put into a formula: without text automata, times of day and lists.
 */
export function quickRules(rules: readonly Rule[], most: number): readonly Rule[] {
  const quick: Rule[] = [];
  for (const rule of rules) {
    if (quick.length >= most) break;
    if (!isCostly(rule)) quick.push(rule);
  }
  return quick;
}

function isCostly({ condition }: Rule): boolean {
  return descendants(condition).some(({ kind }) => costly.has(kind));
}

function conditionsOf(
  { rules, set }: ProofContext,
  claims: readonly GuaranteeClause[],
): readonly Expression[] {
  return [
    ...rules.map(({ condition }) => condition),
    ...(claims.some(({ effect }) => effect === 'ask')
      ? rules.flatMap(({ requirement }) => namingValues(requirement))
      : []),
    ...claims.flatMap(({ when }) => when ?? []),
    ...[...set.meters.values()].flatMap(({ when }) => when ?? []),
  ];
}

function breaks(ctx: ProofContext, claim: GuaranteeClause): SolverLiteral {
  return ctx.circuit.and([isRequestCovered(ctx, claim), isRuledOut(ctx, claim)]);
}

/** Whether a claim covers the request, as `isRequestCovered` of the definition decides. */
function isRequestCovered(ctx: ProofContext, { when, isDefinite = false }: GuaranteeClause): SolverLiteral {
  if (when === null) return ctx.circuit.yes;
  const { isTrue, isFalse } = ctx.lower(when, noElements);
  return isDefinite ? isTrue : notLiteral(isFalse);
}

/** Whether the decision is against the claim, as `isClauseViolated` of the definition decides. */
function isRuledOut(ctx: ProofContext, claim: GuaranteeClause): SolverLiteral {
  const outcomes = outcomesOf(ctx, claim.isUnapproved);
  if (claim.effect === 'standing') return asksOf(ctx, (rule) => hasStanding(ctx, rule));
  if (claim.effect !== 'ask') {
    const isDecided = outcomes[clauseOutcomes[claim.effect]];
    return claim.mode === 'never' ? isDecided : notLiteral(isDecided);
  }
  const isAsked = asksOf(ctx, (rule) => isAsking(ctx, rule, claim));
  if (claim.mode === 'never') return isAsked;
  return ctx.circuit.and([notLiteral(outcomes.DENY), notLiteral(isAsked)]);
}

/** Cuts the leaves; no condition may be added afterwards. */
export function finishProblem(ctx: ProofContext): void {
  shareTexts(ctx);
  // Marks are handed on from meter to meter, so the hooks run once more than there are meters.
  for (let round = 0; round <= ctx.meters.size; round += 1) for (const run of ctx.beforeCut) run();
  const leaves = [...ctx.leaves.values()].toSorted((a, b) => depthOf(a) - depthOf(b));
  for (const leaf of leaves) cutLeaf(leaf, ctx);
  for (const run of ctx.afterCut) run();
  linkEqualities(ctx);
}

/** A leaf is cut after the leaf that it is a function of. */
function depthOf({ base }: Leaf): number {
  return base === null ? 0 : 1 + depthOf(base.leaf);
}

/** A literal that holds if the decision, without a refusal, asks what a rule that takes part asks as claimed. */
function asksOf(ctx: ProofContext, asks: (rule: Rule) => SolverLiteral): SolverLiteral {
  const { circuit } = ctx;
  const judged = ruleOutcomes(ctx, true);
  const guards = judged.filter(({ rule }) => isGuard(rule));
  const isAsked = circuit.or([
    ...guards.map(({ rule, pair }) => circuit.and([notLiteral(pair.isFalse), asks(rule)])),
    ...grantsAsking(ctx, judged, asks),
  ]);
  return circuit.and([isAsked, notLiteral(outcomesOf(ctx, true).DENY)]);
}

/** Whether an approval that the rule asks for may stand for later requests. */
function hasStanding({ circuit }: ProofContext, { requirement }: Rule): SolverLiteral {
  const isStanding = requirement?.kind === 'approval' && requirement.standing !== undefined;
  return isStanding ? circuit.yes : circuit.no;
}

/** Whether the rule asks whom the claim is about, as `isAbout` of the definition decides. */
function isAsking(ctx: ProofContext, { requirement }: Rule, claim: AskClause): SolverLiteral {
  const { circuit } = ctx;
  const { mode, group, anyOf = [group], needs } = claim;
  if (requirement?.kind !== 'approval' || requirement.needs < needs) return circuit.no;
  const each = requirement.groups.map((asked) => {
    const claimed = approversFor(requirement, asked).map((one) => isClaimed(ctx, one, { mode, anyOf }));
    return mode === 'never' ? circuit.or(claimed) : circuit.and(claimed);
  });
  return circuit.or(each);
}

function isClaimed(
  ctx: ProofContext,
  approver: Approver,
  { mode, anyOf }: { readonly mode: AskClause['mode']; readonly anyOf: readonly string[] },
): SolverLiteral {
  const { circuit } = ctx;
  if (anyOf.includes(approverText(approver))) return circuit.yes;
  if (approver.kind === 'group' || approver.groups === null) return circuit.no;
  const named = approver.groups.filter((group) => anyOf.includes(group));
  const pairs = named.map((group) => ctx.lower(namesGroup(approver, group), noElements));
  return circuit.or(pairs.map(({ isTrue, isFalse }) => (mode === 'never' ? notLiteral(isFalse) : isTrue)));
}

/** The condition under which an expression names the group. */
function namesGroup({ value }: NamedApprover, group: string): Expression {
  const { span } = value;
  const right: Expression = { kind: 'literal', value: group, type: enumeration([group]), span };
  return { kind: 'compare', operator: '==', left: value, right, type: booleanType, span };
}

/** At most one allow grants a request: the first that is true. */
function grantsAsking(
  ctx: ProofContext,
  judged: readonly RuleOutcome[],
  asks: (rule: Rule) => SolverLiteral,
): readonly SolverLiteral[] {
  const { circuit } = ctx;
  const asking: SolverLiteral[] = [];
  let isNoneBefore = circuit.yes;
  const order = preference(nothingSatisfied);
  const allows = judged.filter(({ rule }) => rule.effect === 'allow');
  for (const { rule, pair } of allows.toSorted((a, b) => order(a.rule, b.rule))) {
    asking.push(circuit.and([isNoneBefore, pair.isTrue, asks(rule)]));
    isNoneBefore = circuit.and([isNoneBefore, notLiteral(pair.isTrue)]);
  }
  return asking;
}
