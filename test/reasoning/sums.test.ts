// Sums of fields and readings compared with each other: claims whose answers are known, the lemmas behind
// them, and the simplex that finds the lemmas.

import { describe, expect, it } from 'vitest';
import { authorize } from '../../src/language/spec/authorize.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { type Fraction, fraction, multiplied, plus, signOf } from '../../src/reasoning/linear/fraction.ts';
import { followsFrom, type Inequality, type Lemma } from '../../src/reasoning/linear/inequality.ts';
import { Simplex } from '../../src/reasoning/linear/simplex.ts';
import { createProblem } from '../../src/reasoning/prove/problem.ts';
import { ProofLog } from '../../src/reasoning/prove/proof-log.ts';
import { proveGuarantees } from '../../src/reasoning/prove/prove.ts';
import { type Certificate, certificatesOf, wrongWith } from '../../src/reasoning/prove/report/certificate.ts';
import { inequalitiesOf, solveFor } from '../../src/reasoning/prove/search.ts';
import { checkLog } from '../../src/reasoning/solver/check-log.ts';
import type { SolverClause } from '../../src/reasoning/solver/literal.ts';

const head = `
action pay.make {
  total: number 0..
  paid: number 0..
  a: integer 0..1000
  b: integer 0..1000
  c: integer -1000..1000
  start: timestamp
  finish: timestamp
  day: date
  due: date
  price: money(currency)
  fee: money(currency)
  currency: "USD" | "EUR"
  ids: [string ..20] ..50
  others: [string ..20] ..50
  x: number
  y: number
}
meter day_paid = sum(payload.total) of pay.make per agent over 24h
meter week_paid = sum(payload.total) of pay.make per agent over 7d
`;

function setOf(guards: readonly string[], claim: string) {
  const rules = guards.map((guard, at) => `  deny d${at} when ${guard}\n`).join('');
  const text = `${head}policy p on pay.make {\n  allow all\n${rules}}\nguarantee g on pay.make { ${claim} }\n`;
  const missing = { code: 'list-file-missing', message: '' } as const;
  const { set, diagnostics } = compileToProgram({
    files: [{ path: 'a.policy', text }],
    readListFile: () => missing,
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return set;
}

describe('claims about sums', () => {
  it.each<[string, string[], 'proved' | 'refuted']>([
    ['payload.a + payload.b > 100', ['payload.a > 50', 'payload.b > 50'], 'proved'],
    ['payload.a + payload.b > 99', ['payload.a > 50', 'payload.b > 50'], 'refuted'],
    ['payload.a - payload.b >= 1', ['payload.a > payload.b'], 'proved'],
    ['payload.b < payload.a', ['payload.a > payload.b'], 'proved'],
    ['payload.a > payload.c', ['payload.a > payload.b', 'payload.b > payload.c'], 'proved'],
    ['payload.a > payload.c + 1', ['payload.a > payload.b', 'payload.b > payload.c + 2'], 'refuted'],
    ['payload.total - payload.paid > 200', ['payload.total - payload.paid > 100'], 'proved'],
    ['payload.total - payload.paid > 50', ['payload.total - payload.paid > 100'], 'refuted'],
    ['payload.finish > payload.start + 6d', ['payload.finish - payload.start > 5d'], 'proved'],
    ['payload.finish > payload.start + 4d', ['payload.finish - payload.start > 5d'], 'refuted'],
    ['payload.due - payload.day > 6d', ['payload.due - payload.day > 5d'], 'proved'],
    ['payload.due - payload.day <= -2d', ['payload.due < payload.day'], 'proved'],
    ['payload.start > now + 1d', ['payload.start > now'], 'proved'],
    ['payload.start > now - 1d', ['payload.start > now'], 'refuted'],
    ['payload.a > 6', ['2 * payload.a + 3 * payload.b > 12'], 'proved'],
    ['payload.b > 4', ['2 * payload.a + 3 * payload.b > 12'], 'proved'],
    ['payload.b > 3', ['2 * payload.a + 3 * payload.b > 12'], 'refuted'],
    ['payload.a >= payload.b and payload.a <= payload.b', ['payload.a == payload.b'], 'proved'],
    ['payload.a > 5 and payload.b < 5', ['payload.a != payload.b'], 'proved'],
    ['payload.price < payload.fee', ['payload.fee > payload.price'], 'proved'],
    [
      'length(payload.ids) > 3 and length(payload.others) <= 2',
      ['length(payload.ids) > length(payload.others)'],
      'proved',
    ],
    ['length(payload.ids) > 3', ['length(payload.ids) > length(payload.others)'], 'refuted'],
  ])('never allow when %s, with guards %j: %s', (claim, guards, expected) => {
    const set = setOf(guards, `never allow when ${claim}`);
    const [verdict] = proveGuarantees(set)[0]!.verdicts;
    expect(verdict?.kind).toBe(expected);
    if (verdict?.kind === 'proved') expect(checkLog(verdict.proof, verdict.proof.assumptions)).toBe(true);
    if (verdict?.kind === 'refuted') expect(authorize(set, verdict.facts)).toEqual(verdict.decision);
  });

  it.each<[string, string[], 'proved' | 'refuted']>([
    ['day_paid > 100', ['week_paid > 100', 'day_paid > 5_000'], 'proved'],
    ['week_paid > 100', ['day_paid > 100'], 'refuted'],
    ['day_paid > payload.x', ['week_paid > payload.x', 'day_paid > 5_000'], 'proved'],
    ['payload.total > payload.x', ['day_paid > payload.x'], 'proved'],
    // A meter that was just declared may be unknown while a longer one is known.
    ['day_paid > 100', ['week_paid > 100'], 'refuted'],
  ])('never allow when %s, with guards %j: %s, of readings', (claim, guards, expected) => {
    const set = setOf(guards, `never allow when ${claim}`);
    expect(proveGuarantees(set)[0]!.kind).toBe(expected);
  });

  it.each([
    ['payload.y * payload.x > 12', 'payload.x * payload.y > 12', 'guessed conditions'],
    ['payload.y / 3 > payload.x', 'payload.y > payload.x * 3', 'guessed conditions'],
    ['payload.y + payload.x > 12', 'payload.x + payload.y > 12', 'many digits'],
  ])('never allow when %s is undecided with a guard on %s', (claim, guard, why) => {
    const [verdict] = proveGuarantees(setOf([guard], `never allow when ${claim}`))[0]!.verdicts;
    expect(verdict).toMatchObject({ kind: 'undecided', why });
    expect(verdict?.kind === 'undecided' && verdict.terms.length).toBeGreaterThan(0);
  });
});

describe('lemmas', () => {
  it('follow from what their literals say, and not with a part left out, negated, or a literal forgotten', () => {
    const set = setOf(['payload.a > 50', 'payload.b > 50'], 'never allow when payload.a + payload.b > 100');
    const { ctx, broken } = createProblem(set, 'pay.make', { claims: set.guarantees[0]!.claims });
    expect(solveFor(ctx, broken)).toBe(false);
    const says = (literal: number): readonly Inequality[] => inequalitiesOf(ctx, literal);
    expect(ctx.lemmas.length).toBeGreaterThan(0);
    for (const lemma of ctx.lemmas) {
      expect(followsFrom(lemma, says)).toBe(true);
      for (const wrong of spoiled(lemma)) expect(followsFrom(wrong, says)).toBe(false);
    }
  });
});

describe('the log of a proof', () => {
  it('is believed as a whole, and not with a step, a lemma or an end that does not follow', () => {
    const solved = () => {
      const set = setOf(['payload.a > 50', 'payload.b > 50'], 'never allow when payload.a + payload.b > 100');
      const { ctx, broken } = createProblem(set, 'pay.make', { claims: set.guarantees[0]!.claims });
      expect(solveFor(ctx, broken)).toBe(false);
      return { ctx, core: ctx.circuit.solver.core };
    };
    const { ctx, core } = solved();
    expect(() => new ProofLog(ctx).check(core)).not.toThrow();
    expect(() => new ProofLog(ctx).check([])).toThrow('the end of a proof does not check');
    const [wrong] = spoiled(ctx.lemmas[0]!);
    const spoilt = { ...ctx, lemmas: [...ctx.lemmas, wrong!] };
    expect(() => new ProofLog(spoilt).check(core)).toThrow('a lemma about sums does not follow');
    (ctx.circuit.solver.learned as SolverClause[]).push([]);
    expect(() => new ProofLog(ctx).check(core)).toThrow('the log of a proof does not check');
  });
});

describe('certificates', () => {
  it('name the lemmas, and do not check with one changed or left out', () => {
    const set = setOf(['payload.a > 50', 'payload.b > 50'], 'never allow when payload.a + payload.b > 100');
    const [certificate] = JSON.parse(JSON.stringify(certificatesOf(set))) as Certificate[];
    expect(wrongWith(certificate!, set)).toBeNull();
    const { lemmas } = certificate!;
    expect(lemmas.length).toBeGreaterThan(0);
    const changed = lemmas.map((parts) => parts.map(([literal, which]) => [literal, which, '7/3'] as const));
    const other = changed.map((parts) => [[parts[0]![0], parts[0]![1], '1/1'] as const, ...parts.slice(1)]);
    expect(wrongWith({ ...certificate!, lemmas: other }, set)).toBe('a lemma about sums does not follow');
    expect(wrongWith({ ...certificate!, lemmas: [] }, set)).toBe('a step does not follow');
  });
});

function spoiled({ clause, parts }: Lemma): readonly Lemma[] {
  return [
    ...parts.map((_, at) => ({ clause, parts: parts.toSpliced(at, 1) })),
    ...clause.map((_, at) => ({ clause: clause.toSpliced(at, 1), parts })),
    { clause, parts: parts.map((part, at) => (at > 0 ? part : { ...part, multiplier: fraction(-1n, 1n) })) },
    { clause, parts: parts.map((part, at) => (at > 0 ? part : { ...part, multiplier: fraction(7n, 3n) })) },
  ];
}

describe('Simplex', () => {
  it('finds numbers for which all bounds hold, or bounds that add up to what cannot be', () => {
    const random = createRandom(11);
    const counts = { yes: 0, no: 0 };
    for (let round = 0; round < 400; round += 1) {
      const problem = drawnProblem(random);
      const answer = solved(problem);
      counts[answer] += 1;
    }
    expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(40);
  });
});

interface DrawnBound {
  readonly sum: readonly bigint[];
  readonly isUpper: boolean;
  readonly number: Fraction;
  readonly isStrict: boolean;
}

function drawnProblem(random: ReturnType<typeof createRandom>): readonly DrawnBound[] {
  const count = 2 + random.below(6);
  return Array.from({ length: count }, () => ({
    sum: Array.from({ length: 3 }, () => BigInt(random.below(5) - 2)),
    isUpper: random.chance(0.5),
    number: fraction(BigInt(random.below(21) - 10), BigInt(1 + random.below(3))),
    isStrict: random.chance(0.4),
  })).filter(({ sum }) => sum.some((factor) => factor !== 0n));
}

/**
 * Whether the bounds have a solution. A "yes" is checked by its numbers against each bound, a "no" by adding
 * up with its multipliers.
 */
function solved(bounds: readonly DrawnBound[]): 'yes' | 'no' {
  const simplex = new Simplex<number>();
  const plain = [0, 1, 2].map(() => simplex.variable(fraction(0n, 1n)));
  const sums = bounds.map(({ sum }) =>
    simplex.sum(new Map(plain.flatMap((one, at) => (sum[at] === 0n ? [] : [[one, fraction(sum[at]!, 1n)]])))),
  );
  let found = null;
  for (const [at, { isUpper, number, isStrict }] of bounds.entries())
    found ??= simplex.bound(sums[at]!, { isUpper, number, isStrict, reason: at });
  found ??= simplex.solve();
  if (found === null) {
    const numbers = simplex.numbers();
    for (const bound of bounds) expect(holds(bound, numbers)).toBe(true);
    return 'yes';
  }
  const parts = found.map(({ reason, multiplier }) => ({ literal: 2 * reason, which: 0, multiplier }));
  const clause = parts.map(({ literal }) => literal + 1);
  expect(followsFrom({ clause, parts }, (literal) => [inequalityOf(bounds[literal / 2]!)])).toBe(true);
  return 'no';
}

function holds({ sum, isUpper, number, isStrict }: DrawnBound, numbers: readonly Fraction[]): boolean {
  const total = sum.reduce(
    (all, factor, at) => plus(all, multiplied(fraction(factor, 1n), numbers[at]!)),
    fraction(0n, 1n),
  );
  const sign = signOf(plus(total, fraction(-number.top, number.bottom)));
  if (sign === 0) return !isStrict;
  return isUpper ? sign < 0 : sign > 0;
}

function inequalityOf({ sum, isUpper, number, isStrict }: DrawnBound): Inequality {
  const sign = isUpper ? 1n : -1n;
  const terms = sum.map((factor, at): [string, Fraction] => [String(at), fraction(factor * sign, 1n)]);
  return { terms: new Map(terms), constant: fraction(-number.top * sign, number.bottom), isStrict };
}
