// Decides an action with many rules: an index finds the rules to try, and only those that take part are
// weighed. INVARIANT: the decision is the one that all rules would give, because the rules that the index
// leaves out cannot take part.

import type { Decision } from '../../model/decision.ts';
import type { Facts } from '../../model/request.ts';
import type { ActionProgram, RuleHead } from '../../program/program.ts';
import type { Kleene, RuntimeQuantity } from '../runtime/quantity.ts';
import { clearLets, createState, type RuleCode, type State } from '../runtime/state.ts';
import { clearTextCaches } from '../runtime/text-cache.ts';
import type { RuleTruths } from './combine.ts';
import {
  type DecidedAll,
  type DecidedSome,
  type Decider,
  type DisplayCode,
  type FinalDecision,
  freeze,
  isNothing,
  riskQuantity,
  settle,
  withValues,
} from './decide.ts';
import { RuleSetCache } from './rule-set-cache.ts';

/** The part of an action that a decider needs besides its functions. */
export interface IndexedAction extends Pick<ActionProgram, 'lets'> {
  readonly rules: RuleHeads;
  readonly hasShadow: boolean;
  /** By the rule's place, whether the rule reads risk (1) or not (0); null when no rule reads risk. */
  readonly afterRisk: Uint8Array | null;
}

/** The rules of an action, each read only when it is needed. */
export interface RuleHeads {
  readonly length: number;
  at(index: number): RuleHead;
}

/** The functions of an action whose rules are evaluated one by one. */
export interface IndexedCode extends DisplayCode {
  /**
   * Writes the places of the rules to try into `found`; for a rule that is known to be true, the complement
   * of its place. Returns the number of entries.
   */
  readonly find: (facts: Facts, state: State, firing: Int32Array) => number;
  readonly layout: readonly unknown[];
  /**
   * Where the constants of each rule begin in the layout, by the rule's place; 0 when the rule is not in the
   * layout yet.
   */
  readonly bases: Int32Array;
  /** Adds a rule to the layout and returns where its constants begin. */
  readonly placeRule: (index: number) => number;
}

/** The most rules that are sorted by insertion before their truths are combined. */
const fewMax = 16;

/**
 * Decides an action with many rules. A class, like `KeyedDecider`, because its working arrays are kept from
 * one request to the next.
 */
export class IndexedDecider implements Decider {
  readonly #rules: RuleHeads;
  readonly #code: IndexedCode;
  readonly #state: State;
  readonly #hasLets: boolean;
  /** By the rule's place, whether the rule reads risk; null when no rule reads risk. */
  readonly #afterRisk: Uint8Array | null;
  readonly #hasAfterRisk: boolean;
  readonly #hasShadow: boolean;
  /** The places of the rules to try. */
  readonly ruleIndexes: Int32Array;
  #foundCount = 0;
  /** The rules that are not false: three times the rule's place plus its truth. */
  readonly #firing: Int32Array;
  readonly cache = new RuleSetCache<FinalDecision>();
  /** The risk, by the rules that do not read risk and their truths. */
  readonly #risks = new RuleSetCache<RuntimeQuantity>();

  constructor(action: IndexedAction, code: IndexedCode) {
    const { rules, lets } = action;
    this.#rules = rules;
    this.#code = code;
    this.#state = createState(action);
    this.#hasLets = lets.length > 0;
    this.#afterRisk = action.afterRisk;
    this.#hasAfterRisk = action.afterRisk !== null;
    this.#hasShadow = action.hasShadow;
    this.ruleIndexes = new Int32Array(rules.length);
    this.#firing = new Int32Array(rules.length);
  }

  decide(facts: Facts): Decision {
    this.#foundCount = this.#code.find(facts, this.#state, this.ruleIndexes);
    return this.#withValues(this.#settled(this.#tryBeforeRisk(facts), facts), facts);
  }

  decideAll(facts: Facts): DecidedAll {
    const before = this.#tryAll(facts);
    const settled = this.#settled(before, facts);
    const decision = this.#withValues(settled, facts);
    return { decision, truths: this.#truths(before, facts), risk: settled.risk };
  }

  /**
   * Makes the same decision as `decide` and returns every rule that took part in it, and perhaps unknown
   * allows that did not.
   */
  decideSome(facts: Facts): DecidedSome {
    this.#foundCount = this.#code.find(facts, this.#state, this.ruleIndexes);
    const before = this.#tryBeforeRisk(facts);
    const settled = this.#settled(before, facts);
    const decision = this.#withValues(settled, facts);
    const count = this.#hasAfterRisk ? this.#fireAgain(facts) : before;
    return { decision, firing: this.#firing, count, risk: settled.risk };
  }

  /** The decision, with the values that it shows. */
  #withValues(settled: FinalDecision, facts: Facts): Decision {
    if (settled.shows === null && settled.asks === null) return settled.decision;
    this.#state.risk = settled.risk;
    if (this.#hasLets) clearLets(this.#state);
    return withValues(settled, { code: this.#code, facts, state: this.#state });
  }

  /** The truths by the rule's place, after the rules have been weighed. */
  #truths(before: number, facts: Facts): ArrayLike<Kleene> {
    const truths: Kleene[] = Array(this.#rules.length).fill(0);
    const count = this.#hasAfterRisk ? this.#fireAgain(facts) : before;
    for (let at = 0; at < count; at += 1)
      truths[placeFired(this.#firing[at]!)] = truthFired(this.#firing[at]!);
    return truths;
  }

  /**
   * Tries the found rules once more and returns how many of them are not false. Weighing has sorted the rules
   * before risk among those after it, and may have tried the latter as if shadow rules were enforced.
   */
  #fireAgain(facts: Facts): number {
    return this.#tryAfterRisk(this.#tryBeforeRisk(facts), facts, false);
  }

  /** Tries all rules instead of the found ones, as `#tryBeforeRisk` does. */
  #tryAll(facts: Facts): number {
    const count = this.#rules.length;
    for (let index = 0; index < count; index += 1) this.ruleIndexes[index] = index;
    this.#foundCount = count;
    return this.#tryBeforeRisk(facts);
  }

  tried(facts: Facts): readonly number[] {
    const count = this.#code.find(facts, this.#state, this.ruleIndexes);
    return Array.from(this.ruleIndexes.subarray(0, count), (place) => (place < 0 ? ~place : place));
  }

  /** Tries the found rules that do not read risk, and returns how many of them are not false. */
  #tryBeforeRisk(facts: Facts): number {
    clearTextCaches();
    if (this.#hasLets) clearLets(this.#state);
    return this.#try(false, facts, 0);
  }

  /** Adds the rules that read risk. The risk is computed with or without shadow rules. */
  #tryAfterRisk(before: number, facts: Facts, withShadow: boolean): number {
    this.#state.risk = this.#risk(before, facts, withShadow);
    if (this.#hasLets) clearLets(this.#state);
    return this.#try(true, facts, before);
  }

  /**
   * Tries the found rules that read risk, or those that do not. Rules that are not false are written from
   * entry `from` on. Returns the number of entries.
   */
  #try(readsRisk: boolean, facts: Facts, from: number): number {
    const { layout, bases } = this.#code;
    const afterRisk = this.#afterRisk;
    const readsRiskFlag = readsRisk ? 1 : 0;
    let count = from;
    for (let at = 0; at < this.#foundCount; at += 1) {
      const place = this.ruleIndexes[at]!;
      if (place < 0) {
        // A rule that reads risk is never known to be true before it is tried.
        if (readsRisk) continue;
        this.#firing[count] = 3 * ~place + 2;
        count += 1;
        continue;
      }
      if (afterRisk !== null && afterRisk[place] !== readsRiskFlag) continue;
      const base = bases[place]! || this.#code.placeRule(place);
      const truth = (layout[base - 2] as RuleCode<Kleene>)(facts, this.#state, layout, base);
      if (truth === 0) continue;
      this.#firing[count] = 3 * place + truth;
      count += 1;
    }
    return count;
  }

  #settled(before: number, facts: Facts): FinalDecision {
    // With shadow rules enforced the risk differs, so rules that read risk have to be tried again.
    if (this.#hasAfterRisk && this.#hasShadow) return this.#settleAfterRisk(before, facts);
    const count = this.#hasAfterRisk ? this.#tryAfterRisk(before, facts, false) : before;
    if (!isNothing(facts.satisfied)) return this.#settle(count, facts);
    if (count <= fewMax) sort(this.#firing, count);
    const cached = this.cache.find(this.#firing, count);
    if (cached !== undefined) return cached;
    const key = this.#firing.slice(0, count);
    const settled = freeze(this.#settle(count, facts));
    this.cache.keep(key, count, settled);
    return settled;
  }

  #settle(count: number, facts: Facts): FinalDecision {
    const ballot = this.#ballot(count, facts, false);
    return settle(ballot, this.#hasShadow ? () => ({ ...ballot, withShadow: true }) : null);
  }

  #settleAfterRisk(before: number, facts: Facts): FinalDecision {
    const saved = this.#firing.slice(0, before);
    const ballot = this.#ballot(this.#tryAfterRisk(before, facts, false), facts, false);
    return settle(ballot, () => {
      this.#firing.set(saved);
      return this.#ballot(this.#tryAfterRisk(before, facts, true), facts, true);
    });
  }

  #risk(before: number, facts: Facts, withShadow: boolean): RuntimeQuantity {
    if (withShadow) return riskQuantity(this.#ballot(before, facts, true));
    const cached = this.#risks.find(this.#firing, before);
    if (cached !== undefined) return cached;
    const key = this.#firing.slice(0, before);
    const risk = riskQuantity(this.#ballot(before, facts, false));
    this.#risks.keep(key, before, risk);
    return risk;
  }

  /** The ballot of the first `count` rules that are not false, after sorting them. */
  #ballot(count: number, facts: Facts, withShadow: boolean): RuleTruths {
    sort(this.#firing, count);
    const rules: RuleHead[] = [];
    const truths: number[] = [];
    for (let at = 0; at < count; at += 1) {
      const fired = this.#firing[at]!;
      rules.push(this.#rules.at(placeFired(fired)));
      truths.push(truthFired(fired));
    }
    return { rules, truths, satisfied: facts.satisfied, withShadow };
  }
}

export function placeFired(fired: number): number {
  return (fired / 3) | 0;
}

export function truthFired(fired: number): Kleene {
  return (fired % 3) as Kleene;
}

/** Sorts the first `count` numbers in ascending order. */
function sort(numbers: Int32Array, count: number): void {
  if (count > fewMax) {
    numbers.subarray(0, count).sort();
    return;
  }
  for (let at = 1; at < count; at += 1) {
    const number = numbers[at]!;
    let before = at - 1;
    while (before >= 0 && numbers[before]! > number) {
      numbers[before + 1] = numbers[before]!;
      before -= 1;
    }
    numbers[before + 1] = number;
  }
}
