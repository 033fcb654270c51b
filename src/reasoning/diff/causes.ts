// What may make the two sides decide differently: rules that changed, and the shape of the action. A rule
// that only reads a risk score to which other, changed rules add is no cause. INVARIANT: when no cause
// differs, the two sides decide alike.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { Expression } from '../../language/model/expression.ts';
import { isGuard, type PolicySet, type Rule } from '../../language/model/policy.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { comparisonCall } from '../prove/rewrite.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { isAlike, readsChanged } from './declarations.ts';
import { type BothSides, type DiffSide, type JointSet, sides } from './joint-set.ts';
import type { Validity } from './validity.ts';

/**
 * `renamed` rules, and `points` that nothing reads, change only how a decision is explained, not the decision
 * itself.
 */
export type CauseChange = 'changed' | 'new' | 'gone' | 'renamed';

export interface Cause {
  /** The rule on both sides; null when the cause is the action itself or its shape. */
  readonly rule: BothSides<Rule | null> | null;
  readonly change: CauseChange;
  /** Whether the decision may depend on the cause, or only the decision's explanation. */
  readonly isDecisive: boolean;
  readonly differs: SolverLiteral;
  /** The truths of the rule that matter to a decision, whether they hold or not. */
  readonly stakes: readonly SolverLiteral[];
  /** The conditions that describe the cause in a finding. */
  readonly parts: readonly CausePart[];
}

export interface CausePart {
  readonly expression: Expression;
  readonly side: DiffSide;
  readonly pair: Pair;
}

export interface CauseContext {
  readonly joint: JointSet;
  readonly action: string;
  readonly contexts: BothSides<ProofContext>;
  readonly validity: Validity;
}

export function causesOf(context: CauseContext): readonly Cause[] {
  const { contexts, joint, action } = context;
  const isInBoth = sides.every((side) => joint.original[side].actions.has(action));
  const shape = shapeCause(context, isInBoth);
  // An action that only one side declares has no cause but its shape.
  if (!isInBoth) return [shape];
  const isRiskRead = sides.some((side) => contexts[side].rules.some(({ readsRisk }) => readsRisk));
  const causes = pairedRules(contexts).flatMap((rule) => causeOf(context, rule, isRiskRead) ?? []);
  return [shape, ...withoutRenamed(causes)].filter(({ differs }) => differs !== contexts.after.circuit.no);
}

function shapeCause({ contexts, validity }: CauseContext, isInBoth: boolean): Cause {
  const { circuit } = contexts.after;
  const { before, after } = validity.valid;
  return {
    rule: null,
    change: isInBoth ? 'changed' : after === circuit.yes ? 'new' : 'gone',
    isDecisive: true,
    differs: different(circuit, before, after),
    stakes: isInBoth ? [before, after] : [],
    parts: [],
  };
}

function pairedRules({ before, after }: BothSides<ProofContext>): readonly BothSides<Rule | null>[] {
  const byId = new Map<string, { before: Rule | null; after: Rule | null }>();
  for (const rule of before.rules) byId.set(rule.id, { before: rule, after: null });
  for (const rule of after.rules)
    byId.set(rule.id, { before: byId.get(rule.id)?.before ?? null, after: rule });
  return [...byId.values()];
}

/** The cause that a rule gives; null when the rule is unchanged. */
function causeOf(
  { contexts, joint }: CauseContext,
  rule: BothSides<Rule | null>,
  isRiskRead: boolean,
): Cause | null {
  const { circuit } = contexts.after;
  const pairs = { before: pairOf(contexts, rule, 'before'), after: pairOf(contexts, rule, 'after') };
  const asksAlike = ruleText(rule.before) === ruleText(rule.after);
  if (asksAlike && (isSamePair(pairs) || isSameButForRisk(joint, rule))) return null;
  const takesPart = circuit.or(sides.map((side) => notLiteral(pairs[side].isFalse)));
  const turned = circuit.or([
    different(circuit, pairs.before.isTrue, pairs.after.isTrue),
    different(circuit, pairs.before.isFalse, pairs.after.isFalse),
  ]);
  const isPointsAlone =
    isSamePair(pairs) && ruleText(withoutPoints(rule.before)) === ruleText(withoutPoints(rule.after));
  const isOfRiskAlone = isPointsAlone || sides.every((side) => (rule[side]?.effect ?? 'risk') === 'risk');
  return {
    rule,
    change: rule.before === null ? 'new' : rule.after === null ? 'gone' : 'changed',
    isDecisive: isRiskRead || !isOfRiskAlone,
    differs: asksAlike ? turned : takesPart,
    stakes: sides.flatMap((side) => stakesOf(rule[side], pairs[side], isRiskRead)),
    parts: sides.flatMap((side) => partsOf(contexts[side], rule[side], side)),
  };
}

/** A rule that the side does not have counts as false. */
function pairOf(contexts: BothSides<ProofContext>, rule: BothSides<Rule | null>, side: DiffSide): Pair {
  const { circuit } = contexts[side];
  const sideRule = rule[side];
  return sideRule === null
    ? { isTrue: circuit.no, isFalse: circuit.yes }
    : contexts[side].lower(sideRule.condition, noElements);
}

/** What the rule does when its condition holds. */
function ruleText(rule: Rule | null): string {
  if (rule === null) return '';
  const { effect, requirement, points, validForSeconds } = rule;
  return canonicalMeaning([effect, requirement, points, validForSeconds]);
}

function withoutPoints(rule: Rule | null): Rule | null {
  return rule === null ? null : { ...rule, points: 0 };
}

function isSamePair({ before, after }: BothSides<Pair>): boolean {
  return before.isTrue === after.isTrue && before.isFalse === after.isFalse;
}

/**
 * Whether the rule reads risk by an unchanged condition. If the score itself changed, another rule is the
 * cause.
 */
function isSameButForRisk(
  { original, changed }: JointSet,
  { before, after }: BothSides<Rule | null>,
): boolean {
  if (before?.readsRisk !== true || after?.readsRisk !== true) return false;
  const [old, now] = [conditionOf(original.before, before), conditionOf(original.after, after)];
  return isAlike(old, now) && old !== undefined && !readsChanged(old, changed);
}

/** The condition of a rule as the side's own set has it, not written in the names of the joint set. */
function conditionOf({ policies }: PolicySet, { policy, id }: Rule): Expression | undefined {
  return policies.find(({ name }) => name === policy)?.rules.find((rule) => rule.id === id)?.condition;
}

/** An allow matters when it is true, a guard when it is not false, and points of risk in each case. */
function stakesOf(
  rule: Rule | null,
  { isTrue, isFalse }: Pair,
  isRiskRead: boolean,
): readonly SolverLiteral[] {
  if (rule === null) return [];
  if (rule.effect === 'risk' || (rule.points !== 0 && isRiskRead)) return [isTrue, isFalse];
  return isGuard(rule) ? [isFalse] : [isTrue];
}

function different(circuit: Circuit, a: SolverLiteral, b: SolverLiteral): SolverLiteral {
  if (a === b) return circuit.no;
  return circuit.or([circuit.and([a, notLiteral(b)]), circuit.and([notLiteral(a), b])]);
}

function partsOf(ctx: ProofContext, rule: Rule | null, side: DiffSide): readonly CausePart[] {
  if (rule === null) return [];
  return [...conditionsIn(ctx, rule.condition)].map((expression) => ({
    expression,
    side,
    pair: ctx.lower(expression, noElements),
  }));
}

/**
 * The conditions that the formula of `condition` joins by gates: operands of `and`, `or` and `not`, with lets
 * written out.
 */
function* conditionsIn(ctx: ProofContext, condition: Expression): Generator<Expression> {
  switch (condition.kind) {
    case 'not':
      yield* conditionsIn(ctx, condition.operand);
      return;
    case 'and':
    case 'or':
      for (const operand of condition.operands) yield* conditionsIn(ctx, operand);
      return;
    case 'let': {
      const declared = ctx.set.lets.get(condition.id);
      if (declared !== undefined) yield* conditionsIn(ctx, declared.expression);
      return;
    }
    case 'in-range':
      yield comparisonCall('>=', condition.subject, condition.low);
      yield comparisonCall('<=', condition.subject, condition.high);
      return;
    case 'literal':
      return;
    default:
      yield condition;
  }
}

/**
 * A rule that is gone and an equal rule that is new count as one renamed rule, which changes only a
 * decision's explanation.
 */
function withoutRenamed(causes: readonly Cause[]): readonly Cause[] {
  const gone = Map.groupBy(
    causes.filter(({ change }) => change === 'gone'),
    (cause) => identityOf(cause, 'before'),
  );
  const renamed = new Map<Cause, Cause | null>();
  for (const cause of causes) {
    if (cause.change !== 'new') continue;
    const match = gone.get(identityOf(cause, 'after'))?.pop();
    if (match === undefined) continue;
    const rule = { before: match.rule!.before, after: cause.rule!.after };
    renamed.set(match, null).set(cause, { ...cause, change: 'renamed', isDecisive: false, rule });
  }
  return causes.flatMap((cause) => (renamed.has(cause) ? (renamed.get(cause) ?? []) : [cause]));
}

function identityOf({ rule, parts, stakes }: Cause, side: DiffSide): string {
  const pairs = parts.map(({ pair }) => `${pair.isTrue} ${pair.isFalse}`);
  return `${ruleText(rule?.[side] ?? null)} ${stakes.join()} ${pairs.join()}`;
}
