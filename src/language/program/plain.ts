// Determines which exact decimals a JavaScript number represents completely, and which terms are always such
// numbers when they are known. Such numbers can be compared directly. INVARIANT: two plain numbers have the
// same order as their decimals.

import type { Value } from '../model/value.ts';
import { type Decimal, equal, fromNumber, toNumber } from '../value/decimal.ts';
import { isDecimal, isMoneyTerm } from './condition.ts';
import type { LiteralTerm, ReadTerm, Sort, Term } from './program.ts';

/**
 * The bound on coefficients of up to 15 digits. Such decimals survive the conversion to a JavaScript number
 * and back.
 */
const safeCoefficient = 1_000_000_000_000_000n;
const exactPowers = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Returns the JavaScript number whose shortest text is this decimal; null when there is none. */
export function plainNumber(value: Decimal): number | null {
  const { coefficient, exponent } = value;
  const power = exactPowers[Math.abs(exponent)];
  if (power !== undefined && -safeCoefficient < coefficient && coefficient < safeCoefficient) {
    // Both operands are exact, so the operation rounds once, as reading the text would.
    return exponent < 0 ? Number(coefficient) / power : Number(coefficient) * power;
  }
  const number = toNumber(value);
  return Number.isFinite(number) && equal(fromNumber(number), value) ? number : null;
}

/** Whether the term is certainly a JavaScript number whenever it is known. */
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

/** Whether the term is an amount in a field, with its currency in another field. */
export function isPayloadAmount(term: Term): term is ReadTerm {
  return term.kind === 'read' && term.sort === 'money' && term.currency !== null && isOfPayload(term);
}

/** Whether the term is a constant amount of one currency whose number is plain. */
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
