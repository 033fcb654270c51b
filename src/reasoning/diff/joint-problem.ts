// One action under two policy sets as one formula: both decide the same request, of which nothing has been approved yet.
// Its regions are the ways in which the two may differ; together they are every way.

import type { Outcome } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Rule } from '../../language/model/policy.ts';
import type { ProofContext } from '../prove/context.ts';
import { lowerCondition } from '../prove/lower.ts';
import { type OutcomeLiterals, outcomesOf } from '../prove/outcomes.ts';
import { createContext, finishProblem } from '../prove/problem.ts';
import { countElements } from '../prove/quantifiers.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { type Cause, type CauseContext, causesOf } from './causes.ts';
import { type Enforcement, enforcementOf } from './enforcement.ts';
import { type BothSides, type DiffSide, type JointSet, rulesOfBoth, sides } from './joint-set.ts';
import { type Region, regionsOf } from './regions.ts';
import { type Validity, validityOf } from './validity.ts';

export interface JointProblem {
  readonly joint: JointSet;
  readonly ctx: ProofContext;
  /** Of both sides. */
  readonly rules: readonly Rule[];
  readonly validity: Validity;
  readonly causes: readonly Cause[];
  /** The most serious first. */
  readonly regions: readonly Region[];
  /** Some region holds. */
  readonly differs: SolverLiteral;
}

export function createJointProblem(joint: JointSet, action: string, isCoarse: boolean): JointProblem {
  const rules = rulesOfBoth(joint, action);
  const ctx = createContext(joint.set, action, { isCoarse });
  countElements(ctx, conditionsOf(joint, rules));
  const contexts = { before: sideContext(ctx, rules.before), after: sideContext(ctx, rules.after) };
  const shapeOf = (side: DiffSide) => joint.original[side].actions.get(action)?.shape ?? null;
  const validity = validityOf(ctx, { before: shapeOf('before'), after: shapeOf('after') });
  const of = (side: DiffSide): SideDecision => decisionOf(contexts[side], validity.valid[side]);
  const decisions = { before: of('before'), after: of('after') };
  const causeContext: CauseContext = { joint, action, contexts, validity };
  const causes = causesOf(causeContext);
  const regions = regionsOf(ctx, decisions, { validity, causes });
  const differs = ctx.circuit.or(regions.map(({ literal }) => literal));
  finishProblem(ctx);
  return { joint, ctx, rules: sides.flatMap((side) => rules[side]), validity, causes, regions, differs };
}

export interface SideDecision {
  readonly outcome: OutcomeLiterals;
  readonly enforcement: Enforcement;
}

/** What the rules of one side say, in the formula that both share. */
function sideContext(ctx: ProofContext, rules: readonly Rule[]): ProofContext {
  const own: ProofContext = {
    ...ctx,
    rules,
    lower: (condition, elements) => lowerCondition(own, condition, elements),
  };
  return own;
}

function conditionsOf({ set }: JointSet, rules: BothSides<readonly Rule[]>): readonly Expression[] {
  return [
    ...sides.flatMap((side) => rules[side].map(({ condition }) => condition)),
    ...[...set.meters.values()].flatMap(({ when }) => when ?? []),
  ];
}

/** A payload that is not of the side's shape is refused before any rule. */
function decisionOf(ctx: ProofContext, isValid: SolverLiteral): SideDecision {
  const { circuit } = ctx;
  const ruled = outcomesOf(ctx, true);
  const when = (outcome: Outcome): SolverLiteral => circuit.and([isValid, ruled[outcome]]);
  const outcome = {
    ALLOW: when('ALLOW'),
    ESCALATE: when('ESCALATE'),
    REAUTH_REQUIRED: when('REAUTH_REQUIRED'),
    DENY: circuit.or([notLiteral(isValid), ruled.DENY]),
  };
  return { outcome, enforcement: enforcementOf(ctx, { outcome, ruled, isValid }) };
}
