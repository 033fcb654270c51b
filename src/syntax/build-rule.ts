// Concrete rules and clauses → rules of the tree. A clause that recovery left without its substance is left out; a
// condition that could not be read is `missing`, so that the rule stays known.

import type {
  AfterClauseCstNode,
  ClauseCstNode,
  PointsClauseCstNode,
  RuleCstNode,
} from '../../grammar/generated/cst.ts';
import type { Token } from '../../grammar/tokens.ts';
import { spanning } from '../diagnostic/span.ts';
import {
  type BuildContext,
  firstToken,
  isPresent,
  nodeSpan,
  type Placed,
  plainName,
  tokenSpan,
} from './build-context.ts';
import { buildExpression } from './build-expression.ts';
import { durationLiteral, numberLiteral } from './build-literal.ts';
import { checkClauses, type WrittenClause } from './clauses.ts';
import { declaredName } from './declared-name.ts';
import { buildTemplate } from './template.ts';
import type { Clause, Effect, Rule } from './tree.ts';

/** A rule; null where recovery found no effect or name. */
export function buildRule(node: RuleCstNode, ctx: BuildContext): Rule | null {
  const span = nodeSpan(node, ctx);
  const { Shadow, Allow, Deny, Escalate, Reauth, Risk, Word, clause = [] } = node.children;
  const effectTokens = [Allow, Deny, Escalate, Reauth, Risk].flatMap((tokens) => tokens ?? []);
  const effect = firstToken(effectTokens)?.image as Effect | undefined;
  const name = declaredName(firstToken(Word), 'a rule', ctx);
  if (span === null || effect === undefined || name === null) return null;
  const written = clause.map((one) => buildClause(one, ctx)).filter(isPresent);
  if (node.recoveredNode !== true && clause.every((one) => !isRecovered(one))) {
    checkClauses(effect, name.span, written, ctx);
  }
  const isShadow = firstToken(Shadow) !== undefined;
  const clauses = written.map((one) => one.clause);
  return { kind: 'rule', doc: ctx.docBefore(span.start), effect, name, isShadow, clauses, span };
}

function isRecovered(node: ClauseCstNode): boolean {
  return (
    node.recoveredNode === true ||
    Object.values(node.children)
      .flat()
      .some((child) => child?.recoveredNode)
  );
}

function buildClause(node: ClauseCstNode, ctx: BuildContext): WrittenClause | null {
  const { pointsClause, ...others } = node.children;
  const points = pointsClause?.[0];
  const clause = points === undefined ? buildOtherClause(others, ctx) : buildPoints(points, ctx);
  const isBarePoints = points !== undefined && firstToken(points.children.Risk) === undefined;
  return clause === null ? null : { clause, isBarePoints };
}

type OtherClauses = Omit<ClauseCstNode['children'], 'pointsClause'>;

function buildOtherClause(children: OtherClauses, ctx: BuildContext): Clause | null {
  const { forClause, afterClause, toClause, needsClause, withinClause } = children;
  if (forClause !== undefined) return withDuration('for', forClause[0], ctx);
  if (withinClause !== undefined) return withDuration('within', withinClause[0], ctx);
  if (afterClause !== undefined) return buildAfter(afterClause[0], ctx);
  if (toClause !== undefined) {
    const group = firstToken(toClause[0]?.children.Word);
    const span = nodeSpan(toClause[0], ctx);
    return group === undefined || span === null ? null : { kind: 'to', group: plainName(group, ctx), span };
  }
  if (needsClause !== undefined) {
    const people = firstToken(needsClause[0]?.children.Number);
    const span = nodeSpan(needsClause[0], ctx);
    return people === undefined || span === null
      ? null
      : { kind: 'needs', people: numberLiteral(people, ctx), span };
  }
  return buildConditionOrReason(children, ctx);
}

function buildConditionOrReason(children: OtherClauses, ctx: BuildContext): Clause | null {
  const { whenClause, unlessClause, becauseClause } = children;
  if (becauseClause !== undefined) {
    const reason = firstToken(becauseClause[0]?.children.Text);
    const span = nodeSpan(becauseClause[0], ctx);
    return reason === undefined || span === null
      ? null
      : { kind: 'because', reason: buildTemplate(reason, ctx), span };
  }
  const node = whenClause?.[0] ?? unlessClause?.[0];
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const kind = whenClause === undefined ? 'unless' : 'when';
  const condition = buildExpression(node.children.expression?.[0], span.start + kind.length, ctx);
  return { kind, condition, span: spanning(span, condition.span) };
}

interface DurationClause extends Placed {
  readonly children: { readonly Duration?: readonly Token[] };
}

function withDuration(
  kind: 'for' | 'within',
  node: DurationClause | undefined,
  ctx: BuildContext,
): Clause | null {
  const duration = firstToken(node?.children.Duration);
  const span = nodeSpan(node, ctx);
  return duration === undefined || span === null
    ? null
    : { kind, duration: durationLiteral(duration, ctx), span };
}

function buildAfter(node: AfterClauseCstNode | undefined, ctx: BuildContext): Clause | null {
  const { Word, Reauth } = node?.children ?? {};
  const span = nodeSpan(node, ctx);
  const group = firstToken(Word);
  if (span === null) return null;
  if (group !== undefined) return { kind: 'after-approval', group: plainName(group, ctx), span };
  return firstToken(Reauth) === undefined ? null : { kind: 'after-reauth', span };
}

function buildPoints(node: PointsClauseCstNode, ctx: BuildContext): Clause | null {
  const signToken = firstToken(node.children.sign);
  const number = firstToken(node.children.Number);
  const span = nodeSpan(node, ctx);
  if (signToken === undefined || number === undefined || span === null) return null;
  const points = {
    kind: 'number',
    text: `${signToken.image === '-' ? '-' : '+'}${number.image}`,
    span: spanning(tokenSpan(signToken, ctx), tokenSpan(number, ctx)),
  } as const;
  return { kind: 'points', points, span };
}
