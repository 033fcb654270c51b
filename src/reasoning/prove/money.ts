// Compares an amount of money with a constant: the amounts compare if the currencies agree, else the
// comparison is unknown.

import { currencyLocation } from '../../language/model/currency.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import { quantity } from '../../language/model/type.ts';
import type { Money } from '../../language/model/value.ts';
import type { Pair } from '../solver/circuit.ts';
import type { Elements, ProofContext } from './context.ts';
import { addAtom } from './leaf-atom.ts';
import { fieldLeaf, locationOfField } from './leaves.ts';
import { type Comparison, comparisonCall, literalNode, placeholderRead } from './rewrite.ts';

export function moneyAtom(
  ctx: ProofContext,
  field: FieldRead & Expression,
  { operator, constant, elements }: Comparison,
): Pair | null {
  const leaf = fieldLeaf(ctx, field, elements);
  const { amount, currency } = constant as Money;
  // One side of a policy comparison may declare the field with another type.
  if (leaf === null || locationOfField(ctx, field, elements)?.slot.type.kind !== 'money') return null;
  const number = { type: quantity('number'), span: field.span };
  const read = placeholderRead(number);
  const amounts = addAtom(ctx, leaf, comparisonCall(operator, read, literalNode(amount, number)));
  if (currency === null) return amounts;
  const same = currencyIs(ctx, { field, currency, elements });
  return same === null ? null : ctx.circuit.onlyIf(same.isTrue, amounts);
}

interface CurrencyOf {
  readonly field: FieldRead & Expression;
  readonly currency: string;
  readonly elements: Elements;
}

/** Whether the amount's currency, a field beside it, is the given one. */
export function currencyIs(ctx: ProofContext, { field, currency, elements }: CurrencyOf): Pair | null {
  const location = locationOfField(ctx, field, elements);
  const at = location === null ? null : currencyLocation(location.slot.type, field);
  const named = at === null ? null : locationOfField(ctx, { ...field, ...at }, elements);
  if (at === null || named === null) return null;
  const read: Expression = { ...field, ...at, type: named.slot.type };
  return ctx.lower(comparisonCall('==', read, literalNode(currency, read)), elements);
}
