// Concrete expressions → expressions of the tree. Chains of operators become left-leaning pairs without recursion; what
// recovery left out becomes `missing`, beside which a diagnostic already stands.

import type {
  CallCstNode,
  ComparisonCstNode,
  ConjunctionCstNode,
  ExpressionCstNode,
  FallbackCstNode,
  InversionCstNode,
  ListLiteralCstNode,
  MembershipCstNode,
  NegationCstNode,
  PathCstNode,
  PresenceCstNode,
  PrimaryCstNode,
  ProductCstNode,
  QuantifierCstNode,
  RelationCstNode,
  SourceCstNode,
  SumCstNode,
  TodayCstNode,
} from '../../grammar/generated/cst.ts';
import type { Token } from '../../grammar/tokens.ts';
import { type Span, spanning } from '../diagnostic/span.ts';
import {
  type BuildContext,
  firstToken,
  isPresent,
  missingAt,
  nodeSpan,
  type Placed,
  plainName,
  syntaxError,
  tokenSpan,
  writtenTokens,
} from './build-context.ts';
import { buildConstant, buildFieldName, buildLiteral, isSignable, withSign } from './build-literal.ts';
import { declaredName } from './declared-name.ts';
import { textLiteral } from './text-literal.ts';
import type { BinaryOperator, Expression, Path, Quantifier, Unary } from './tree.ts';
import { replaceBareValues } from './value-as-condition.ts';
import { expressionDepth } from './visit.ts';

/** How deep operators may stand inside one another: every later stage walks the tree by recursion, but for chains. */
const expressionDepthMax = 500;

/** A whole expression; `after` is the offset of what stands before it, where a missing one is placed. */
export function buildExpression(
  node: ExpressionCstNode | undefined,
  after: number,
  ctx: BuildContext,
): Expression {
  const expression = disjunction(node, after, ctx);
  if (expressionDepth(expression) <= expressionDepthMax) return expression;
  const message = `an expression is more than ${expressionDepthMax} operators deep`;
  ctx.report(
    syntaxError(
      'expression-too-deep',
      expression.span,
      message,
      'name parts of it with `let`, or use a list',
    ),
  );
  return missingAt(expression.span.start, ctx);
}

/** An operand with the place that it takes in the text, parentheses included. */
interface Operand {
  readonly value: Expression;
  readonly extent: Span;
}

/** The children of a chain: operands with operators between them. */
interface Chain<Node extends Placed> {
  readonly operands: readonly Node[];
  readonly operators: readonly Token[];
  readonly build: (node: Node | undefined, after: number, ctx: BuildContext) => Expression;
}

function disjunction(node: ExpressionCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { conjunction: operands = [], Or = [] } = node?.children ?? {};
  if (operands.length === 1 && Or.length === 0) return conjunction(operands[0], after, ctx);
  const chain = { operands, operators: writtenTokens(Or), build: conjunction };
  return pairUp(replaceBareValues(chainOperands(chain, after, ctx), 'or', ctx), chain.operators, ctx);
}

function conjunction(node: ConjunctionCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { inversion: operands = [], And = [] } = node?.children ?? {};
  if (operands.length === 1 && And.length === 0) return inversion(operands[0], after, ctx);
  const chain = { operands, operators: writtenTokens(And), build: inversion };
  return pairUp(replaceBareValues(chainOperands(chain, after, ctx), 'and', ctx), chain.operators, ctx);
}

function sum(node: SumCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { product: operands = [], operator = [] } = node?.children ?? {};
  if (operands.length === 1 && operator.length === 0) return product(operands[0], after, ctx);
  const chain = { operands, operators: writtenTokens(operator), build: product };
  return pairUp(chainOperands(chain, after, ctx), chain.operators, ctx);
}

function product(node: ProductCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { negation: operands = [], operator = [] } = node?.children ?? {};
  if (operands.length === 1 && operator.length === 0) return negation(operands[0], after, ctx);
  const chain = { operands, operators: writtenTokens(operator), build: negation };
  return pairUp(chainOperands(chain, after, ctx), chain.operators, ctx);
}

function chainOperands<Node extends Placed>(
  { operands, operators, build }: Chain<Node>,
  after: number,
  ctx: BuildContext,
): readonly Operand[] {
  const count = Math.max(1, operands.length, operators.length + 1);
  return Array.from({ length: count }, (_, index) => {
    const before = operators[index - 1];
    const place = before === undefined ? after : tokenSpan(before, ctx).end;
    const value = build(operands[index], place, ctx);
    return { value, extent: nodeSpan(operands[index], ctx) ?? value.span };
  });
}

function pairUp(operands: readonly Operand[], operators: readonly Token[], ctx: BuildContext): Expression {
  const [first, ...rest] = operands;
  let left = first!;
  for (const [index, right] of rest.entries()) {
    const token = operators[index];
    if (token === undefined) break;
    left = pair(
      left,
      { operator: token.image as BinaryOperator, operatorSpan: tokenSpan(token, ctx) },
      right,
    );
  }
  return left.value;
}

interface Operator {
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
}

function pair(left: Operand, operator: Operator, right: Operand): Operand {
  const extent = spanning(left.extent, right.extent);
  const value = { kind: 'binary', ...operator, left: left.value, right: right.value, span: extent } as const;
  return { value, extent };
}

function inversion(node: InversionCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const children = node?.children ?? {};
  const operators = writtenTokens(children.Not);
  const operand = children.comparison?.[0];
  const value = comparison(operand, endOf(operators.at(-1), after, ctx), ctx);
  return prefix(operators, 'not', { value, extent: nodeSpan(operand, ctx) ?? value.span }, ctx);
}

function prefix(
  tokens: readonly Token[],
  operator: Unary['operator'],
  operand: Operand,
  ctx: BuildContext,
): Expression {
  return tokens.reduceRight<Expression>(
    (inner, token) => ({
      kind: 'unary',
      operator,
      operand: inner,
      span: spanning(tokenSpan(token, ctx), operand.extent),
    }),
    operand.value,
  );
}

function comparison(node: ComparisonCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const {
    sum: operands,
    relation: relations,
    membership: memberships,
    presence: presences,
  } = node?.children ?? {};
  const value = sum(operands?.[0], after, ctx);
  const left = { value, extent: nodeSpan(operands?.[0], ctx) ?? value.span };
  const relation = relations?.[0];
  const membership = memberships?.[0];
  const presence = presences?.[0];
  if (relation !== undefined) return buildRelation(left, relation, ctx);
  if (membership !== undefined) return buildMembership(left, membership, ctx);
  return presence === undefined ? value : buildPresence(left, presence, ctx);
}

function buildRelation(left: Operand, node: RelationCstNode, ctx: BuildContext): Expression {
  const { sum: operands, ...operatorTokens } = node.children;
  const tokens = Object.values(operatorTokens)
    .flatMap((list) => writtenTokens(list))
    .toSorted((a, b) => a.startOffset - b.startOffset);
  const [first] = tokens;
  if (first === undefined) return left.value;
  const operatorSpan = spanning(tokenSpan(first, ctx), tokenSpan(tokens.at(-1)!, ctx));
  const operator = fullOperator[first.image] ?? (first.image as BinaryOperator);
  const isPattern = operator === 'like' || operator === 'matches';
  const inner: BuildContext = isPattern ? { ...ctx, textMode: 'pattern' } : ctx;
  const value = sum(operands?.[0], operatorSpan.end, inner);
  const right = { value, extent: nodeSpan(operands?.[0], ctx) ?? value.span };
  return pair(left, { operator, operatorSpan }, right).value;
}

/** Operators of several words, by the first. */
const fullOperator: Readonly<Record<string, BinaryOperator>> = {
  starts: 'starts with',
  ends: 'ends with',
  mentions: 'mentions any of',
};

function buildMembership(left: Operand, node: MembershipCstNode, ctx: BuildContext): Expression {
  const { Not, In, Range, sum: operands } = node.children;
  const not = firstToken(Not);
  const last = firstToken(In) ?? not;
  if (last === undefined) return left.value;
  const operatorSpan = spanning(tokenSpan(not ?? last, ctx), tokenSpan(last, ctx));
  const operator = not === undefined ? 'in' : 'not in';
  const low = sum(operands?.[0], operatorSpan.end, ctx);
  const lowExtent = nodeSpan(operands?.[0], ctx) ?? low.span;
  const range = firstToken(Range);
  if (range === undefined)
    return pair(left, { operator, operatorSpan }, { value: low, extent: lowExtent }).value;
  const high = sum(operands?.[1], tokenSpan(range, ctx).end, ctx);
  const extent = spanning(lowExtent, nodeSpan(operands?.[1], ctx) ?? high.span);
  const right = { value: { kind: 'range', low, high, span: extent }, extent } as const;
  return pair(left, { operator, operatorSpan }, right).value;
}

function buildPresence(left: Operand, node: PresenceCstNode, ctx: BuildContext): Expression {
  const field = (node.children.fieldName ?? []).map((name) => buildFieldName(name, ctx)).filter(isPresent);
  const subject = left.value;
  const has = firstToken(node.children.Has);
  if (has === undefined || subject.kind === 'missing') return subject;
  if (subject.kind !== 'path') {
    const help = 'write a path before it, such as `payload has note`';
    ctx.report(syntaxError('has-without-path', subject.span, '`has` asks about a path', help));
    return missingAt(subject.span.start, ctx);
  }
  const end = field.at(-1)?.span ?? tokenSpan(has, ctx);
  if (field.length === 0) return missingAt(end.end, ctx);
  return { kind: 'has', subject, field, span: spanning(left.extent, end) };
}

function negation(node: NegationCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { Minus, primary: primaries, Else, fallback: fallbacks = [] } = node?.children ?? {};
  const signs = writtenTokens(Minus);
  const subject = primaries?.[0];
  const value = primary(subject, endOf(signs.at(-1), after, ctx), ctx);
  const extent = nodeSpan(subject, ctx) ?? value.span;
  const isBareLiteral = subject?.children.literal !== undefined && fallbacks.length === 0;
  const last = signs.at(-1);
  if (isBareLiteral && last !== undefined && isSignable(value)) {
    const literal = withSign(value, last, ctx);
    return prefix(signs.slice(0, -1), '-', { value: literal, extent: literal.span }, ctx);
  }
  let operand: Operand = { value, extent };
  for (const [index, token] of writtenTokens(Else).entries()) {
    const fallback = buildFallback(fallbacks[index], tokenSpan(token, ctx).end, ctx);
    const span = spanning(extent, nodeSpan(fallbacks[index], ctx) ?? fallback.span);
    operand = { value: { kind: 'else', subject: operand.value, fallback, span }, extent: span };
  }
  return prefix(signs, '-', operand, ctx);
}

function buildFallback(node: FallbackCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const { constant, path, parentheses } = node?.children ?? {};
  if (path !== undefined) return buildPath(path[0], ctx) ?? missingAt(after, ctx);
  if (parentheses !== undefined) return disjunction(parentheses[0]?.children.expression?.[0], after, ctx);
  return buildConstant(constant?.[0], ctx) ?? missingAt(after, ctx);
}

function primary(node: PrimaryCstNode | undefined, after: number, ctx: BuildContext): Expression {
  const children = node?.children ?? {};
  if (children.parentheses !== undefined) {
    return disjunction(children.parentheses[0]?.children.expression?.[0], after, ctx);
  }
  const built =
    (children.path && buildPath(children.path[0], ctx)) ??
    (children.literal && buildLiteral(children.literal[0], ctx)) ??
    (children.listLiteral && buildListLiteral(children.listLiteral[0], ctx)) ??
    (children.call && buildCall(children.call[0], ctx)) ??
    (children.quantifier && buildQuantifier(children.quantifier[0], ctx)) ??
    (children.today && buildToday(children.today[0], ctx));
  return built ?? missingAt(after, ctx);
}

/** A path; null where recovery left its root out. */
export function buildPath(node: PathCstNode | undefined, ctx: BuildContext): Path | null {
  const { Word, Risk, fieldName = [] } = node?.children ?? {};
  const first = firstToken(Word) ?? firstToken(Risk);
  if (first === undefined) return null;
  const root = plainName(first, ctx);
  const steps = fieldName.map((name) => buildFieldName(name, ctx)).filter(isPresent);
  return { kind: 'path', root, steps, span: spanning(root.span, steps.at(-1)?.span ?? root.span) };
}

function buildListLiteral(node: ListLiteralCstNode | undefined, ctx: BuildContext): Expression | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const { expression = [] } = node.children;
  const entries = expression.map((entry) => disjunction(entry, span.start + 1, ctx));
  return { kind: 'list-literal', entries, span };
}

function buildCall(node: CallCstNode | undefined, ctx: BuildContext): Expression | null {
  const span = nodeSpan(node, ctx);
  const name = firstToken(node?.children.Word);
  if (node === undefined || span === null || name === undefined) return null;
  const args = (node.children.expression ?? []).map((argument) => disjunction(argument, span.start, ctx));
  return { kind: 'call', callee: plainName(name, ctx), args, span };
}

function buildQuantifier(node: QuantifierCstNode | undefined, ctx: BuildContext): Expression | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const { Some, Every, No, Count, Sum, Word, source = [], expression } = node.children;
  const first = firstToken([Some, Every, No, Count, Sum].flatMap((tokens) => tokens ?? []));
  const variable = declaredName(firstToken(Word), 'an element', ctx);
  if (first === undefined || variable === null) return null;
  const quantifier = first.image as Quantifier['quantifier'];
  const sources = source.map((one) => buildSource(one, ctx)).filter(isPresent);
  const body = disjunction(expression?.[0], span.end, ctx);
  return { kind: 'quantifier', quantifier, variable, sources, body, span };
}

function buildSource(node: SourceCstNode, ctx: BuildContext): Expression | null {
  const { listLiteral, call, path } = node.children;
  if (listLiteral !== undefined) return buildListLiteral(listLiteral[0], ctx);
  if (call !== undefined) return buildCall(call[0], ctx);
  return buildPath(path?.[0], ctx);
}

function buildToday(node: TodayCstNode | undefined, ctx: BuildContext): Expression | null {
  const span = nodeSpan(node, ctx);
  const zone = firstToken(node?.children.Text);
  return span === null || zone === undefined ? null : { kind: 'today', zone: textLiteral(zone, ctx), span };
}

function endOf(token: Token | undefined, otherwise: number, ctx: BuildContext): number {
  return token === undefined ? otherwise : tokenSpan(token, ctx).end;
}
