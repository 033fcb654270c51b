// Inequalities of numbers that literals stand for, and clauses that follow from them: some inequalities, each
// taken with a multiplier, add up to "0 is more than 0". INVARIANT: `followsFrom` only adds up and compares;
// it uses nothing of the code that found the lemma.

import { type Fraction, multiplied, noFraction, opposite, plus, signOf } from './fraction.ts';

/** A statement that multiples of numbers and a constant add up to 0 or less; to less than 0 if `isStrict`. */
export interface Inequality {
  readonly terms: ReadonlyMap<string, Fraction>;
  readonly constant: Fraction;
  readonly isStrict: boolean;
}

/** The inequality with the opposite of each factor and of the constant. */
export function negatedInequality({ terms, constant, isStrict }: Inequality): Inequality {
  return {
    terms: new Map([...terms].map(([name, factor]) => [name, opposite(factor)])),
    constant: opposite(constant),
    isStrict,
  };
}

/** The inequality that holds exactly when this one does not. */
export function oppositeOf(inequality: Inequality): Inequality {
  return { ...negatedInequality(inequality), isStrict: !inequality.isStrict };
}

export interface LemmaPart {
  /** The literal that stands for the inequality. */
  readonly literal: number;
  /** The index of the inequality among those of the literal, from 0. */
  readonly which: number;
  readonly multiplier: Fraction;
}

/**
 * A clause that holds since the opposites of its literals cannot all be true, and the inequalities that show
 * this.
 */
export interface Lemma {
  readonly clause: readonly number[];
  readonly parts: readonly LemmaPart[];
}

/**
 * Whether the inequalities of the parts contradict each other, and the clause holds the opposite of each
 * part's literal.
 */
export function followsFrom(
  { clause, parts }: Lemma,
  says: (literal: number) => readonly Inequality[],
): boolean {
  const total = new Map<string, Fraction>();
  let [constant, isStrict] = [noFraction, false];
  for (const { literal, which, multiplier } of parts) {
    const inequality = says(literal)[which];
    // The opposite of a literal differs in the last bit.
    if (inequality === undefined || signOf(multiplier) <= 0 || !clause.includes(literal ^ 1)) return false;
    for (const [name, factor] of inequality.terms)
      total.set(name, plus(total.get(name) ?? noFraction, multiplied(factor, multiplier)));
    constant = plus(constant, multiplied(inequality.constant, multiplier));
    isStrict ||= inequality.isStrict;
  }
  const isNumber = [...total.values()].every((factor) => signOf(factor) === 0);
  return isNumber && (signOf(constant) > 0 || (signOf(constant) === 0 && isStrict));
}
