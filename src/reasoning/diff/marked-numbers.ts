// Marks the payload's numbers that open rules compare with constants. Their leaves are cut at these
// constants, so that a finding shows number ranges as narrow as if the rules were asked. The truth of the
// rules stays a guess.

import { childrenOf } from '../../language/model/children.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { Money, Unknown, Value } from '../../language/model/value.ts';
import type { Decimal } from '../../language/value/decimal.ts';
import { constantOf } from '../cells/understand.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { fieldLeaf } from '../prove/leaves.ts';
import { currencyIs } from '../prove/money.ts';

/** Must run before leaves are cut; `rules` belong to `set`. */
export function markNumbers(ctx: ProofContext, rules: readonly Rule[], set: PolicySet): void {
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

function mark(ctx: ProofContext, subject: Expression, constant: Value | Unknown | null): void {
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
