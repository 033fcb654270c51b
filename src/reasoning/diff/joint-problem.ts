// One action under two policy sets as one formula: both sets decide the same request, with no requirement met
// yet. The regions of the formula are the ways in which the two decisions may differ; together they cover
// every way.

import { childrenOf } from '../../language/model/children.ts';
import type { Outcome } from '../../language/model/decision.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Shape } from '../../language/model/type.ts';
import type { Money, UnknownValue, Value } from '../../language/model/value.ts';
import { judge } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { Decimal } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { isTwoValued } from '../cells/two-valued.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { noteFolds } from '../prove/folded.ts';
import { fieldLeaf } from '../prove/leaves.ts';
import { lowerCondition } from '../prove/lower.ts';
import { currencyIs } from '../prove/money.ts';
import { type OutcomeLiterals, outcomesOf } from '../prove/outcomes.ts';
import { createContext, enforcedOf, finishProblem } from '../prove/problem.ts';
import { countElements } from '../prove/quantifiers.ts';
import { textTruth } from '../prove/text-choice.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { separateTexts } from './affected-rules.ts';
import { type Cause, causesOf } from './causes.ts';
import { type Enforcement, enforcementOf } from './enforcement.ts';
import type { JointRules, OpenRules, WrittenRules } from './few-rules.ts';
import { type BothSides, type DiffSide, type JointSet, sides } from './joint-set.ts';
import { type Region, regionsOf } from './regions.ts';
import { isReadable } from './shapes.ts';
import { tieTextKinds } from './text-kinds.ts';
import { type Validity, validityOf } from './validity.ts';

/** What has changed for an action, in a formula without decisions yet. */
export interface ChangedProblem {
  readonly joint: JointSet;
  readonly ctx: ProofContext;
  readonly open: readonly GuessedRules[];
  readonly validity: Validity;
  readonly causes: readonly Cause[];
}

export interface JointProblem extends ChangedProblem {
  /** The rules of both sides. */
  readonly rules: readonly Rule[];
  /** True if no open rule holds. */
  readonly isClosed: SolverLiteral;
  /** Sorted by seriousness, the most serious first. */
  readonly regions: readonly Region[];
  /** True if some region holds. */
  readonly differs: SolverLiteral;
}

type ActionOf = Pick<JointRules, 'joint' | 'action'>;

/** A formula of where the causes differ; each text that conditions name has a cell of its own. */
export function createChangedProblem(of: ActionOf, written: WrittenRules): ChangedProblem {
  const { problem } = begin(of, written, false);
  problem.ctx.beforeCut.push(() => separateTexts(problem.ctx));
  finishProblem(problem.ctx);
  return problem;
}

export function createJointProblem(
  of: ActionOf,
  written: WrittenRules,
  { isCoarse = false }: { readonly isCoarse?: boolean } = {},
): JointProblem {
  const { problem, contexts } = begin(of, written, isCoarse);
  const { ctx, open, validity, causes } = problem;
  const decided = (side: DiffSide): SideDecision => decisionOf(contexts[side], validity.valid[side]);
  const decisions = { before: decided('before'), after: decided('after') };
  tieTextKinds(ctx, validity, shapesOf(of));
  const all = regionsOf(ctx, decisions, { validity, causes });
  const regions = written.isPart ? all.map((region) => whereCausesDiffer(ctx, region, causes)) : all;
  const differs = ctx.circuit.or(regions.map(({ literal }) => literal));
  const isClosed = ctx.circuit.and(open.map(({ pair }) => pair.isFalse));
  finishProblem(ctx);
  const rules = sides.flatMap((side) => written.rules[side]);
  return { ...problem, rules, isClosed, regions, differs };
}

interface ProblemSetup {
  readonly problem: ChangedProblem;
  readonly contexts: BothSides<ProofContext>;
}

/** Starts the formula; its leaves are not cut yet. */
function begin(
  { joint, action }: ActionOf,
  { rules, open: left }: WrittenRules,
  isCoarse: boolean,
): ProblemSetup {
  const ctx = createContext(joint.set, action, { isCoarse, rules: [] });
  countElements(ctx, conditionsOf(joint, rules));
  noteFolds(ctx, conditionsOf(joint, rules));
  const open = left.map((one) => ({ rules: one.rules, pair: guess(ctx, one, joint) }));
  markNumbers(
    ctx,
    left.flatMap(({ rules: own }) => own),
    joint.original.after,
  );
  const contexts = { before: sideContext(ctx, rules.before), after: sideContext(ctx, rules.after) };
  const validity = validityOf(ctx, shapesOf({ joint, action }));
  const causes = causesOf({ joint, action, contexts, validity });
  return { problem: { joint, ctx, open, validity, causes }, contexts };
}

function shapesOf({ joint, action }: ActionOf): BothSides<Shape | null> {
  const shapeOf = (side: DiffSide) => joint.original[side].actions.get(action)?.shape ?? null;
  return { before: shapeOf('before'), after: shapeOf('after') };
}

/**
 * Limits the region to where some cause differs: elsewhere the formula proves nothing, because it lacks
 * rules.
 */
function whereCausesDiffer({ circuit }: ProofContext, region: Region, causes: readonly Cause[]): Region {
  const isThere = circuit.or(causes.map(({ differs }) => differs));
  return { ...region, literal: circuit.and([region.literal, isThere]) };
}

/**
 * The guessed truth of open rules: true, false, or unknown if one of the rules may be unknown. False is tried
 * first.
 */
function guess(
  { circuit, lowered, action }: ProofContext,
  { rules, standIn }: OpenRules,
  { original }: JointSet,
): Pair {
  const pair = { isTrue: circuit.free(), isFalse: circuit.free(true) };
  circuit.require([notLiteral(pair.isTrue), notLiteral(pair.isFalse)]);
  const isRiskKnown = sides.every((side) =>
    enforcedOf(original[side], action.key).every(({ points }) => points === 0),
  );
  const payloads = { set: original.after, shape: action.shape, isRiskKnown };
  if (rules.every(({ condition }) => isTwoValued(condition, payloads)))
    circuit.require([pair.isTrue, pair.isFalse]);
  lowered.set(standIn, pair);
  return pair;
}

export interface GuessedRules {
  /** The rules as the new set has them. */
  readonly rules: readonly Rule[];
  /** The guessed truth: false when all of the rules are false, true when one of them is true. */
  readonly pair: Pair;
}

export interface SideDecision {
  readonly outcome: OutcomeLiterals;
  readonly enforcement: Enforcement;
}

/** The context of one side's rules, in the formula that both sides share. */
function sideContext(ctx: ProofContext, rules: readonly Rule[]): ProofContext {
  const sideProblem: ProofContext = {
    ...ctx,
    rules,
    lower: (condition, elements) => lowerCondition(sideProblem, condition, elements),
  };
  return sideProblem;
}

function conditionsOf({ set }: JointSet, rules: BothSides<readonly Rule[]>): readonly Expression[] {
  return [
    ...sides.flatMap((side) => rules[side].map(({ condition }) => condition)),
    ...[...set.meters.values()].flatMap(({ when }) => when ?? []),
  ];
}

/** The decision of one side; a payload outside of the side's shape is refused before any rule. */
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

/** Conditions whose truth for the request differs between the solver's last model and the definition. */
export function mispredictedConditions({ ctx, joint }: JointProblem, facts: Facts): readonly Expression[] {
  const { set, original } = joint;
  const sideFacts = { set, facts: resolveFacts(original.after, facts), risk: anyRisk, variables: new Map() };
  return ctx.conditions
    .filter(({ expression }) => isReadable(expression, sideFacts.facts))
    .filter(({ expression, pair }) => evaluateCondition(expression, sideFacts) !== textTruth(ctx, pair))
    .map(({ expression }) => expression);
}

/** Any value will do, since none of `ctx.conditions` reads risk. */
const anyRisk = { low: 0, high: 100 };

/** Ids of open rules that the last model guessed wrongly for a request. `facts` are those of the new set. */
export function mispredictedRules({ ctx, joint, open }: JointProblem, facts: Facts): readonly string[] {
  if (open.length === 0) return [];
  const { scope } = judge(joint.original.after, facts, ({ points, isShadow }) => points !== 0 && !isShadow);
  return open.flatMap(({ rules, pair }) => {
    const acting = rules.filter(
      ({ condition }) => isReadable(condition, scope.facts) && evaluateCondition(condition, scope) !== false,
    );
    const isGuessedFalse = textTruth(ctx, pair) === false;
    // Rules lie in the order of ids, by which a decision names them.
    if (acting.length === 0) return isGuessedFalse ? [] : [rules[0]!.id, rules.at(-1)!.id];
    return isGuessedFalse ? acting.map(({ id }) => id) : [];
  });
}

// Marks the payload's numbers that open rules compare with constants. Their leaves are cut at these
// constants, so that a finding shows number ranges as narrow as if the rules were asked. The truth of the
// rules stays a guess.

/** Must run before leaves are cut; `rules` belong to `set`. */
function markNumbers(ctx: ProofContext, rules: readonly Rule[], set: PolicySet): void {
  const lets = new Set<string>();
  const walk = (part: Expression): void => {
    for (const [subject, constant] of comparisonsOf(part)) mark(ctx, subject, constantOf(constant, set));
    for (const child of childrenOf(part)) walk(child);
    const declared = part.kind === 'let' ? set.lets.get(part.id) : undefined;
    if (declared === undefined || lets.has(declared.id)) return;
    lets.add(declared.id);
    walk(declared.expression);
  };
  for (const { condition } of rules) walk(condition);
}

/** Each compared operand with the operand it is compared with, in both orders. */
function comparisonsOf(part: Expression): readonly (readonly [Expression, Expression])[] {
  if (part.kind === 'compare')
    return [
      [part.left, part.right],
      [part.right, part.left],
    ];
  if (part.kind !== 'in-range') return [];
  return [
    [part.subject, part.low],
    [part.subject, part.high],
  ];
}

function mark(ctx: ProofContext, subject: Expression, constant: Value | UnknownValue | null): void {
  const field = subject.kind === 'else' ? subject.subject : subject;
  if (!isNumber(field) || typeof constant !== 'object' || constant === null) return;
  const leaf = fieldLeaf(ctx, field, noElements);
  const number = field.type.kind === 'money' ? (constant as Money).amount : (constant as Decimal);
  leaf?.marks.push(number);
  const currency = field.type.kind === 'money' ? (constant as Money).currency : null;
  if (currency !== null) currencyIs(ctx, { field, currency, elements: noElements });
}

function isNumber(field: Expression): field is FieldRead & Expression {
  const { kind } = field.type;
  const isOfNumbers = kind === 'number' || kind === 'integer' || kind === 'date' || kind === 'money';
  return field.kind === 'field' && field.root === 'payload' && !field.isSigned && isOfNumbers;
}
