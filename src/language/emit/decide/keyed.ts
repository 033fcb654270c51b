// Decides an action with few rules. The truths of its rules are one number, the key of a decision. When
// nothing has been satisfied, the key alone determines the decision, so decisions are made once for each key
// and kept. INVARIANT: a kept decision is the one that `settle` makes from the same truths, and nobody can
// change it.

import type { Decision } from '../../model/decision.ts';
import type { Facts } from '../../model/request.ts';
import type { ActionProgram, RuleHead } from '../../program/program.ts';
import { BoundedMap } from '../../value/memo.ts';
import type { Kleene, RuntimeQuantity } from '../runtime/quantity.ts';
import { clearLets, createState, type State } from '../runtime/state.ts';
import { clearTextCaches } from '../runtime/text-cache.ts';
import type { RuleTruths } from './combine.ts';
import {
  type DecidedAll,
  type Decider,
  type DisplayCode,
  type FinalDecision,
  freeze,
  isNothing,
  riskQuantity,
  settle,
  withValues,
} from './decide.ts';

/** The part of an action that a decider needs besides its functions. */
export interface KeyedAction extends Pick<ActionProgram, 'lets'> {
  readonly rules: readonly RuleHead[];
}

/** The functions of an action. They return the truths of rules as ternary digits, the first rule's lowest. */
export interface KeyedCode extends DisplayCode {
  /** Evaluates the rules that do not read risk. */
  readonly beforeRisk: Evaluate;
  /** Evaluates the rules that read risk; null when there are none. */
  readonly afterRisk: Evaluate | null;
}

type Evaluate = (facts: Facts, state: State) => number;

/**
 * The most decisions that an action keeps. Agents choose which combinations occur, so the number is bounded.
 */
const decisionsKeptMax = 512;

/** The most rules for which every combination of truths has a place in an array. */
const rulesInArrayMax = 4;

/**
 * Decides an action with few rules. A class, because there may be many thousands of actions, and methods take
 * no memory in each of them.
 */
export class KeyedDecider implements Decider {
  /** The code's `beforeRisk`, kept in a field of its own for quick access. */
  readonly #beforeRisk: Evaluate;
  /** By key, the decisions that are identical for every request; null when there are many keys. */
  readonly #unvaried: (Decision | undefined)[] | null;
  readonly #code: KeyedCode;
  readonly #rules: readonly RuleHead[];
  readonly #state: State;
  readonly #hasLets: boolean;
  readonly #hasShadow: boolean;
  readonly #isKept: boolean;
  /** The number of combinations of truths of the rules that do not read risk. */
  readonly #keysBeforeRisk: number;
  /** The settled decisions by key, when there are few keys; otherwise null. */
  readonly #few: (FinalDecision | undefined)[] | null;
  readonly #many = new BoundedMap<number, FinalDecision>(decisionsKeptMax);
  /** The truths of the last ballot, by the rule's place. */
  readonly #truths: Kleene[];
  /** The risk, by the truths of the rules that do not read risk; null when no rule reads risk. */
  readonly #risks: Map<number, RuntimeQuantity> | null;

  constructor(action: KeyedAction, code: KeyedCode) {
    const { rules, lets } = action;
    this.#rules = rules;
    this.#code = code;
    this.#beforeRisk = code.beforeRisk;
    this.#state = createState(action);
    this.#truths = rules.map(() => 0);
    this.#hasLets = lets.length > 0;
    this.#few = rules.length <= rulesInArrayMax ? Array(3 ** rules.length).fill(undefined) : null;
    this.#unvaried = this.#few === null ? null : ([...this.#few] as undefined[]);
    const readRisk = rules.filter((rule) => rule.readsRisk).length;
    // Without `| 0` the engine would treat the power as a double.
    this.#keysBeforeRisk = (3 ** (rules.length - readRisk)) | 0;
    this.#risks = code.afterRisk !== null ? new BoundedMap(decisionsKeptMax) : null;
    this.#hasShadow = rules.some((rule) => rule.isShadow);
    // With shadow rules enforced the risk differs, so rules that read risk have to be evaluated again.
    this.#isKept = !(code.afterRisk !== null && this.#hasShadow);
  }

  decide(facts: Facts): Decision {
    const key = this.#key(facts);
    if (this.#unvaried === null || !isNothing(facts.satisfied))
      return this.#withValues(this.#settled(key, facts), facts);
    return this.#unvaried[key] ?? this.#decideFirst(this.#unvaried, key, facts);
  }

  #decideFirst(unvaried: (Decision | undefined)[], key: number, facts: Facts): Decision {
    const settled = this.#settled(key, facts);
    if (settled.shows === null && settled.asks === null && this.#isKept) unvaried[key] = settled.decision;
    return this.#withValues(settled, facts);
  }

  decideAll(facts: Facts): DecidedAll {
    const key = this.#key(facts);
    const settled = this.#settled(key, facts);
    const decision = this.#withValues(settled, facts);
    this.#readTruths(key);
    return { decision, truths: this.#truths, risk: settled.risk };
  }

  /** Returns the places of all rules, because one text evaluates all of them. */
  tried(): readonly number[] {
    return this.#rules.map((_, index) => index);
  }

  /** The decision, with the values that it shows. */
  #withValues(settled: FinalDecision, facts: Facts): Decision {
    if (settled.shows === null && settled.asks === null) return settled.decision;
    this.#state.risk = settled.risk;
    if (this.#hasLets) clearLets(this.#state);
    return withValues(settled, { code: this.#code, facts, state: this.#state });
  }

  #key(facts: Facts): number {
    const state = this.#state;
    clearTextCaches();
    if (this.#hasLets) clearLets(state);
    const key = this.#beforeRisk(facts, state);
    if (this.#risks === null) return key;
    state.risk = this.#risk(this.#risks, key, facts);
    if (this.#hasLets) clearLets(state);
    return key + this.#keysBeforeRisk * this.#code.afterRisk!(facts, state);
  }

  #risk(risks: Map<number, RuntimeQuantity>, key: number, facts: Facts): RuntimeQuantity {
    const cached = risks.get(key);
    if (cached !== undefined) return cached;
    // Rules that read risk add nothing to the risk, and their digits in this key are 0.
    const risk = riskQuantity(this.#ballot(key, facts));
    risks.set(key, risk);
    return risk;
  }

  #settled(key: number, facts: Facts): FinalDecision {
    if (!this.#isKept || !isNothing(facts.satisfied)) return this.#settle(key, facts);
    const cached = this.#few === null ? this.#many.get(key) : this.#few[key];
    if (cached !== undefined) return cached;
    const settled = freeze(this.#settle(key, facts));
    if (this.#few === null) this.#many.set(key, settled);
    else this.#few[key] = settled;
    return settled;
  }

  #settle(key: number, facts: Facts): FinalDecision {
    const ballot = this.#ballot(key, facts);
    return settle(ballot, this.#hasShadow ? () => this.#enforceShadow(ballot, key, facts) : null);
  }

  /**
   * The ballot as if shadow rules were enforced. Their points count as well, so rules that read risk are
   * evaluated again.
   */
  #enforceShadow(ballot: RuleTruths, key: number, facts: Facts): RuleTruths {
    const enforced = { ...ballot, withShadow: true };
    if (this.#isKept) return enforced;
    const state = this.#state;
    const before = key % this.#keysBeforeRisk;
    const { risk } = state;
    state.risk = riskQuantity({ ...this.#ballot(before, facts), withShadow: true });
    clearLets(state);
    const again = before + this.#keysBeforeRisk * this.#code.afterRisk!(facts, state);
    state.risk = risk;
    return { ...this.#ballot(again, facts), withShadow: true };
  }

  #ballot(key: number, facts: Facts): RuleTruths {
    this.#readTruths(key);
    return { rules: this.#rules, truths: this.#truths, satisfied: facts.satisfied, withShadow: false };
  }

  #readTruths(key: number): void {
    const rules = this.#rules;
    const truths = this.#truths;
    // Keys are small integers; `| 0` tells the engine so, which makes the division several times cheaper.
    let before = (key | 0) % this.#keysBeforeRisk;
    let after = ((key | 0) / this.#keysBeforeRisk) | 0;
    for (let place = 0; place < rules.length; place += 1) {
      if (rules[place]!.readsRisk) {
        truths[place] = (after % 3) as Kleene;
        after = (after / 3) | 0;
      } else {
        truths[place] = (before % 3) as Kleene;
        before = (before / 3) | 0;
      }
    }
  }
}
