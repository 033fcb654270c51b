// Concrete literals → literals of the tree, as written: no number is read, only signs are joined to what they precede.

import type {
  BoundCstNode,
  ConstantCstNode,
  FieldNameCstNode,
  LiteralCstNode,
  QuantityCstNode,
} from '../../grammar/generated/cst.ts';
import { literal, type Token } from '../../grammar/tokens.ts';
import { spanning } from '../diagnostic/span.ts';
import { type BuildContext, firstToken, plainName, tokenSpan } from './build-context.ts';
import { textLiteral } from './text-literal.ts';
import type { DurationLiteral, Literal, MoneyLiteral, Name, NumberLiteral } from './tree.ts';

/** A literal with a sign in front of it or without; null where recovery found none. */
export function buildConstant(node: ConstantCstNode | undefined, ctx: BuildContext): Literal | null {
  const value = buildLiteral(node?.children.literal?.[0], ctx);
  return signed(value, firstToken(node?.children.Minus), ctx);
}

export function buildBound(node: BoundCstNode | undefined, ctx: BuildContext): Literal | null {
  const children = node?.children ?? {};
  const quantity = buildQuantity(children.quantity?.[0], ctx);
  if (quantity !== null) return signed(quantity, firstToken(children.Minus), ctx);
  return simpleLiteral(firstToken(children.Date) ?? firstToken(children.Instant), ctx);
}

export function buildLiteral(node: LiteralCstNode | undefined, ctx: BuildContext): Literal | null {
  const children = node?.children ?? {};
  if (children.quantity !== undefined) return buildQuantity(children.quantity[0], ctx);
  const text = firstToken(children.Text);
  if (text !== undefined) return textLiteral(text, ctx);
  const token =
    firstToken(children.Date) ??
    firstToken(children.Instant) ??
    firstToken(children.Clock) ??
    firstToken(children.True) ??
    firstToken(children.False) ??
    firstToken(children.Null);
  return simpleLiteral(token, ctx);
}

function buildQuantity(node: QuantityCstNode | undefined, ctx: BuildContext): SignableLiteral | null {
  const children = node?.children ?? {};
  const number = firstToken(children.Number);
  const currency = firstToken(children.Currency);
  if (number !== undefined && currency !== undefined) {
    const span = spanning(tokenSpan(number, ctx), tokenSpan(currency, ctx));
    return { kind: 'money', amount: number.image, currency: currency.image, span };
  }
  if (number !== undefined) return numberLiteral(number, ctx);
  const duration = firstToken(children.Duration);
  return duration === undefined ? null : durationLiteral(duration, ctx);
}

export function numberLiteral(token: Token, ctx: BuildContext): NumberLiteral {
  return { kind: 'number', text: token.image, span: tokenSpan(token, ctx) };
}

export function durationLiteral(token: Token, ctx: BuildContext): DurationLiteral {
  return { kind: 'duration', text: token.image, span: tokenSpan(token, ctx) };
}

function simpleLiteral(token: Token | undefined, ctx: BuildContext): Literal | null {
  if (token === undefined) return null;
  const span = tokenSpan(token, ctx);
  switch (token.tokenType) {
    case literal.date:
      return { kind: 'date', text: token.image, span };
    case literal.instant:
      return { kind: 'instant', text: token.image, span };
    case literal.clock:
      return { kind: 'clock', text: token.image, span };
    default:
      return token.image === 'null'
        ? { kind: 'null', span }
        : { kind: 'boolean', value: token.image === 'true', span };
  }
}

type SignableLiteral = NumberLiteral | MoneyLiteral | DurationLiteral;

export function isSignable(value: { readonly kind: string }): value is SignableLiteral {
  return value.kind === 'number' || value.kind === 'money' || value.kind === 'duration';
}

/** The literal with its sign; a sign before anything else than a number, money or duration is reported by nobody here. */
export function withSign(value: SignableLiteral, minus: Token, ctx: BuildContext): SignableLiteral {
  const span = spanning(tokenSpan(minus, ctx), value.span);
  return value.kind === 'money'
    ? { ...value, amount: `${minus.image}${value.amount}`, span }
    : { ...value, text: `${minus.image}${value.text}`, span };
}

function signed(value: Literal | null, minus: Token | undefined, ctx: BuildContext): Literal | null {
  if (value === null || minus === undefined) return value;
  if (isSignable(value)) return withSign(value, minus, ctx);
  ctx.report({
    code: 'unexpected-token',
    severity: 'error',
    span: tokenSpan(minus, ctx),
    message: 'a sign stands before a number, an amount or a duration only',
  });
  return value;
}

/** A field's name, a word or quoted; null where recovery found none. */
export function buildFieldName(node: FieldNameCstNode | undefined, ctx: BuildContext): Name | null {
  const word = firstToken(node?.children.Word);
  if (word !== undefined) return plainName(word, ctx);
  const text = firstToken(node?.children.Text);
  return text === undefined ? null : quotedName(text, ctx);
}

export function quotedName(token: Token, ctx: BuildContext): Name {
  const { value, span } = textLiteral(token, { ...ctx, textMode: 'plain' });
  return { kind: 'name', text: value, isQuoted: true, span };
}
