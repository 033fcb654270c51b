// What a literal says of numbers, and clauses that follow from it: some inequalities, each taken so many times, add up to
// one that says that 0 is more than 0. INVARIANT: `followsFrom` adds up and compares, and uses nothing of what found it.

import { type Fraction, multiplied, noFraction, plus, signOf } from './fraction.ts';

/** Some multiples of numbers, and a constant, add up to 0 or less; to less where it is strict. */
export interface Inequality {
  readonly terms: ReadonlyMap<string, Fraction>;
  readonly constant: Fraction;
  readonly isStrict: boolean;
}

export interface LemmaPart {
  /** The literal that says the inequality. */
  readonly literal: number;
  /** Which of those that it says, from 0. */
  readonly which: number;
  readonly multiplier: Fraction;
}

/** A clause that holds since the opposites of its literals cannot be. */
export interface Lemma {
  readonly clause: readonly number[];
  readonly parts: readonly LemmaPart[];
}

/** Whether the parts contradict each other, and the clause names each of them. */
export function followsFrom(
  { clause, parts }: Lemma,
  says: (literal: number) => readonly Inequality[],
): boolean {
  const total = new Map<string, Fraction>();
  let [constant, isStrict] = [noFraction, false];
  for (const { literal, which, multiplier } of parts) {
    const inequality = says(literal)[which];
    // The opposite of a literal is the literal with its last bit turned.
    if (inequality === undefined || signOf(multiplier) <= 0 || !clause.includes(literal ^ 1)) return false;
    for (const [name, factor] of inequality.terms)
      total.set(name, plus(total.get(name) ?? noFraction, multiplied(factor, multiplier)));
    constant = plus(constant, multiplied(inequality.constant, multiplier));
    isStrict ||= inequality.isStrict;
  }
  const isNumber = [...total.values()].every((factor) => signOf(factor) === 0);
  return isNumber && (signOf(constant) > 0 || (signOf(constant) === 0 && isStrict));
}
