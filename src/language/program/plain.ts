// Which exact decimals one JavaScript number says completely, and which terms are such numbers whenever they are known:
// these can be compared as they are. INVARIANT: two plain numbers order as their decimals do.

import type { Value } from '../model/value.ts';
import { type Decimal, equal, fromNumber, toNumber } from '../value/decimal.ts';
import { isDecimal, isMoneyTerm } from './condition.ts';
import type { LiteralTerm, ReadTerm, Sort, Term } from './program.ts';

/** Decimals of up to 15 digits survive the way to a JavaScript number and back. */
const safeCoefficient = 1_000_000_000_000_000n;
const exactPowers = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** The JavaScript number whose shortest text is this decimal; null where there is none. */
export function plainNumber(value: Decimal): number | null {
  const { coefficient, exponent } = value;
  const power = exactPowers[Math.abs(exponent)];
  if (power !== undefined && -safeCoefficient < coefficient && coefficient < safeCoefficient) {
    // Both are exact, so the one rounding of the operation is that of reading the text.
    return exponent < 0 ? Number(coefficient) / power : Number(coefficient) * power;
  }
  const number = toNumber(value);
  return Number.isFinite(number) && equal(fromNumber(number), value) ? number : null;
}

/** Whether the term, where it is known, is a JavaScript number for certain. */
export function isPlain(term: Term): boolean {
  switch (term.kind) {
    case 'literal':
      return isPlainDecimal(term.value);
    case 'read':
      return isNumberSort(term.sort) && isOfPayload(term);
    case 'count':
      return true;
    case 'call':
      return term.builtin === 'length' || term.builtin === 'port';
    default:
      return false;
  }
}

/** An amount that stands in a field, beside its currency. */
export function isPayloadAmount(term: Term): term is ReadTerm {
  return term.kind === 'read' && term.sort === 'money' && term.currency !== null && isOfPayload(term);
}

/** A constant amount of one currency. */
export function isPlainMoney(term: Term): term is LiteralTerm {
  if (term.kind !== 'literal' || !isMoneyTerm(term.value)) return false;
  return term.value.currency !== null && plainNumber(term.value.amount) !== null;
}

function isPlainDecimal(value: Value): boolean {
  return isDecimal(value) && plainNumber(value) !== null;
}

function isOfPayload({ read }: ReadTerm): boolean {
  return read.root === 'payload' || read.steps.length > 0;
}

function isNumberSort(sort: Sort): boolean {
  return sort === 'number' || sort === 'integer';
}
