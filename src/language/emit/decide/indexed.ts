// An action of many rules at work: an index names the rules to try, those that take part are weighed.
// INVARIANT: the decision is the one that all rules would give, as what the index leaves out cannot take part.

import type { Decision } from '../../model/decision.ts';
import type { Facts } from '../../model/request.ts';
import type { ActionProgram, RuleHead } from '../../program/program.ts';
import type { Kleene, RuntimeQuantity } from '../runtime/quantity.ts';
import { forgetTexts } from '../runtime/remembered.ts';
import { createState, forgetLets, type ReasonCode, type RuleCode, type State } from '../runtime/state.ts';
import type { Ballot } from './combine.ts';
import {
  type DecidedAll,
  type DecidedSome,
  type Decider,
  freeze,
  isNothing,
  riskQuantity,
  type Settled,
  settle,
} from './decide.ts';
import { KeptByRules } from './kept-by-rules.ts';

/** What is asked of an action besides its functions. */
export interface ListedAction extends Pick<ActionProgram, 'lets'> {
  readonly rules: RuleHeads;
  readonly hasShadow: boolean;
  /** By place, whether the rule reads risk; null where none does. */
  readonly afterRisk: Uint8Array | null;
}

/** Rules that are read when they are asked for. */
export interface RuleHeads {
  readonly length: number;
  at(place: number): RuleHead;
}

/** The rules of an action one by one. */
export interface ListedCode {
  /** The places of the rules to try, and the complements of those of rules that are true; returns how many they are. */
  readonly find: (facts: Facts, state: State, found: Int32Array) => number;
  readonly layout: readonly unknown[];
  /** Where the constants of each rule begin in the layout, by its place; 0 where it has not been placed. */
  readonly bases: Int32Array;
  /** Places a rule in the layout; returns where its constants begin. */
  readonly placeRule: (place: number) => number;
  /** Of a rule whose reason shows values. */
  readonly reason: (rule: RuleHead) => ReasonCode;
}

/** Rules that are put in order by insertion before their truths are combined. */
const fewMax = 16;

/** A class like its sibling for few rules: what it works in is kept from one request to the next. */
export class ListedDecider implements Decider {
  readonly #rules: RuleHeads;
  readonly #code: ListedCode;
  readonly #state: State;
  readonly #hasLets: boolean;
  /** Null where no rule reads risk. */
  readonly #afterRisk: Uint8Array | null;
  readonly #hasAfterRisk: boolean;
  readonly #hasShadow: boolean;
  /** The places of the rules to try. */
  readonly #found: Int32Array;
  #foundCount = 0;
  /** Rules that are not false: three times the place, and the truth. */
  readonly #firing: Int32Array;
  readonly #kept = new KeptByRules<Settled>();
  /** The risk by rules that do not read it. */
  readonly #risks = new KeptByRules<RuntimeQuantity>();

  constructor(action: ListedAction, code: ListedCode) {
    const { rules, lets } = action;
    this.#rules = rules;
    this.#code = code;
    this.#state = createState(action);
    this.#hasLets = lets.length > 0;
    this.#afterRisk = action.afterRisk;
    this.#hasAfterRisk = action.afterRisk !== null;
    this.#hasShadow = action.hasShadow;
    this.#found = new Int32Array(rules.length);
    this.#firing = new Int32Array(rules.length);
  }

  decide(facts: Facts): Decision {
    this.#foundCount = this.#code.find(facts, this.#state, this.#found);
    return this.#withReason(this.#settled(this.#tryBeforeRisk(facts), facts), facts);
  }

  decideAll(facts: Facts): DecidedAll {
    const before = this.#tryAll(facts);
    const settled = this.#settled(before, facts);
    const decision = this.#withReason(settled, facts);
    return { decision, truths: this.#truths(before, facts), risk: settled.risk };
  }

  /** The same decision, with every rule that took part, and perhaps allows that are unknown. */
  decideSome(facts: Facts): DecidedSome {
    this.#foundCount = this.#code.find(facts, this.#state, this.#found);
    const before = this.#tryBeforeRisk(facts);
    const settled = this.#settled(before, facts);
    const decision = this.#withReason(settled, facts);
    const count = this.#hasAfterRisk ? this.#fireAgain(facts) : before;
    return { decision, firing: this.#firing, count, risk: settled.risk };
  }

  /** The decision, with the values that its reason shows. */
  #withReason({ decision, risk, shows }: Settled, facts: Facts): Decision {
    if (shows === null) return decision;
    this.#state.risk = risk;
    if (this.#hasLets) forgetLets(this.#state);
    return { ...decision, reason: this.#code.reason(shows)(facts, this.#state) };
  }

  /** By place, after the rules have been weighed. */
  #truths(before: number, facts: Facts): ArrayLike<Kleene> {
    const truths: Kleene[] = Array(this.#rules.length).fill(0);
    const count = this.#hasAfterRisk ? this.#fireAgain(facts) : before;
    for (let at = 0; at < count; at += 1)
      truths[placeFired(this.#firing[at]!)] = truthFired(this.#firing[at]!);
    return truths;
  }

  /**
   * Weighing has put the rules before risk among those after it, and may have asked these again as if shadow rules were
   * enforced. Returns how many of the rules found are not false.
   */
  #fireAgain(facts: Facts): number {
    return this.#tryAfterRisk(this.#tryBeforeRisk(facts), facts, false);
  }

  /** As `#tryBeforeRisk`, of all rules. */
  #tryAll(facts: Facts): number {
    const count = this.#rules.length;
    for (let place = 0; place < count; place += 1) this.#found[place] = place;
    this.#foundCount = count;
    return this.#tryBeforeRisk(facts);
  }

  tried(facts: Facts): readonly number[] {
    const count = this.#code.find(facts, this.#state, this.#found);
    return Array.from(this.#found.subarray(0, count), (place) => (place < 0 ? ~place : place));
  }

  /** Returns how many of the rules found that do not read risk are not false. */
  #tryBeforeRisk(facts: Facts): number {
    forgetTexts();
    if (this.#hasLets) forgetLets(this.#state);
    return this.#try(false, facts, 0);
  }

  /** Adds the rules that read risk, for a risk with or without shadow rules. */
  #tryAfterRisk(before: number, facts: Facts, withShadow: boolean): number {
    this.#state.risk = this.#risk(before, facts, withShadow);
    if (this.#hasLets) forgetLets(this.#state);
    return this.#try(true, facts, before);
  }

  /** Tries the rules found of one kind; those that are not false are added after `from` others. */
  #try(readsRisk: boolean, facts: Facts, from: number): number {
    const { layout, bases } = this.#code;
    const afterRisk = this.#afterRisk;
    const wanted = readsRisk ? 1 : 0;
    let count = from;
    for (let at = 0; at < this.#foundCount; at += 1) {
      const place = this.#found[at]!;
      if (place < 0) {
        // What reads risk is never decided before.
        if (readsRisk) continue;
        this.#firing[count] = 3 * ~place + 2;
        count += 1;
        continue;
      }
      if (afterRisk !== null && afterRisk[place] !== wanted) continue;
      const base = bases[place]! || this.#code.placeRule(place);
      const truth = (layout[base - 2] as RuleCode<Kleene>)(facts, this.#state, layout, base);
      if (truth === 0) continue;
      this.#firing[count] = 3 * place + truth;
      count += 1;
    }
    return count;
  }

  #settled(before: number, facts: Facts): Settled {
    // With shadow rules enforced the risk is another one, and rules that read it have to be asked again.
    if (this.#hasAfterRisk && this.#hasShadow) return this.#settleAfterRisk(before, facts);
    const count = this.#hasAfterRisk ? this.#tryAfterRisk(before, facts, false) : before;
    if (!isNothing(facts.satisfied)) return this.#settle(count, facts);
    if (count <= fewMax) sort(this.#firing, count);
    const known = this.#kept.find(this.#firing, count);
    if (known !== undefined) return known;
    const key = this.#firing.slice(0, count);
    const settled = freeze(this.#settle(count, facts));
    this.#kept.keep(key, count, settled);
    return settled;
  }

  #settle(count: number, facts: Facts): Settled {
    const ballot = this.#ballot(count, facts, false);
    return settle(ballot, this.#hasShadow ? () => ({ ...ballot, withShadow: true }) : null);
  }

  #settleAfterRisk(before: number, facts: Facts): Settled {
    const saved = this.#firing.slice(0, before);
    const ballot = this.#ballot(this.#tryAfterRisk(before, facts, false), facts, false);
    return settle(ballot, () => {
      this.#firing.set(saved);
      return this.#ballot(this.#tryAfterRisk(before, facts, true), facts, true);
    });
  }

  #risk(before: number, facts: Facts, withShadow: boolean): RuntimeQuantity {
    if (withShadow) return riskQuantity(this.#ballot(before, facts, true));
    const known = this.#risks.find(this.#firing, before);
    if (known !== undefined) return known;
    const key = this.#firing.slice(0, before);
    const risk = riskQuantity(this.#ballot(before, facts, false));
    this.#risks.keep(key, before, risk);
    return risk;
  }

  /** Of the first `count` rules that are not false, which are put in order. */
  #ballot(count: number, facts: Facts, withShadow: boolean): Ballot {
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

/** The first `count` numbers, ascending. */
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
