// Claims proved for every request of an action, refuted by a request that the definition decides against them, or left
// undecided, with the conditions that were guessed. INVARIANT: "proved" is said only after the naive checker has read the
// solver's log, and "refuted" only of what `authorize` has decided.

import type { Span } from '../../language/diagnostic/span.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { Claim, Guarantee, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { asClaimed, refutation } from '../../language/spec/claim.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { Lemma } from '../linear/inequality.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { Bound, ProofContext } from './context.ts';
import { createProblem, type ProofProblem } from './problem.ts';
import { ProofLog } from './proof-log.ts';
import { solveFor } from './search.ts';
import { textTruth } from './text-choice.ts';
import { witnessOf } from './witness.ts';

export type Verdict =
  | { readonly kind: 'proved'; readonly proof: Proof }
  | { readonly kind: 'refuted'; readonly facts: Facts; readonly decision: Decision }
  | { readonly kind: 'undecided'; readonly why: Why; readonly terms: readonly Span[] };

/** What keeps a claim from being decided. */
export type Why = 'guessed conditions' | 'long lists' | Bound['why'] | 'too much search';

/** Clauses that cannot hold with the assumptions, and the steps that show it. */
export interface Proof {
  readonly action: string;
  /** Made with quantifiers left open. */
  readonly isCoarse: boolean;
  readonly given: readonly SolverClause[];
  /** Of these, what the policies say, without what was found out about sums. */
  readonly formula: readonly SolverClause[];
  readonly lemmas: readonly Lemma[];
  readonly learned: readonly SolverClause[];
  readonly assumptions: SolverClause;
}

export interface ClaimVerdict {
  readonly guarantee: Guarantee;
  readonly claim: Claim;
  /** One an action, up to the first that refutes the claim. */
  readonly verdicts: readonly (Verdict & { readonly action: string })[];
  /** Refuted where one action does; proved where all do. */
  readonly kind: Verdict['kind'];
}

const witnessesMax = 30;
const conflictsMax = 20_000;

/** One verdict a claim, in the order of the set. */
export function proveGuarantees(set: PolicySet): readonly ClaimVerdict[] {
  const asked = set.guarantees.flatMap((guarantee) =>
    guarantee.claims.map((claim) => ({ guarantee, claim })),
  );
  const byAction = new Map<string, ReadonlyMap<Claim, Verdict>>();
  for (const action of new Set(set.guarantees.flatMap(({ actions }) => actions))) {
    const claims = asked
      .filter(({ guarantee }) => guarantee.actions.includes(action))
      .map(({ claim }) => claim);
    byAction.set(action, proveAction(set, action, claims));
  }
  return asked.map(({ guarantee, claim }) => {
    const verdicts = guarantee.actions.map((action) => ({ action, ...byAction.get(action)!.get(claim)! }));
    return { guarantee, claim, verdicts, kind: joined(verdicts.map(({ kind }) => kind)) };
  });
}

function joined(kinds: readonly Verdict['kind'][]): Verdict['kind'] {
  if (kinds.includes('refuted')) return 'refuted';
  return kinds.includes('undecided') ? 'undecided' : 'proved';
}

/**
 * Coarse first: most of what holds does so whatever quantifiers say, and then of lists of any length. Where there are
 * none the formula is the same.
 */
export function proveAction(
  set: PolicySet,
  action: string,
  claims: readonly Claim[],
): ReadonlyMap<Claim, Verdict> {
  const problem = createProblem(set, action, { claims, isCoarse: true });
  const coarse = decideAll(problem, claims);
  if (problem.ctx.leftOpen.size === 0) return coarse;
  const open = claims.filter((claim) => coarse.get(claim)?.kind !== 'proved');
  if (open.length === 0) return coarse;
  return new Map([...coarse, ...decideAll(createProblem(set, action, { claims: open }), open)]);
}

function decideAll(problem: ProofProblem, claims: readonly Claim[]): Map<Claim, Verdict> {
  const prover = new Prover(problem);
  return new Map(claims.map((claim, at) => [claim, prover.decide(claim, problem.broken[at]!)]));
}

class Prover {
  readonly #ctx: ProofContext;
  readonly #formula: number;
  readonly #log: ProofLog;

  constructor({ ctx }: ProofProblem) {
    this.#ctx = ctx;
    this.#formula = ctx.circuit.solver.given.length;
    this.#log = new ProofLog(ctx);
  }

  decide(claim: Claim, broken: SolverLiteral): Verdict {
    const { circuit, bounds, leftOpen } = this.#ctx;
    // What is ruled out for this claim is ruled out for it alone.
    const own = circuit.free(true);
    const small = [...bounds.values()].map(({ literal }) => literal);
    const guessed = new Map<string, Span>();
    for (let round = 0; round < witnessesMax; round += 1) {
      const answer = solveFor(this.#ctx, [broken, own, ...small], conflictsMax);
      if (answer === null) return undecided('too much search', []);
      if (!answer) return round > 0 ? this.#guessed(guessed) : this.#held(claim, [broken, own]);
      if (leftOpen.size > 0) return this.#guessed(guessed);
      const facts = asClaimed(claim, witnessOf(this.#ctx));
      const decision = refutation(this.#ctx.set, claim, facts);
      if (decision !== null) return { kind: 'refuted', facts, decision };
      for (const span of wronglyGuessed(this.#ctx, facts)) guessed.set(JSON.stringify(span), span);
      circuit.require([notLiteral(own), ...this.#otherThanThis(round)]);
    }
    return this.#guessed(guessed);
  }

  /** No model breaks the claim with small payloads; and with any? */
  #held(claim: Claim, assumptions: SolverClause): Verdict {
    const { circuit, bounds, bounded, lists, isCoarse } = this.#ctx;
    this.#log.check(circuit.solver.core);
    if (bounds.size > 0) {
      const answer = solveFor(this.#ctx, assumptions, conflictsMax);
      if (answer === null) return undecided('too much search', []);
      const broken = [...bounds.values()].filter(({ literal }) => !circuit.solver.holds(literal));
      if (answer) return this.#odd(claim) ?? undecided(broken[0]?.why ?? 'huge payloads', spansOf(broken));
      this.#log.check(circuit.solver.core);
    }
    const isBounded = [...lists.keys()].some((key) => bounded.has(key));
    if (isBounded && !isCoarse) return undecided('long lists', []);
    return { kind: 'proved', proof: proofOf(this.#ctx, this.#formula) };
  }

  /** Numbers of many digits are easily written down; payloads that are huge are not. */
  #odd(claim: Claim): Verdict | null {
    if (this.#ctx.leftOpen.size > 0) return null;
    const facts = asClaimed(claim, witnessOf(this.#ctx));
    const decision = refutation(this.#ctx.set, claim, facts);
    return decision === null ? null : { kind: 'refuted', facts, decision };
  }

  #guessed(wrong: ReadonlyMap<string, Span>): Verdict {
    const all = [...this.#ctx.guesses.values()].map(({ span }) => span);
    return undecided('guessed conditions', wrong.size > 0 ? [...wrong.values()] : all);
  }

  /** Other guesses, or in turn other cells. */
  #otherThanThis(round: number): SolverClause {
    const { circuit, guesses, leaves, sums } = this.#ctx;
    const loose = [...leaves.values()].flatMap(({ atoms }) =>
      atoms.filter(({ understood }) => understood.kind === 'loose'),
    );
    const guessed = [...guesses.values(), ...loose].flatMap(({ pair }) => [pair.isTrue, pair.isFalse]);
    const cells = [
      ...[...leaves.values()].flatMap(({ order }) => order.slice(1, -1)),
      ...[...sums.values()].map(({ literal }) => literal),
    ];
    const chosen = guessed.length > 0 && round % 2 === 0 ? guessed : [...cells, ...guessed];
    return chosen.map((literal) => (circuit.solver.holds(literal) ? notLiteral(literal) : literal));
  }
}

/** As the log stands now; it is copied where somebody reads it. */
function proofOf({ action, isCoarse, circuit, lemmas }: ProofContext, formulaCount: number): Proof {
  const { given, learned, core } = circuit.solver;
  const lemmasCount = lemmas.length;
  const [givenCount, learnedCount] = [given.length, learned.length];
  return {
    action: action.key,
    isCoarse,
    get given() {
      return given.slice(0, givenCount);
    },
    get formula() {
      return given.slice(0, formulaCount);
    },
    get lemmas() {
      return lemmas.slice(0, lemmasCount);
    },
    get learned() {
      return learned.slice(0, learnedCount);
    },
    assumptions: core,
  };
}

function undecided(why: Why, terms: readonly Span[]): Verdict {
  return { kind: 'undecided', why, terms };
}

function spansOf(places: readonly { readonly span: Span }[]): readonly Span[] {
  return [...new Map(places.map(({ span }) => [JSON.stringify(span), span])).values()];
}

/** Conditions of which the model says something else than the definition does of the request. */
function wronglyGuessed(ctx: ProofContext, facts: Facts): readonly Span[] {
  const { risk } = authorize(ctx.set, facts);
  const scope = { set: ctx.set, facts: resolveFacts(ctx.set, facts), risk, variables: new Map() };
  return ctx.conditions
    .filter(({ expression, pair }) => evaluateCondition(expression, scope) !== textTruth(ctx, pair))
    .map(({ expression }) => expression.span);
}
