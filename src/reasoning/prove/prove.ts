// Decides claims about an action: proved for every request, refuted by a request that the definition decides
// against the claim, or undecided, with the conditions that were guessed. INVARIANT: "proved" is returned
// only after the naive checker has read the solver's log, "refuted" only for what `authorize` has decided.

import type { Span } from '../../language/diagnostic/span.ts';
import type { Decision } from '../../language/model/decision.ts';
import {
  type Guarantee,
  type GuaranteeClause,
  isGuard,
  type PolicySet,
  type Rule,
} from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { refutation, withClauseFacts } from '../../language/spec/guarantee-clause.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { Lemma } from '../linear/inequality.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverClause, type SolverLiteral, variableOf } from '../solver/literal.ts';
import type { Bound, ProofContext } from './context.ts';
import { enlarged } from './large-values.ts';
import { goesThroughList } from './lower.ts';
import { createProblem, enforcedOf, type ProofProblem, quickRules } from './problem.ts';
import { ProofLog } from './proof-log.ts';
import { withSamples } from './samples.ts';
import { solveFor } from './search.ts';
import { textTruth } from './text-choice.ts';
import { witnessOf } from './witness.ts';

export type Verdict =
  | { readonly kind: 'proved'; readonly proof: Proof }
  | { readonly kind: 'refuted'; readonly facts: Facts; readonly decision: Decision }
  | { readonly kind: 'undecided'; readonly why: UnknownReason; readonly terms: readonly Span[] };

/** What keeps a claim from being decided. */
export type UnknownReason = 'guessed conditions' | 'long lists' | Bound['why'] | 'too much search';

/** Clauses that cannot hold together with the assumptions, and the steps that show it. */
export interface Proof {
  readonly action: string;
  /** Whether the proof leaves quantifiers open. */
  readonly isCoarse: boolean;
  /** Ids of the rules in the proof's formula; null for all enforced rules. */
  readonly rules: readonly string[] | null;
  readonly given: readonly SolverClause[];
  /** The clauses of `given` that come from the policies, without those of lemmas about sums. */
  readonly formula: readonly SolverClause[];
  readonly lemmas: readonly Lemma[];
  readonly learned: readonly SolverClause[];
  readonly assumptions: SolverClause;
}

export interface ClauseVerdict {
  readonly guarantee: Guarantee;
  readonly claim: GuaranteeClause;
  /** One verdict per action. With `isEachAsked` false, no action follows one that refutes the claim. */
  readonly verdicts: readonly (Verdict & { readonly action: string })[];
  /** Refuted if one action refutes the claim; proved if all actions prove it. */
  readonly kind: Verdict['kind'];
}

const witnessesMax = 30;
const conflictsMax = 20_000;

/** Returns a verdict on the claim and action that is known beforehand, or null. */
export type VerdictLookup = (claim: GuaranteeClause, action: string) => Verdict | null;

export interface ProveOptions {
  readonly known?: VerdictLookup;
  /** Whether further actions are asked after one that refutes a claim. */
  readonly isEachAsked?: boolean;
}

/** Returns one verdict per claim, in the order of the set. */
export function proveGuarantees(
  set: PolicySet,
  { known = () => null, isEachAsked = true }: ProveOptions = {},
): readonly ClauseVerdict[] {
  const clauses = set.guarantees.flatMap((guarantee) =>
    guarantee.claims.map((claim) => ({
      guarantee,
      claim,
      verdicts: [] as ClauseVerdict['verdicts'][number][],
    })),
  );
  for (const action of new Set(set.guarantees.flatMap(({ actions }) => actions))) {
    const open = clauses.filter(
      ({ guarantee, verdicts }) =>
        guarantee.actions.includes(action) &&
        (isEachAsked || !verdicts.some(({ kind }) => kind === 'refuted')),
    );
    const claims = open.map(({ claim }) => claim);
    const decided = decideClauses(set, action, claims, known);
    for (const { claim, verdicts } of open) verdicts.push({ action, ...decided.get(claim)! });
  }
  return clauses.map((one) => ({ ...one, kind: verdictOfAll(one.verdicts.map(({ kind }) => kind)) }));
}

/**
 * Decides claims about an action: first by known verdicts, then with few of many rules, then the rest of the
 * claims together.
 */
export function decideClauses(
  set: PolicySet,
  action: string,
  claims: readonly GuaranteeClause[],
  knownVerdict: VerdictLookup = () => null,
): ReadonlyMap<GuaranteeClause, Verdict> {
  const before = claims.flatMap((claim) => {
    const verdict = knownVerdict(claim, action);
    return verdict === null ? [] : [[claim, verdict] as const];
  });
  const verdicts = new Map(before);
  const isOpen = (claim: GuaranteeClause): boolean => !verdicts.has(claim);
  if (enforcedOf(set, action).length >= manyRules)
    for (const [claim, verdict] of decideWithFew(set, action, claims.filter(isOpen)))
      verdicts.set(claim, verdict);
  const open = claims.filter(isOpen);
  return open.length === 0 ? verdicts : new Map([...verdicts, ...proveAction(set, action, open)]);
}

function verdictOfAll(kinds: readonly Verdict['kind'][]): Verdict['kind'] {
  if (kinds.includes('refuted')) return 'refuted';
  return kinds.includes('undecided') ? 'undecided' : 'proved';
}

/**
 * Tries a coarse formula first: most true claims hold whatever quantifiers are, and then for lists of any
 * length. Without lists the two formulas are equal, so the coarse one is enough.
 */
export function proveAction(
  set: PolicySet,
  action: string,
  claims: readonly GuaranteeClause[],
): ReadonlyMap<GuaranteeClause, Verdict> {
  const problem = createProblem(set, action, { claims, isCoarse: true });
  const coarse = decideAll(problem, claims);
  if (problem.ctx.leftOpen.size === 0) return coarse;
  const open = claims.filter((claim) => coarse.get(claim)?.kind !== 'proved');
  if (open.length === 0) return coarse;
  return new Map([...coarse, ...decideAll(createProblem(set, action, { claims: open }), open)]);
}

const manyRules = 40;
const guardsAtFirst = 16;
const fewRounds = 8;

/**
 * Decides claims with few guards first, and adds the guards that act on the request of a model. Claims that
 * stay open are missing from the result. Leaving out a guard grants more and denies less, so a claim that
 * holds with fewer guards and passes `holdsWithMoreGuards` holds with all guards. A refutation is decided by
 * the definition, with the whole set.
 */
export function decideWithFew(
  set: PolicySet,
  action: string,
  claims: readonly GuaranteeClause[],
): ReadonlyMap<GuaranteeClause, Verdict> {
  const effects = claims.filter(({ effect }) => effect !== 'ask' && effect !== 'standing');
  const all = enforcedOf(set, action);
  const guards = all.filter(canBeLeftOut);
  // A formula that leaves a condition open gives no request, so claims that read lists are asked separately.
  const groups = Map.groupBy(effects, (claim) => {
    const readsList = claim.when !== null && goesThroughList(set, claim.when);
    return `${holdsWithMoreGuards(claim)} ${readsList}`;
  });
  return new Map(
    [...groups.values()].flatMap((group) => {
      const first = holdsWithMoreGuards(group[0]!) ? [] : fewOf(guards);
      const left = guards.filter((guard) => !first.includes(guard));
      return [...decideGroup({ set, action, all, left }, group)];
    }),
  );
}

function fewOf(guards: readonly Rule[]): readonly Rule[] {
  const quick = quickRules(guards, guardsAtFirst);
  return quick.length > 0 ? quick : guards.slice(0, guardsAtFirst);
}

interface FewRules {
  readonly set: PolicySet;
  readonly action: string;
  readonly all: readonly Rule[];
  /** The guards that are left out at first. */
  readonly left: readonly Rule[];
}

/** Decides claims that all hold with more guards, or of which none does, with one formula per round. */
function decideGroup(
  few: FewRules,
  claims: readonly GuaranteeClause[],
): ReadonlyMap<GuaranteeClause, Verdict> {
  const { set, action, all } = few;
  const verdicts = new Map<GuaranteeClause, Verdict>();
  const left = new Set(few.left);
  let open = claims;
  for (let round = 0; round < fewRounds && open.length > 0; round += 1) {
    const rules = all.filter((rule) => !left.has(rule));
    const problem = createProblem(set, action, { claims: open, isCoarse: true, rules });
    const prover = new Prover(problem);
    const acting = new Set<Rule>();
    const next: GuaranteeClause[] = [];
    for (const [at, claim] of open.entries()) {
      const settled = settledBy(prover, claim, problem.broken[at]!);
      if (settled === null) continue;
      if ('kind' in settled) {
        verdicts.set(claim, settled);
        continue;
      }
      const decision = refutation(set, claim, settled);
      const missing = decision === null ? actingOn(set, settled, left) : [];
      if (decision !== null) verdicts.set(claim, { kind: 'refuted', facts: settled, decision });
      if (missing.length > 0) next.push(claim);
      for (const rule of missing) acting.add(rule);
    }
    for (const rule of acting) left.delete(rule);
    open = next;
  }
  return verdicts;
}

/**
 * A proof with these rules, or a request that breaks the claim with them; null when neither tells anything
 * about all rules.
 */
function settledBy(prover: Prover, claim: GuaranteeClause, broken: SolverLiteral): Verdict | Facts | null {
  const example = prover.example(broken);
  if (example === 'open') return null;
  if (example !== null) return withClauseFacts(claim, example);
  if (!holdsWithMoreGuards(claim)) return null;
  const verdict = prover.decide(claim, broken);
  return verdict.kind === 'proved' ? verdict : null;
}

/**
 * Whether a rule may be left out of a proof. A guard that adds risk may not, since fewer points may deny
 * more.
 */
export function canBeLeftOut(rule: Rule): boolean {
  return isGuard(rule) && rule.points === 0;
}

export function holdsWithMoreGuards({ mode, effect }: GuaranteeClause): boolean {
  return effect === (mode === 'never' ? 'allow' : 'deny');
}

/** The guards that are not false for the request. */
function actingOn(set: PolicySet, facts: Facts, guards: ReadonlySet<Rule>): readonly Rule[] {
  const { risk } = authorize(set, facts);
  const scope = { set, facts: resolveFacts(set, facts), risk, variables: new Map() };
  return [...guards].filter(({ condition }) => evaluateCondition(condition, scope) !== false);
}

function decideAll(problem: ProofProblem, claims: readonly GuaranteeClause[]): Map<GuaranteeClause, Verdict> {
  const prover = new Prover(problem);
  return new Map(claims.map((claim, at) => [claim, prover.decide(claim, problem.broken[at]!)]));
}

class Prover {
  readonly #ctx: ProofContext;
  readonly #formula: number;
  readonly #log: ProofLog;
  readonly #broken: readonly SolverLiteral[];

  constructor({ ctx, broken }: ProofProblem) {
    this.#ctx = ctx;
    this.#broken = broken;
    this.#formula = ctx.circuit.solver.given.length;
    this.#log = new ProofLog(ctx);
  }

  /** A model's request that breaks the claim; null when there is none, "open" when no request can be made. */
  example(broken: SolverLiteral): Facts | 'open' | null {
    const { bounds, leftOpen } = this.#ctx;
    const small = [...bounds.values()].map(({ literal }) => literal);
    const answer = solveFor(this.#ctx, [broken, ...small], conflictsMax);
    if (answer === false) return null;
    return answer === null || leftOpen.size > 0 ? 'open' : witnessOf(this.#ctx);
  }

  decide(claim: GuaranteeClause, broken: SolverLiteral): Verdict {
    const { circuit, bounds, leftOpen } = this.#ctx;
    // Under this literal, clauses rule out models for this claim alone.
    const violation = circuit.free(true);
    const small = [...bounds.values()].map(({ literal }) => literal);
    const guessed = new Map<string, Span>();
    for (let round = 0; round < witnessesMax; round += 1) {
      const answer = solveFor(this.#ctx, [broken, violation, ...small], conflictsMax);
      if (answer === null) return undecided('too much search', []);
      if (!answer) return round > 0 ? this.#guessed(broken, guessed) : this.#held(claim, [broken, violation]);
      if (leftOpen.size > 0) return this.#guessed(broken, guessed);
      const facts = withClauseFacts(claim, witnessOf(this.#ctx, round));
      const refuted = this.#refuted(claim, facts);
      if (refuted !== null) return refuted;
      for (const span of this.#wronglyGuessed(broken, facts)) guessed.set(JSON.stringify(span), span);
      circuit.require([notLiteral(violation), ...this.#otherThanThis(round)]);
    }
    return this.#guessed(broken, guessed);
  }

  /**
   * The verdict when no model with a small payload breaks the claim; asks about payloads of any size next.
   */
  #held(claim: GuaranteeClause, assumptions: SolverClause): Verdict {
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

  /**
   * A refutation that exceeds a bound, or null. Numbers with many digits are easily written down; huge
   * payloads are tried in a few forms, so their refutation may be missed.
   */
  #odd(claim: GuaranteeClause): Verdict | null {
    if (this.#ctx.leftOpen.size > 0) return null;
    for (const request of enlarged(this.#ctx, witnessOf(this.#ctx))) {
      const refuted = this.#refuted(claim, withClauseFacts(claim, request));
      if (refuted !== null) return refuted;
    }
    return null;
  }

  /** The verdict by the request, or by the request with rows of pushed tables; null when none breaks the claim. */
  #refuted(claim: GuaranteeClause, request: Facts): Verdict | null {
    const { set, rules } = this.#ctx;
    const read = (one: Facts): unknown => refutation(set, claim, one);
    for (const facts of withSamples(set, request, { rules, read })) {
      const decision = refutation(set, claim, facts);
      if (decision !== null) return { kind: 'refuted', facts, decision };
    }
    return null;
  }

  #guessed(broken: SolverLiteral, wrong: ReadonlyMap<string, Span>): Verdict {
    const read = [...this.#ctx.guesses.values()].filter(this.#isReadBy(broken));
    return undecided('guessed conditions', wrong.size > 0 ? [...wrong.values()] : spansOf(read));
  }

  /** Conditions whose truth for the request differs between the model and the definition. */
  #wronglyGuessed(broken: SolverLiteral, facts: Facts): readonly Span[] {
    const { set, conditions } = this.#ctx;
    const { risk } = authorize(set, facts);
    const scope = { set, facts: resolveFacts(set, facts), risk, variables: new Map() };
    return conditions
      .filter(this.#isReadBy(broken))
      .filter(({ expression, pair }) => evaluateCondition(expression, scope) !== textTruth(this.#ctx, pair))
      .map(({ expression }) => expression.span);
  }

  /** Whether a condition matters to the claim; conditions that only other claims read do not. */
  #isReadBy(broken: SolverLiteral): (condition: { readonly pair: Pair }) => boolean {
    const { circuit } = this.#ctx;
    const readVariables = circuit.variablesUnder([broken]);
    const ofClaims = circuit.variablesUnder(this.#broken);
    return ({ pair }) => {
      const variables = [variableOf(pair.isTrue), variableOf(pair.isFalse)];
      const isIn = (some: ReadonlySet<number>): boolean => variables.some((one) => some.has(one));
      return isIn(readVariables) || !isIn(ofClaims);
    };
  }

  /**
   * A clause that excludes the model: by its guesses in even rounds, by its cells and guesses in odd rounds.
   */
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

/** The proof as the log stands now; the log is copied only when a caller reads it. */
function proofOf(ctx: ProofContext, formulaCount: number): Proof {
  const { set, action, isCoarse, rules, circuit, lemmas } = ctx;
  const { given, learned, core } = circuit.solver;
  const lemmasCount = lemmas.length;
  const [givenCount, learnedCount] = [given.length, learned.length];
  return {
    action: action.key,
    isCoarse,
    rules: rules.length === enforcedOf(set, action.key).length ? null : rules.map(({ id }) => id),
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

function undecided(why: UnknownReason, terms: readonly Span[]): Verdict {
  return { kind: 'undecided', why, terms };
}

function spansOf(places: readonly { readonly span: Span }[]): readonly Span[] {
  return [...new Map(places.map(({ span }) => [JSON.stringify(span), span])).values()];
}
