// Finds every way in which two sets decide an action differently, and proves that there is no other. The
// search generalises a model of a region to a description: the fewest changed rules that cause the
// difference, and the fewest of their conditions that fix the truth of these rules. It then rules the
// description out, and goes on until nothing is left. INVARIANT: findings are called complete only after the
// naive checker has read the solver's log.

import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { unknown } from '../../language/model/value.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { memo } from '../../language/value/memo.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { enlarged } from '../prove/large-values.ts';
import { enforcedOf } from '../prove/problem.ts';
import { withSamples } from '../prove/samples.ts';
import { solveFor, solveNearFor } from '../prove/search.ts';
import { preferPlainTexts, textTruth, withPossibleTexts } from '../prove/text-choice.ts';
import { witnessOf } from '../prove/witness.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import { candidateTexts, drawnRequest, withAnotherText } from './candidate-texts.ts';
import type { Cause } from './causes.ts';
import type { RuleIds } from './few-rules.ts';
import {
  type DiffExample,
  decidedOnce,
  excludeFindings,
  type FindingTerm,
  isOfRegion,
  sidedFacts,
  termsIn,
} from './finding.ts';
import { FreshProof } from './fresh-proof.ts';
import { type Confirm, hullsOf } from './hulls.ts';
import { type JointProblem, mispredictedConditions, mispredictedRules } from './joint-problem.ts';
import { type BothSides, sides } from './joint-set.ts';
import { nearestTo, type SampleFacts } from './nearest.ts';
import { expressionOnOneLine, wordsOf } from './region-wording.ts';
import { findingsIn, type Region } from './regions.ts';
import { hasFault, type ShapeFault, withExtra } from './validity.ts';

export interface DecisionChange {
  readonly region: Region;
  readonly causes: readonly Cause[];
  readonly terms: readonly FindingTerm[];
  readonly when: readonly string[];
  readonly example: DiffExample | null;
  readonly guessed: readonly string[];
}

/** What keeps the findings from being proved complete. */
export type DiffLimit = 'too many findings' | 'long lists' | 'huge payloads' | 'too much search';

export interface SearchResult {
  readonly changes: readonly DecisionChange[];
  /** Empty when the findings are proved complete. */
  readonly limits: readonly DiffLimit[];
}

export interface SearchOptions {
  readonly known: readonly SampleFacts[];
  /** The most findings for one region. */
  readonly findingsMax: number;
  /** Findings of the action from an earlier search, each with an example. */
  readonly changes: readonly DecisionChange[];
  /** Whether the findings are known to be complete for requests of any size. */
  readonly isComplete: (changes: readonly DecisionChange[]) => boolean;
}

const conflictsMax = 20_000;
const witnessesMax = 12;
/** The number of models, out of `witnessesMax`, in whose requests other texts are tried. */
const attemptedRounds = 3;

/** The result of a search with open rules; final only when `needed` is empty. */
export interface FewSearchResult extends SearchResult {
  /** Ids of open rules whose guessed truth turned out to be wrong. */
  readonly needed: RuleIds;
}

export function searchChanges(problem: JointProblem, options: SearchOptions): FewSearchResult {
  return new Search(problem, options).run();
}

interface Description {
  readonly causes: readonly Cause[];
  /** Literals that all hold for a request of the description. */
  readonly literals: readonly SolverLiteral[];
  readonly terms: readonly FindingTerm[];
  readonly faults: readonly ShapeFault[];
  readonly words: readonly string[];
  /** Whether a request belongs to the description, as the definition decides it. */
  readonly isOne: IsOne;
}

type IsOne = (request: BothSides<Facts>) => boolean;

interface RegionResult {
  readonly region: Region;
  readonly changes: DecisionChange[];
  /** If this literal holds, no finding of the region covers the request. */
  readonly own: SolverLiteral;
}

/** The state of the search in one problem. */
class Search {
  readonly #problem: JointProblem;
  readonly #ctx: ProofContext;
  readonly #options: SearchOptions;
  readonly #limits = new Set<DiffLimit>();
  readonly #small: SolverClause;
  #texts: readonly string[] | null = null;
  readonly #sidedFacts = new WeakMap<Facts, BothSides<Facts>>();
  readonly #needed = new Set<string>();

  constructor(problem: JointProblem, options: SearchOptions) {
    this.#problem = problem;
    this.#ctx = problem.ctx;
    this.#options = options;
    this.#small = [...problem.ctx.bounds.values()].map(({ literal }) => literal);
  }

  run(): FewSearchResult {
    const { circuit, isCoarse, lists, bounded } = this.#ctx;
    const searched = this.#problem.regions
      .filter(({ literal }) => literal !== circuit.no)
      .map((region) => this.#knownIn(region));
    const result = (): FewSearchResult => ({
      changes: searched.flatMap(({ changes: found }) => found),
      limits: [...this.#limits],
      needed: this.#needed,
    });
    const isBounded = !isCoarse && [...lists.keys()].some((key) => bounded.has(key));
    if (isBounded) this.#limits.add('long lists');
    for (const one of searched) this.#searchIn(one, this.#small);
    if (this.#needed.size > 0) return result();
    this.#prove(searched);
    if (this.#isOfSizeAlone() && this.#options.isComplete(result().changes)) this.#limits.clear();
    if (this.#limits.delete('huge payloads')) {
      // A difference in the explanation alone (tier 6) does not matter for a huge request.
      const decisive = searched.filter(({ region: { tier } }) => tier < 6);
      for (const one of decisive) this.#searchIn(one, []);
      if (this.#needed.size === 0) this.#prove(decisive);
    }
    return result();
  }

  #knownIn(region: Region): RegionResult {
    const changes = findingsIn(region, this.#options.changes);
    return { region, changes, own: excludeFindings(this.#ctx, changes) };
  }

  #isOfSizeAlone(): boolean {
    const limits = [...this.#limits];
    return limits.length > 0 && limits.every((limit) => limit === 'long lists' || limit === 'huge payloads');
  }

  /** Proves that no region has a request left, for payloads of any size; else notes the limit. */
  #prove(searched: readonly RegionResult[]): void {
    if (this.#limits.has('too many findings') || this.#limits.has('too much search')) return;
    const left = searched.map(({ region, own }) => [region.literal, own]);
    // A search first turns what is needed about sums into clauses, which the proof then reads.
    if (this.#ctx.sums.size > 0)
      for (const assumptions of left) solveNearFor(this.#ctx, assumptions, conflictsMax);
    const proof = new FreshProof(this.#ctx);
    for (const assumptions of left) {
      if (proof.cannotHold(assumptions) === true) continue;
      const isDone = proof.cannotHold([...assumptions, ...this.#small]);
      if (isDone === false) throw new Error('a search ended before it was complete');
      this.#limits.add(isDone === null ? 'too much search' : 'huge payloads');
    }
  }

  /** Whether the assumptions can hold together; a search that took too long counts as yes. */
  #canHold(assumptions: SolverClause): boolean {
    const answer = this.#solve(assumptions);
    if (answer === null) this.#limits.add('too much search');
    return answer !== false;
  }

  /** Tries models in which no open rule holds first, because they rest on no guess. */
  #solve(assumptions: SolverClause, solve = solveNearFor): boolean | null {
    return withPossibleTexts(this.#ctx, () => this.#solveOnce(assumptions, solve));
  }

  #solveOnce(assumptions: SolverClause, solve: typeof solveNearFor): boolean | null {
    const { open, isClosed } = this.#problem;
    const ask = (literals: SolverClause): boolean | null => solve(this.#ctx, literals, conflictsMax);
    return (open.length > 0 && ask([...assumptions, isClosed])) || ask(assumptions);
  }

  /** `small`: literals that hold for payloads that are not huge; empty if payloads may be huge. */
  #searchIn({ region, changes: found, own }: RegionResult, small: SolverClause): void {
    const must = [region.literal, own, ...small];
    while (this.#needed.size === 0 && this.#canHold(must)) {
      if (found.length >= this.#options.findingsMax || this.#limits.has('too much search')) {
        this.#limits.add('too many findings');
        this.#confirm(must, (request) => this.#isNew(request, { region, changes: found }));
        return;
      }
      const description = this.#describe(region, must);
      const one = this.confirmedChange(region, description, must);
      // The description may rest on a wrong guess, so the finding is dropped.
      if (this.#needed.size > 0) return;
      found.push(one);
      this.#ctx.circuit.require([notLiteral(own), ...description.literals.map(notLiteral)]);
    }
  }

  #isNew(
    request: BothSides<Facts>,
    { region, changes: found }: Pick<RegionResult, 'region' | 'changes'>,
  ): boolean {
    const { joint } = this.#problem;
    const isOf = (one: Pick<DecisionChange, 'region' | 'terms'>): boolean => isOfRegion(joint, one, request);
    return isOf({ region, terms: [] }) && !found.some(isOf);
  }

  // ---- from a model to a description

  #describe(region: Region, must: SolverClause): Description {
    const causes = this.#fewestCauses(region, must);
    const { solver } = this.#ctx.circuit;
    const stakes = causes.flatMap((cause) =>
      cause.stakes.map((one) => (solver.holds(one) ? one : notLiteral(one))),
    );
    const parts = this.#partsOf(causes);
    const literals = this.#core(stakes, [...parts.keys()]);
    const faults = literals.flatMap((literal) => parts.get(literal)?.fault ?? []);
    const fixedWords = literals.flatMap((literal) => parts.get(literal)?.words ?? []);
    const written = causes.flatMap((cause) => cause.parts.map(({ expression }) => expression));
    const all = [...must, ...literals];
    const terms = termsIn(literals.flatMap((literal) => parts.get(literal)?.term ?? [])).toSorted(
      (a, b) => written.indexOf(a.expression) - written.indexOf(b.expression),
    );
    const isOne = this.#isOne(region, { terms, faults });
    const confirm = (needed: SolverClause): void => this.#confirm(needed, isOne);
    const described = terms.map((term) => this.#told(term, all, confirm));
    const hulls = hullsOf(this.#ctx, all, confirm);
    const words = [...fixedWords, ...wordsOf(this.#ctx, described, hulls)];
    return { causes, literals, terms, faults, words, isOne };
  }

  /**
   * The causes without which the change would not happen. If possible, the solver's model is then one in
   * which no other cause differs.
   */
  #fewestCauses({ tier }: Region, must: SolverClause): readonly Cause[] {
    const { solver } = this.#ctx.circuit;
    const all = this.#problem.causes.filter(({ isDecisive }) => tier === 6 || isDecisive);
    const holding = all.filter(({ differs }) => solver.holds(differs));
    // Without any differing cause nothing would change, so a single cause is needed.
    if (holding.length < 2) return holding;
    const others = all.filter((cause) => !holding.includes(cause));
    const kept = [...must, ...others.map(({ differs }) => notLiteral(differs))];
    for (const { differs } of holding) {
      if (!solver.holds(differs)) continue;
      if (this.#solve([...kept, notLiteral(differs)]) === true) kept.push(notLiteral(differs));
    }
    this.#solve(kept);
    return all.filter(({ differs }) => solver.holds(differs));
  }

  /**
   * By literal, what the literal tells of a condition in the model. "True" tells more than "not false".
   * Literals that tell less come first, so that they are used wherever they are enough.
   */
  #partsOf(causes: readonly Cause[]): ReadonlyMap<SolverLiteral, CoreReason> {
    const { solver } = this.#ctx.circuit;
    const parts = causes.flatMap((cause) => cause.parts);
    const reasons = new Map<SolverLiteral, CoreReason>();
    for (const { pair, ...part } of parts) {
      if (!solver.holds(pair.isTrue))
        add(reasons, notLiteral(pair.isTrue), { term: { ...part, truths: [false, unknown] } });
      if (!solver.holds(pair.isFalse))
        add(reasons, notLiteral(pair.isFalse), { term: { ...part, truths: [true, unknown] } });
    }
    for (const { pair, ...part } of parts) {
      const truth = textTruth(this.#ctx, pair);
      if (truth === true) add(reasons, pair.isTrue, { term: { ...part, truths: [true] } });
      if (truth === false) add(reasons, pair.isFalse, { term: { ...part, truths: [false] } });
    }
    const isOfShape = causes.some(({ rule, stakes }) => rule === null && stakes.length > 0);
    for (const { literal, fails, holds, ...fault } of isOfShape ? this.#problem.validity.parts : []) {
      if (solver.holds(literal)) add(reasons, literal, holds === null ? {} : { words: holds });
      else add(reasons, notLiteral(literal), { words: fails, fault });
    }
    return reasons;
  }

  /** The term as it is shown: unknown stays among its truths only if the condition can be unknown. */
  #told(term: FindingTerm, must: SolverClause, confirm: Confirm): FindingTerm {
    if (term.truths.length < 2) return term;
    const { isTrue, isFalse } = this.#ctx.lower(term.expression, noElements);
    const isUnknown = [notLiteral(isTrue), notLiteral(isFalse)];
    const mayBe = solveNearFor(this.#ctx, [...must, ...isUnknown], conflictsMax) !== false;
    if (mayBe) confirm([...must, ...isUnknown]);
    return mayBe ? term : { ...term, truths: term.truths.filter((truth) => truth !== unknown) };
  }

  /** A minimal set of parts that implies all stakes; all parts and stakes if the parts imply too little. */
  #core(stakes: readonly SolverLiteral[], parts: readonly SolverLiteral[]): readonly SolverLiteral[] {
    const { solver } = this.#ctx.circuit;
    if (stakes.length === 0) return [];
    const isOtherwise = this.#ctx.circuit.or(stakes.map(notLiteral));
    const follows = (from: readonly SolverLiteral[]): boolean =>
      solveNearFor(this.#ctx, [isOtherwise, ...from], conflictsMax) === false;
    if (!follows(parts)) return [...new Set([...parts, ...stakes])];
    let core = solver.core.filter((literal) => literal !== isOtherwise);
    for (const literal of core) {
      if (!core.includes(literal)) continue;
      const without = core.filter((one) => one !== literal);
      if (follows(without)) core = solver.core.filter((one) => one !== isOtherwise);
    }
    return core;
  }

  #isOne(region: Region, { terms, faults }: Pick<Description, 'terms' | 'faults'>): IsOne {
    const { joint } = this.#problem;
    return (request) =>
      isOfRegion(joint, { region, terms }, request) &&
      faults.every((fault) => hasFault(joint, fault, request));
  }

  // ---- from a description to a request

  confirmedChange(region: Region, description: Description, must: SolverClause): DecisionChange {
    const { causes, literals, terms, words, isOne } = description;
    const { joint } = this.#problem;
    const guessed = new Set<string>();
    const facts = this.#witness([...must, ...literals], isOne, guessed);
    const plain = { region, causes, terms, when: words };
    if (facts === null) return { ...plain, example: null, guessed: [...guessed].slice(0, 5) };
    const near = nearestTo(this.#options.known, facts, (one) => isOne(this.#sided(one)));
    const sided = this.#sided(near.facts);
    const { before, after } = decidedOnce(joint, sided);
    const decisions = { before: before.decision, after: after.decision };
    return { ...plain, example: { facts: sided, decisions, near: near.near }, guessed: [] };
  }

  /**
   * A request in the names of the joint set; null when no model gives a request that the definition decides
   * as described.
   */
  #witness(must: SolverClause, isOne: IsOne, guessed: Set<string>): Facts | null {
    const { circuit } = this.#ctx;
    const attempt = circuit.free(true);
    preferPlainTexts(this.#ctx);
    for (let round = 0; round < witnessesMax; round += 1) {
      if (this.#solve([...must, attempt], solveFor) !== true) break;
      const facts = this.#request();
      const isGood = (one: Facts): boolean => isOne(this.#sided(one));
      for (const one of enlarged(this.#ctx, facts))
        for (const sampled of this.#withSamples(one)) if (isGood(sampled)) return sampled;
      this.#need(mispredictedRules(this.#problem, this.#sided(facts).after));
      if (this.#needed.size > 0) return null;
      const other = round < attemptedRounds ? withAnotherText(facts, this.#candidateTexts(), isGood) : null;
      if (other !== null) return other;
      for (const condition of mispredictedConditions(this.#problem, facts))
        if (condition.span.file !== '') guessed.add(expressionOnOneLine(this.#ctx, condition));
      circuit.require([notLiteral(attempt), ...this.#otherThanThis(round)]);
    }
    return drawnRequest(this.#problem.joint, this.#ctx.action.key, isOne);
  }

  /** The request itself, and with rows and signatures that either side reads. */
  #withSamples(facts: Facts): Iterable<Facts> {
    const { joint } = this.#problem;
    const rules = sides.flatMap((side) => enforcedOf(joint.original[side], this.#ctx.action.key));
    const read = (one: Facts): void => {
      const asked = sidedFacts(joint, one);
      for (const side of sides) authorize(joint.original[side], asked[side]);
    };
    return withSamples(joint.set, facts, { rules, read });
  }

  /**
   * Checks by a request that what holds with guessed rules also holds with the real rules; else the wrongly
   * guessed rules are needed.
   */
  #confirm(assumptions: SolverClause, isOne: IsOne): void {
    if (this.#problem.open.length === 0) return;
    if (this.#solve(assumptions) !== true) return;
    const request = this.#sided(this.#request());
    // Judging the open rules of one side is faster than two decisions, so it comes first.
    const wrong = mispredictedRules(this.#problem, request.after);
    if (wrong.length > 0 && !isOne(request)) this.#need(wrong);
  }

  #need(ids: readonly string[]): void {
    for (const id of ids) this.#needed.add(id);
  }

  /** The facts of both sides. Equal input gives the same object, by which the cached decisions are found. */
  #sided(facts: Facts): BothSides<Facts> {
    return memo(this.#sidedFacts, facts, () => sidedFacts(this.#problem.joint, facts));
  }

  #candidateTexts(): readonly string[] {
    this.#texts ??= candidateTexts(this.#problem);
    return this.#texts;
  }

  #request(): Facts {
    const { solver } = this.#ctx.circuit;
    const facts = { ...witnessOf(this.#ctx), satisfied: nothingSatisfied };
    const extra = this.#problem.validity.extra.filter(({ literal }) => solver.holds(literal));
    return {
      ...facts,
      payload: extra.reduce((payload, { steps }) => withExtra(payload, steps), facts.payload),
    };
  }

  /** A clause that excludes the model by its guesses; in odd rounds by its cells, too. */
  #otherThanThis(round: number): SolverClause {
    const { circuit, guesses, leaves } = this.#ctx;
    const loose = [...leaves.values()].flatMap(({ atoms }) =>
      atoms.filter(({ understood }) => understood.kind === 'loose'),
    );
    const open = [...guesses.values(), ...loose].flatMap(({ pair }) => [pair.isTrue, pair.isFalse]);
    const cells = [...leaves.values()].flatMap(({ order }) => order.slice(1, -1));
    const chosen = open.length > 0 && round % 2 === 0 ? open : [...cells, ...open];
    return chosen.map((literal) => (circuit.solver.holds(literal) ? notLiteral(literal) : literal));
  }
}

/** What a literal of the core tells: a condition, or words about the shape. */
interface CoreReason {
  readonly term?: FindingTerm;
  readonly words?: string;
  readonly fault?: ShapeFault;
}

function add(reasons: Map<SolverLiteral, CoreReason>, literal: SolverLiteral, reason: CoreReason): void {
  if (!reasons.has(literal)) reasons.set(literal, reason);
}
