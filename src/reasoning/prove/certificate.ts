// A proof as data that can be kept, handed on and checked again: the clauses of the formula and the steps that show that
// they cannot hold while the claim is broken. It is checked against the formula that the policies make now.

import type { Claim, PolicySet } from '../../language/model/policy.ts';
import { checkLog } from '../solver/check-log.ts';
import type { SolverClause } from '../solver/literal.ts';
import { createProblem } from './problem.ts';
import { proveAction } from './prove.ts';

export interface Certificate {
  readonly guarantee: string;
  /** Which of the guarantee's claims, from 0. */
  readonly claim: number;
  readonly action: string;
  readonly isCoarse: boolean;
  /** A literal is 2 * variable, plus 1 where it is negated. */
  readonly clauses: readonly SolverClause[];
  readonly steps: readonly SolverClause[];
  readonly assumptions: SolverClause;
}

/** One a claim and action that is proved, each proved by itself. */
export function certificatesOf(set: PolicySet): readonly Certificate[] {
  return set.guarantees.flatMap((guarantee) =>
    guarantee.claims.flatMap((claim, at) =>
      guarantee.actions.flatMap((action): readonly Certificate[] => {
        const verdict = proveAction(set, action, [claim]).get(claim);
        if (verdict?.kind !== 'proved') return [];
        const { isCoarse, given, learned, assumptions } = verdict.proof;
        const proof = { clauses: given, steps: learned, assumptions };
        return [{ guarantee: guarantee.name, claim: at, action, isCoarse, ...proof }];
      }),
    ),
  );
}

/** Null where it is a proof about the set; else what is wrong with it. */
export function wrongWith(certificate: Certificate, set: PolicySet): string | null {
  const { action, isCoarse, clauses, steps, assumptions } = certificate;
  const claim = claimOf(certificate, set);
  if (claim === null || !set.actions.has(action)) return 'the policies have no such claim';
  const { ctx, broken } = createProblem(set, action, { claims: [claim], isCoarse });
  const { given } = ctx.circuit.solver;
  if (JSON.stringify(clauses) !== JSON.stringify(given)) return 'it is about other policies';
  if (!isCoarse && [...ctx.lists.keys()].some((key) => ctx.bounded.has(key)))
    return 'it is for short lists only';
  if (assumptions.some((literal) => literal !== broken[0]))
    return 'it assumes more than that the claim is broken';
  return checkLog({ given, learned: steps }, assumptions) ? null : 'a step does not follow';
}

function claimOf({ guarantee, claim, action }: Certificate, set: PolicySet): Claim | null {
  const named = set.guarantees.find(({ name }) => name === guarantee);
  return named?.actions.includes(action) === true ? (named.claims[claim] ?? null) : null;
}
