// One action as a formula that admits every request of its declared shape, and says what is decided. INVARIANT: the
// formula admits at least what can be. A part that is not understood makes it admit more, so that what is proved holds;
// what it admits beyond that is found out by deciding the request that comes of it.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Claim, Policy, PolicySet, Rule } from '../../language/model/policy.ts';
import { claimedOutcomes } from '../../language/spec/claim.ts';
import { memo } from '../../language/value/memo.ts';
import { cutLeaf } from '../cells/cut.ts';
import { type Faults, noFaults } from '../cells/faults.ts';
import type { Leaf } from '../cells/leaf.ts';
import { Circuit } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { asksOf } from './asks.ts';
import { noElements, type ProofContext } from './context.ts';
import { linkEqualities, shareTexts } from './equality.ts';
import { lowerCondition } from './lower.ts';
import { type OutcomeLiterals, outcomesOf } from './outcomes.ts';
import { countElements } from './quantifiers.ts';

export interface ProofProblem {
  readonly ctx: ProofContext;
  /** With whatever may have been met. */
  readonly outcomes: OutcomeLiterals;
  /** By claim: the request breaks it. */
  readonly broken: readonly SolverLiteral[];
}

export interface ProofProblemOptions {
  readonly isCoarse?: boolean;
  /** Instead of all that are enforced for the action. */
  readonly rules?: readonly Rule[] | undefined;
  readonly faults?: Faults;
}

export function createProblem(
  set: PolicySet,
  action: string,
  { claims = [], ...options }: ProofProblemOptions & { readonly claims?: readonly Claim[] } = {},
): ProofProblem {
  const ctx = createContext(set, action, options);
  countElements(ctx, conditionsOf(ctx, claims));
  const outcomes = outcomesOf(ctx, false);
  const broken = claims.map((claim) => breaks(ctx, claim));
  finishProblem(ctx);
  return { ctx, outcomes, broken };
}

/** The context of the action's enforced rules; nothing is in its formula yet. */
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
    rests: new Map(),
    lemmas: [],
    numbers: new Map(),
    said: null,
    conditions: [],
    known: new Map(),
    lowered: new Map(),
    elementsOf: new Map(),
    bounded: new Set(),
    beforeCut: [],
    afterCut: [],
  };
  return ctx;
}

const policiesByAction = new WeakMap<PolicySet, ReadonlyMap<string, readonly Policy[]>>();
const enforced = new WeakMap<PolicySet, Map<string, readonly Rule[]>>();

/** In the order of the set; the same array each time. */
export function enforcedOf(set: PolicySet, action: string): readonly Rule[] {
  const known = memo(enforced, set, () => new Map<string, readonly Rule[]>());
  return memo(known, action, () =>
    (memo(policiesByAction, set, groupedByAction).get(action) ?? [])
      .flatMap(({ rules }) => rules)
      .filter(({ isShadow }) => !isShadow),
  );
}

function groupedByAction({ policies }: PolicySet): ReadonlyMap<string, readonly Policy[]> {
  const found = new Map<string, Policy[]>();
  for (const policy of policies)
    for (const action of policy.actions) memo(found, action, (): Policy[] => []).push(policy);
  return found;
}

const costly: ReadonlySet<Expression['kind']> = new Set([
  'like',
  'matches',
  'text-test',
  'quantify',
  'call',
  'in-hours',
]);

/** The first that are quickly made into a formula, at most so many: without automata of texts, times of day, and lists. */
export function quickRules(rules: readonly Rule[], most: number): readonly Rule[] {
  const found: Rule[] = [];
  for (const rule of rules) {
    if (found.length >= most) break;
    if (!isCostly(rule)) found.push(rule);
  }
  return found;
}

function isCostly({ condition }: Rule): boolean {
  return descendants(condition).some(({ kind }) => costly.has(kind));
}

function conditionsOf({ rules, set }: ProofContext, claims: readonly Claim[]): readonly Expression[] {
  return [
    ...rules.map(({ condition }) => condition),
    ...claims.flatMap(({ when }) => when ?? []),
    ...[...set.meters.values()].flatMap(({ when }) => when ?? []),
  ];
}

function breaks(ctx: ProofContext, claim: Claim): SolverLiteral {
  return ctx.circuit.and([isSpokenOf(ctx, claim), isRuledOut(ctx, claim)]);
}

/** Whether a claim speaks of the request, as `isSpokenOf` of the definition says it. */
function isSpokenOf(ctx: ProofContext, { when, isDefinite = false }: Claim): SolverLiteral {
  if (when === null) return ctx.circuit.yes;
  const { isTrue, isFalse } = ctx.lower(when, noElements);
  return isDefinite ? isTrue : notLiteral(isFalse);
}

/** Whether the decision is against the claim, as `isAgainst` of the definition says it. */
function isRuledOut(ctx: ProofContext, claim: Claim): SolverLiteral {
  const outcomes = outcomesOf(ctx, claim.isUnapproved);
  if (claim.effect !== 'ask') {
    const isDecided = outcomes[claimedOutcomes[claim.effect]];
    return claim.mode === 'never' ? isDecided : notLiteral(isDecided);
  }
  const isAsked = asksOf(ctx, claim);
  if (claim.mode === 'never') return isAsked;
  return ctx.circuit.and([notLiteral(outcomes.DENY), notLiteral(isAsked)]);
}

/** Cuts the leaves. After this no condition may be added. */
export function finishProblem(ctx: ProofContext): void {
  shareTexts(ctx);
  // What one gives to another is handed on, from meter to meter.
  for (let round = 0; round <= ctx.meters.size; round += 1) for (const run of ctx.beforeCut) run();
  const leaves = [...ctx.leaves.values()].toSorted((a, b) => depthOf(a) - depthOf(b));
  for (const leaf of leaves) cutLeaf(leaf, ctx);
  for (const run of ctx.afterCut) run();
  linkEqualities(ctx);
}

/** A leaf is cut after what it is a function of. */
function depthOf({ base }: Leaf): number {
  return base === null ? 0 : 1 + depthOf(base.leaf);
}
