// A proof as data that can be stored, handed on and checked again: the clauses of the formula, and the steps
// that show that they cannot hold while the claim is broken. The check compares the certificate with the
// formula of the given policies.

import type { GuaranteeClause, PolicySet } from '../../../language/model/policy.ts';
import { fraction } from '../../linear/fraction.ts';
import { followsFrom, type Lemma } from '../../linear/inequality.ts';
import { checkLog } from '../../solver/check-log.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../../solver/literal.ts';
import { createProblem, enforcedOf } from '../problem.ts';
import { canBeLeftOut, decideClauses, holdsWithMoreGuards } from '../prove.ts';
import { inequalitiesOf } from '../search.ts';

/**
 * A literal, the index of one of its inequalities from 0, and the multiplier with which the inequality is
 * added, such as `3/2`.
 */
export type CertificatePart = readonly [literal: SolverLiteral, which: number, multiplier: string];

export interface Certificate {
  readonly guarantee: string;
  /** Index of the claim in its guarantee, from 0. */
  readonly claim: number;
  readonly action: string;
  readonly isCoarse: boolean;
  /** Ids of the rules in the formula; null for all enforced rules. */
  readonly rules: readonly string[] | null;
  /** A literal is 2 * variable, plus 1 if it is negated. */
  readonly clauses: readonly SolverClause[];
  /**
   * Lemmas about sums: inequalities that add up to a contradiction, so that one of their literals does not
   * hold.
   */
  readonly lemmas: readonly (readonly CertificatePart[])[];
  readonly steps: readonly SolverClause[];
  readonly assumptions: SolverClause;
}

/** One certificate for each proved pair of claim and action, each with a proof of its own. */
export function certificatesOf(set: PolicySet): readonly Certificate[] {
  return set.guarantees.flatMap((guarantee) =>
    guarantee.claims.flatMap((claim, at) =>
      guarantee.actions.flatMap((action): readonly Certificate[] => {
        const verdict = decideClauses(set, action, [claim]).get(claim);
        if (verdict?.kind !== 'proved') return [];
        const { isCoarse, rules, formula, lemmas, learned, assumptions } = verdict.proof;
        const proof = { clauses: formula, lemmas: lemmas.map(writtenLemma), steps: learned, assumptions };
        return [{ guarantee: guarantee.name, claim: at, action, isCoarse, rules, ...proof }];
      }),
    ),
  );
}

/** What is wrong with a certificate as a proof about the set; null when nothing is. */
export function wrongWith(certificate: Certificate, set: PolicySet): string | null {
  const { action, isCoarse, clauses, lemmas, steps, assumptions } = certificate;
  const claim = clauseOf(certificate, set);
  if (claim === null || !set.actions.has(action)) return 'the policies have no such claim';
  const rules = rulesOf(certificate, set);
  if (rules.some(({ isLeftOut, rule }) => isLeftOut && !(holdsWithMoreGuards(claim) && canBeLeftOut(rule))))
    return 'it leaves out rules on which the claim may turn';
  const remainingRules = rules.flatMap(({ isLeftOut, rule }) => (isLeftOut ? [] : [rule]));
  const { ctx, broken } = createProblem(set, action, { claims: [claim], isCoarse, rules: remainingRules });
  const { given } = ctx.circuit.solver;
  if (JSON.stringify(clauses) !== JSON.stringify(given)) return 'it is about other policies';
  if (!isCoarse && [...ctx.lists.keys()].some((key) => ctx.bounded.has(key)))
    return 'it is for short lists only';
  if (assumptions.some((literal) => literal !== broken[0]))
    return 'it assumes more than that the claim is broken';
  const read = lemmas.map(readLemma);
  if (!read.every((lemma) => followsFrom(lemma, (literal) => inequalitiesOf(ctx, literal))))
    return 'a lemma about sums does not follow';
  const known = [...given, ...read.map((lemma) => lemma.clause)];
  return checkLog({ given: known, learned: steps }, assumptions) ? null : 'a step does not follow';
}

function rulesOf({ action, rules }: Certificate, set: PolicySet) {
  const isKept = rules === null ? null : new Set(rules);
  return enforcedOf(set, action).map((rule) => ({
    rule,
    isLeftOut: isKept !== null && !isKept.has(rule.id),
  }));
}

function writtenLemma({ parts }: Lemma): readonly CertificatePart[] {
  return parts.map(({ literal, which, multiplier: { top, bottom } }) => [literal, which, `${top}/${bottom}`]);
}

function readLemma(written: readonly CertificatePart[]): Lemma {
  const parts = written.map(([literal, which, multiplier]) => {
    const [top = '0', bottom = '1'] = multiplier.split('/');
    return { literal, which, multiplier: fraction(BigInt(top), BigInt(bottom)) };
  });
  return { clause: parts.map(({ literal }) => notLiteral(literal)), parts };
}

const multiplierForm = /^\d{1,1000}\/[1-9]\d{0,999}$/;

/** Whether the value has the form of a certificate's lemmas. */
export function areLemmas(value: unknown): value is Certificate['lemmas'] {
  const isPart = (part: unknown): boolean =>
    Array.isArray(part) &&
    Number.isSafeInteger(part[0]) &&
    Number.isSafeInteger(part[1]) &&
    multiplierForm.test(String(part[2]));
  return Array.isArray(value) && value.every((parts) => Array.isArray(parts) && parts.every(isPart));
}

function clauseOf({ guarantee, claim, action }: Certificate, set: PolicySet): GuaranteeClause | null {
  const named = set.guarantees.find(({ name }) => name === guarantee);
  return named?.actions.includes(action) === true ? (named.claims[claim] ?? null) : null;
}
