// Turns a rule of the tree into a rule of the model: its whole condition, points, requirement, validity and
// reason. The parser has checked which clauses an effect takes and how often; of each kind only the first
// clause is read.

import { isWithinSpan, spanning } from '../../diagnostic/span.ts';
import type { Expression } from '../../model/expression.ts';
import type { Effect, Requirement, Rule, Template } from '../../model/policy.ts';
import { booleanType, quantity } from '../../model/type.ts';
import { printExpression } from '../../syntax/print/print.ts';
import type {
  ApproverListNode,
  Clause,
  DurationLiteral,
  PolicyDeclaration,
  RuleNode,
  TemplateNode,
  TemplatePart,
  ThenClause,
  ExpressionNode as Tree,
} from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import {
  type Context,
  type Inference,
  inferCondition,
  inferValue,
  withPresence,
} from '../expressions/context.ts';
import { negated } from '../expressions/logic.ts';
import { ownerGroup } from '../expressions/names.ts';
import { checkRisk, riskReads } from '../expressions/risk.ts';
import { decimalOf, readSeconds } from '../logic/literals.ts';
import { both, nothingKnown } from '../logic/presence.ts';
import { isPrintable } from '../logic/type-relations.ts';
import {
  exceptWithoutApproval,
  fallbackWithoutApproval,
  fewPeople,
  guardLowersRisk,
  needsWithoutApproval,
  oneOwner,
  pointsUnfit,
} from '../messages/errors.ts';
import { standingWithoutApproval } from '../messages/standing-errors.ts';
import { notPrintable } from '../messages/type-errors.ts';
import {
  type ApprovalClause,
  defaultApprovalSeconds,
  peopleMax,
  personField,
  readApprovalClause,
  readPeople,
  withFallbacks,
} from './approval-clause.ts';
import { readStandingClause } from './standing.ts';

export interface PolicyContext {
  readonly declaration: PolicyDeclaration;
  /** The policy's own condition; null when the policy has none. */
  readonly when: Inference | null;
}

/** Returns the rule; null once everything wrong with the rule has been reported. */
export function resolveRule(node: RuleNode, around: PolicyContext, ctx: Context): Rule | null {
  const condition = resolveCondition(node, around, ctx);
  const points = readPoints(node, ctx);
  const requirement = readRequirement(node, withPresence(ctx, condition.presence));
  const validFor = readDuration(clauseOf(node, 'for')?.duration, ctx);
  const because = clauseOf(node, 'because');
  const reasonContext = withPresence(ctx, condition.presence);
  const reason = because === undefined ? null : resolveTemplate(because.reason, reasonContext);
  if (condition.expression === null || points === null || requirement === 'failed') return null;
  if (validFor === 'failed' || reason === 'failed') return null;
  const risk = riskReads(condition.expression, ctx.env);
  const rule: Rule = {
    id: `${around.declaration.name.text}/${node.name.text}`,
    policy: around.declaration.name.text,
    name: node.name.text,
    effect: node.effect,
    isShadow: node.isShadow || around.declaration.isShadow,
    condition: condition.expression,
    conditionText: requirement === null ? '' : conditionText(node, around),
    points,
    readsRisk: risk.length > 0,
    reason,
    validForSeconds: validFor,
    requirement,
    doc: node.doc,
    span: node.span,
  };
  checkRisk(rule, risk, node.name, ctx.env);
  return rule;
}

function clauseOf<K extends Clause['kind']>(
  node: RuleNode,
  kind: K,
): Extract<Clause, { kind: K }> | undefined {
  return node.clauses.find((clause): clause is Extract<Clause, { kind: K }> => clause.kind === kind);
}

/**
 * Joins the conditions as `policy when and when and not unless`, and returns what is known to be present when
 * the whole is true.
 */
function resolveCondition(
  node: RuleNode,
  around: PolicyContext,
  ctx: Context,
): { readonly expression: Expression | null; readonly presence: Context['presence'] } {
  const whenNode = clauseOf(node, 'when')?.condition;
  const unlessNode = clauseOf(node, 'unless')?.condition;
  const afterPolicy = both(ctx.presence, around.when?.whenTrue ?? nothingKnown);
  const when = whenNode === undefined ? null : inferCondition(whenNode, withPresence(ctx, afterPolicy));
  const afterWhen = both(afterPolicy, when?.whenTrue ?? nothingKnown);
  const unless = unlessNode === undefined ? null : inferCondition(unlessNode, withPresence(ctx, afterWhen));
  const presence = both(afterWhen, unless?.whenFalse ?? nothingKnown);
  const exception =
    unless === null
      ? []
      : // A place of its own: `unless x` is not written as one with `x`, as `not in` is with `in`.
        [unless.expression === null ? null : negated(unless.expression, { ...unless.expression.span })];
  const parts = [
    ...(around.when === null ? [] : [around.when.expression]),
    ...(when === null ? [] : [when.expression]),
    ...exception,
  ];
  return { expression: joinConditions(parts, node), presence };
}

function joinConditions(parts: readonly (Expression | null)[], node: RuleNode): Expression | null {
  const resolved = parts.filter((part) => part !== null);
  if (resolved.length < parts.length) return null;
  const [first] = resolved;
  if (first === undefined) return { kind: 'literal', value: true, type: booleanType, span: node.name.span };
  if (resolved.length === 1) return first;
  // The parts that the rule adds to its policy's condition are joined first.
  const inRule = resolved.find((part) => isWithinSpan(part.span, node.span));
  const operands = resolved.flatMap((part) => (part.kind === 'and' ? part.operands : [part]));
  const span = spanning((inRule ?? first).span, resolved.at(-1)?.span ?? first.span);
  return { kind: 'and', operands, type: booleanType, span };
}

function conditionText(node: RuleNode, around: PolicyContext): string {
  const unless = clauseOf(node, 'unless')?.condition;
  const parts: readonly (Tree | null | undefined)[] = [
    around.declaration.when,
    clauseOf(node, 'when')?.condition,
    unless === undefined ? undefined : { kind: 'unary', operator: 'not', operand: unless, span: unless.span },
  ];
  const [first, ...rest] = parts.filter((part) => part !== null && part !== undefined);
  if (first === undefined) return 'true';
  const joined = rest.reduce<Tree>(
    (left, right) => ({
      kind: 'binary',
      operator: 'and',
      operatorSpan: right.span,
      left,
      leftSpan: left.span,
      right,
      span: node.span,
    }),
    first,
  );
  return printExpression(joined);
}

/**
 * Effects that stop an action. Negative points on them are reported: a new guard must not open an `allow`
 * that requires low risk.
 */
const guards: ReadonlySet<RuleNode['effect']> = new Set(['deny', 'escalate', 'reauth']);

/**
 * Returns the contribution to risk, a whole number other than zero; 0 when no points are written, null when
 * the number is invalid.
 */
function readPoints(node: RuleNode, ctx: Context): number | null {
  const clause = clauseOf(node, 'points');
  if (clause === undefined) return 0;
  const value = decimalOf(clause.points.text);
  const points = value === null ? 0 : toNumber(value);
  if (points !== 0 && Number.isSafeInteger(points)) {
    if (points < 0 && guards.has(node.effect)) ctx.env.report(guardLowersRisk(clause.points, node));
    return points;
  }
  ctx.env.report(pointsUnfit(clause.points));
  return null;
}

function readRequirement(node: RuleNode, ctx: Context): Requirement | null | 'failed' {
  const people = peopleOfRule(node, ctx);
  const within = readDuration(clauseOf(node, 'within')?.duration, ctx);
  const except = exceptedBy(node, ctx);
  const standing = readStandingClause(clauseOf(node, 'standing'), ctx);
  const isFailed = people === null || except === null || within === 'failed' || standing === 'failed';
  const approverList = approverListOf(node);
  if (approverList !== null) {
    const first = readApprovalClause(approverList, ctx);
    if (first === null || isFailed) return 'failed';
    const timed = { clause: first, seconds: within ?? defaultApprovalSeconds };
    const whole = withFallbacks(timed, { asked: approverList, clauses: fallbacksOf(node) }, ctx);
    if (whole === null || !areEnough(node, whole.clause, people, ctx)) return 'failed';
    const scope = standing === null ? {} : { standing };
    return {
      kind: 'approval',
      ...whole.clause,
      needs: people,
      withinSeconds: whole.seconds,
      except,
      ...scope,
    };
  }
  const [fallback] = fallbacksOf(node);
  if (fallback !== undefined) {
    ctx.env.report(fallbackWithoutApproval(fallback));
    return 'failed';
  }
  const standingClause = clauseOf(node, 'standing');
  if (standingClause !== undefined) {
    ctx.env.report(standingWithoutApproval(standingClause));
    return 'failed';
  }
  const asksForStepUp = node.effect === 'reauth' || clauseOf(node, 'after-reauth') !== undefined;
  if (isFailed || effectsThatAsk[node.effect] === 'always-approval') return 'failed';
  return asksForStepUp ? { kind: 'reauth', withinSeconds: within } : null;
}

/**
 * Which effects ask for an approval or a step-up. An `escalate` without its group has no meaning; the parser
 * has reported the missing clause.
 */
const effectsThatAsk = {
  allow: 'maybe',
  deny: 'never',
  escalate: 'always-approval',
  reauth: 'always-reauth',
  risk: 'never',
} satisfies Record<Effect, string>;

function fallbacksOf({ clauses }: RuleNode): readonly ThenClause[] {
  return clauses.filter((clause) => clause.kind === 'then');
}

function approverListOf(node: RuleNode): ApproverListNode | null {
  if (node.effect === 'escalate') return clauseOf(node, 'to')?.asked ?? null;
  return (node.effect === 'allow' && clauseOf(node, 'after-approval')?.asked) || null;
}

/** Whether each of the asked can be as many people as are needed; reports a number that can never be met. */
function areEnough(
  node: RuleNode,
  { groups, choices = [] }: ApprovalClause,
  needs: number,
  ctx: Context,
): boolean {
  const clause = clauseOf(node, 'needs');
  if (clause === undefined) return true;
  if (needs > 1 && groups.includes(ownerGroup)) {
    ctx.env.report(oneOwner(clause.people));
    return false;
  }
  const few = choices.find((choice) => peopleMax(choice) < needs);
  if (few !== undefined) ctx.env.report(fewPeople(clause.people, few.text, peopleMax(few)));
  return few === undefined;
}

function peopleOfRule(node: RuleNode, { env }: Context): number | null {
  const clause = clauseOf(node, 'needs');
  if (clause !== undefined && clauseOf(node, 'after-reauth') !== undefined) {
    env.report(needsWithoutApproval(clause.span));
    return null;
  }
  return readPeople(clause?.people ?? null, env);
}

/**
 * Returns the sorted fields of the `except` clause; null, with a diagnostic, when one of the fields names
 * nobody.
 */
function exceptedBy(node: RuleNode, ctx: Context): readonly string[] | null {
  const clause = clauseOf(node, 'except');
  if (clause === undefined) return [];
  if (clauseOf(node, 'after-reauth') !== undefined) {
    ctx.env.report(exceptWithoutApproval(clause.span));
    return null;
  }
  const fields = clause.people.map((path) => personField(path, ctx));
  const resolved = fields.filter((field) => field !== null);
  return resolved.length < fields.length ? null : [...new Set(resolved)].sort();
}

/**
 * Returns the seconds, above zero; null when no duration is written, `failed` when the duration is invalid.
 */
function readDuration(node: DurationLiteral | undefined, ctx: Context): number | null | 'failed' {
  if (node === undefined) return null;
  return readSeconds(node, ctx.env) ?? 'failed';
}

/** Returns the parts of the reason: texts, and values that may be shown. */
function resolveTemplate(node: TemplateNode, ctx: Context): Template | 'failed' {
  const parts = node.parts.map((part) => resolvePart(part, ctx));
  const resolved = parts.filter((part) => part !== null);
  return resolved.length < parts.length ? 'failed' : resolved;
}

function resolvePart(part: TemplatePart, ctx: Context): string | Expression | null {
  if (part.kind === 'template-text') return part.text;
  const { value } = part;
  if (value.kind === 'path' && value.root.text === 'risk' && value.steps.length === 0) {
    return { kind: 'risk', type: quantity('integer'), span: value.span };
  }
  const expression = inferValue(value, ctx);
  if (expression === null || isPrintable(expression.type)) return expression;
  ctx.env.report(notPrintable(expression));
  return null;
}
