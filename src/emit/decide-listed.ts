// An action of many rules at work: an index names the rules to try, those that take part are weighed.
// INVARIANT: the decision is the one that all rules would give, as what the index leaves out cannot take part.

import type { Decision } from '../model/decision.ts';
import type { Facts } from '../model/request.ts';
import type { ActionProgram, PlannedRule } from '../program/program.ts';
import type { Ballot } from './combine.ts';
import {
  createState,
  type Decider,
  forgetLets,
  freeze,
  isNothing,
  type ReasonCode,
  type RuleCode,
  riskQuantity,
  type Settled,
  type State,
  settle,
} from './decide.ts';
import type { Kleene, Quantity } from './quantity.ts';

/** The rules of an action one by one. */
export interface ListedCode {
  /** The places of the rules to try, into `found`; returns how many they are. */
  readonly find: (facts: Facts, state: State, found: Int32Array) => number;
  readonly layout: readonly unknown[];
  /** Where the constants of each rule begin in the layout, by its place. */
  readonly bases: Int32Array;
  /** Of a rule whose reason shows values. */
  readonly reason: (rule: PlannedRule) => ReasonCode;
}

/** Agents choose which rules come up. */
const decisionsKeptMax = 4_096;

/** Fewer are put in order by insertion. */
const fewMax = 16;

/** A class like its sibling for few rules: what it works in is kept from one request to the next. */
export class ListedDecider implements Decider {
  readonly #rules: readonly PlannedRule[];
  readonly #code: ListedCode;
  readonly #state: State;
  readonly #hasLets: boolean;
  readonly #hasLate: boolean;
  readonly #hasShadow: boolean;
  /** The places of the rules to try. */
  readonly #found: Int32Array;
  #foundCount = 0;
  /** Rules that are not false: three times the place, and the truth. */
  readonly #firing: Int32Array;
  /** Decisions of one rule, or of none (-1), that takes part. */
  readonly #kept = new Map<number, Settled>();

  constructor(program: ActionProgram, code: ListedCode) {
    const { rules, lets } = program;
    this.#rules = rules;
    this.#code = code;
    this.#state = createState(program);
    this.#hasLets = lets.length > 0;
    this.#hasLate = rules.some((rule) => rule.readsRisk);
    this.#hasShadow = rules.some((rule) => rule.isShadow);
    this.#found = new Int32Array(rules.length);
    this.#firing = new Int32Array(rules.length);
  }

  decide(facts: Facts): Decision {
    this.#foundCount = this.#code.find(facts, this.#state, this.#found);
    const { decision, risk, shows } = this.#settled(this.#tryEarly(facts), facts);
    if (shows === null) return decision;
    this.#state.risk = risk;
    if (this.#hasLets) forgetLets(this.#state);
    return { ...decision, reason: this.#code.reason(shows)(facts, this.#state) };
  }

  evaluate(facts: Facts): Ballot {
    const rules = this.#rules;
    for (let place = 0; place < rules.length; place += 1) this.#found[place] = place;
    this.#foundCount = rules.length;
    const early = this.#tryEarly(facts);
    const count = this.#hasLate ? this.#tryLate(early, facts, false) : early;
    const truths = new Uint8Array(rules.length);
    for (const fired of this.#firing.subarray(0, count)) truths[placeOf(fired)] = truthOf(fired);
    const ballot = { rules, truths, satisfied: facts.satisfied, withShadow: false };
    if (!this.#hasLate) this.#state.risk = riskQuantity(ballot);
    return ballot;
  }

  risk(): Quantity {
    return this.#state.risk;
  }

  /** Returns how many of the rules found that do not read risk are not false. */
  #tryEarly(facts: Facts): number {
    if (this.#hasLets) forgetLets(this.#state);
    return this.#try(false, facts, 0);
  }

  /** Adds the rules that read risk, for a risk with or without shadow rules. */
  #tryLate(early: number, facts: Facts, withShadow: boolean): number {
    this.#state.risk = riskQuantity(this.#ballot(early, facts, withShadow));
    if (this.#hasLets) forgetLets(this.#state);
    return this.#try(true, facts, early);
  }

  /** Tries the rules found of one kind; those that are not false are added after `from` others. */
  #try(readsRisk: boolean, facts: Facts, from: number): number {
    const { layout, bases } = this.#code;
    let count = from;
    for (let at = 0; at < this.#foundCount; at += 1) {
      const place = this.#found[at]!;
      if (this.#hasLate && this.#rules[place]!.readsRisk !== readsRisk) continue;
      const base = bases[place]!;
      const truth = (layout[base - 2] as RuleCode<Kleene>)(facts, this.#state, layout, base);
      if (truth === 0) continue;
      this.#firing[count] = 3 * place + truth;
      count += 1;
    }
    return count;
  }

  #settled(early: number, facts: Facts): Settled {
    if (this.#hasLate) return this.#settleLate(early, facts);
    if (early > 1 || !isNothing(facts.satisfied)) return this.#settle(early, facts);
    const key = early === 0 ? -1 : this.#firing[0]!;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const settled = freeze(this.#settle(early, facts));
    if (this.#kept.size >= decisionsKeptMax) this.#kept.clear();
    this.#kept.set(key, settled);
    return settled;
  }

  #settle(count: number, facts: Facts): Settled {
    const ballot = this.#ballot(count, facts, false);
    return settle(ballot, this.#hasShadow ? () => ({ ...ballot, withShadow: true }) : null);
  }

  #settleLate(early: number, facts: Facts): Settled {
    const saved = this.#firing.slice(0, early);
    const ballot = this.#ballot(this.#tryLate(early, facts, false), facts, false);
    if (!this.#hasShadow) return settle(ballot, null);
    return settle(ballot, () => {
      this.#firing.set(saved);
      return this.#ballot(this.#tryLate(early, facts, true), facts, true);
    });
  }

  /** Of the first `count` rules that are not false, which are put in order. */
  #ballot(count: number, facts: Facts, withShadow: boolean): Ballot {
    sort(this.#firing, count);
    const rules: PlannedRule[] = [];
    const truths: number[] = [];
    for (let at = 0; at < count; at += 1) {
      const fired = this.#firing[at]!;
      rules.push(this.#rules[placeOf(fired)]!);
      truths.push(truthOf(fired));
    }
    return { rules, truths, satisfied: facts.satisfied, withShadow };
  }
}

function placeOf(fired: number): number {
  return (fired / 3) | 0;
}

function truthOf(fired: number): number {
  return fired % 3;
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
