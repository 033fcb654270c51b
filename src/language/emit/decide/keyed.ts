// Decides an action of few rules. The truths of its rules are one number, its key, and where nothing has been satisfied the
// key alone says what the decision is: decisions are made once for each key and kept.
// INVARIANT: what is kept is what `settle` makes of the same truths, and nobody can change it.

import type { Decision } from '../../model/decision.ts';
import type { Facts } from '../../model/request.ts';
import type { ActionProgram, RuleHead } from '../../program/program.ts';
import { BoundedMap } from '../../value/memo.ts';
import type { Kleene, RuntimeQuantity } from '../runtime/quantity.ts';
import { forgetTexts } from '../runtime/remembered.ts';
import { createState, forgetLets, type ReasonCode, type State } from '../runtime/state.ts';
import type { Ballot } from './combine.ts';
import {
  type DecidedAll,
  type Decider,
  freeze,
  isNothing,
  riskQuantity,
  type Settled,
  settle,
} from './decide.ts';

/** What is asked of an action besides its functions. */
export interface KeyedAction extends Pick<ActionProgram, 'lets'> {
  readonly rules: readonly RuleHead[];
}

/** The functions of an action: truths of rules as ternary digits, the first rule's lowest. */
export interface KeyedCode {
  /** Of the rules that do not read risk. */
  readonly beforeRisk: Evaluate;
  /** Of those that do; null where none does. */
  readonly afterRisk: Evaluate | null;
  /** Of a rule whose reason shows values. */
  reason(rule: RuleHead): ReasonCode;
}

type Evaluate = (facts: Facts, state: State) => number;

/** Decisions that an action keeps; agents choose which combinations come up, so the number is bounded. */
const decisionsKeptMax = 512;

/** Up to so many rules, every combination of truths has a place in an array. */
const rulesInArrayMax = 4;

/** A class, as there is one for each of perhaps many thousand actions, and methods take no room in them. */
export class KeyedDecider implements Decider {
  /** The code's, to be found here at once. */
  readonly #beforeRisk: Evaluate;
  /** By key, decisions that say the same to every request; null where keys are many. */
  readonly #unvaried: (Decision | undefined)[] | null;
  readonly #code: KeyedCode;
  readonly #rules: readonly RuleHead[];
  readonly #state: State;
  readonly #hasLets: boolean;
  readonly #hasShadow: boolean;
  readonly #isKept: boolean;
  /** How many combinations the rules have that do not read risk. */
  readonly #keysBeforeRisk: number;
  /** By key; an array where there are few keys, else null. */
  readonly #few: (Settled | undefined)[] | null;
  readonly #many = new BoundedMap<number, Settled>(decisionsKeptMax);
  /** Those of the last ballot. */
  readonly #truths: Kleene[];
  /** The risk by truths of the rules that do not read it; null where none does. */
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
    // A power is a double to the engine unless it is told otherwise.
    this.#keysBeforeRisk = (3 ** (rules.length - readRisk)) | 0;
    this.#risks = code.afterRisk !== null ? new BoundedMap(decisionsKeptMax) : null;
    this.#hasShadow = rules.some((rule) => rule.isShadow);
    // With shadow rules enforced the risk is another one, and rules that read it have to be asked again.
    this.#isKept = !(code.afterRisk !== null && this.#hasShadow);
  }

  decide(facts: Facts): Decision {
    const key = this.#key(facts);
    if (this.#unvaried === null || !isNothing(facts.satisfied))
      return this.#withReason(this.#settled(key, facts), facts);
    return this.#unvaried[key] ?? this.#decideFirst(this.#unvaried, key, facts);
  }

  #decideFirst(unvaried: (Decision | undefined)[], key: number, facts: Facts): Decision {
    const settled = this.#settled(key, facts);
    if (settled.shows === null && this.#isKept) unvaried[key] = settled.decision;
    return this.#withReason(settled, facts);
  }

  decideAll(facts: Facts): DecidedAll {
    const key = this.#key(facts);
    const settled = this.#settled(key, facts);
    const decision = this.#withReason(settled, facts);
    this.#readTruths(key);
    return { decision, truths: this.#truths, risk: settled.risk };
  }

  /** All of them, at once. */
  tried(): readonly number[] {
    return this.#rules.map((_, place) => place);
  }

  /** The decision, with the values that its reason shows. */
  #withReason({ decision, risk, shows }: Settled, facts: Facts): Decision {
    if (shows === null) return decision;
    this.#state.risk = risk;
    if (this.#hasLets) forgetLets(this.#state);
    return { ...decision, reason: this.#code.reason(shows)(facts, this.#state) };
  }

  #key(facts: Facts): number {
    const state = this.#state;
    forgetTexts();
    if (this.#hasLets) forgetLets(state);
    const key = this.#beforeRisk(facts, state);
    if (this.#risks === null) return key;
    state.risk = this.#risk(this.#risks, key, facts);
    if (this.#hasLets) forgetLets(state);
    return key + this.#keysBeforeRisk * this.#code.afterRisk!(facts, state);
  }

  #risk(risks: Map<number, RuntimeQuantity>, key: number, facts: Facts): RuntimeQuantity {
    const known = risks.get(key);
    if (known !== undefined) return known;
    // Rules that read risk add nothing to it, and their digits are 0.
    const risk = riskQuantity(this.#ballot(key, facts));
    risks.set(key, risk);
    return risk;
  }

  #settled(key: number, facts: Facts): Settled {
    if (!this.#isKept || !isNothing(facts.satisfied)) return this.#settle(key, facts);
    const known = this.#few === null ? this.#many.get(key) : this.#few[key];
    if (known !== undefined) return known;
    const settled = freeze(this.#settle(key, facts));
    if (this.#few === null) this.#many.set(key, settled);
    else this.#few[key] = settled;
    return settled;
  }

  #settle(key: number, facts: Facts): Settled {
    const ballot = this.#ballot(key, facts);
    return settle(ballot, this.#hasShadow ? () => this.#enforceShadow(ballot, key, facts) : null);
  }

  /** As if shadow rules were enforced: their points count too, so rules that read risk are asked again. */
  #enforceShadow(ballot: Ballot, key: number, facts: Facts): Ballot {
    const enforced = { ...ballot, withShadow: true };
    if (this.#isKept) return enforced;
    const state = this.#state;
    const before = key % this.#keysBeforeRisk;
    const { risk } = state;
    state.risk = riskQuantity({ ...this.#ballot(before, facts), withShadow: true });
    forgetLets(state);
    const again = before + this.#keysBeforeRisk * this.#code.afterRisk!(facts, state);
    state.risk = risk;
    return { ...this.#ballot(again, facts), withShadow: true };
  }

  #ballot(key: number, facts: Facts): Ballot {
    this.#readTruths(key);
    return { rules: this.#rules, truths: this.#truths, satisfied: facts.satisfied, withShadow: false };
  }

  #readTruths(key: number): void {
    const rules = this.#rules;
    const truths = this.#truths;
    // Keys are small integers, and saying so makes their division several times cheaper.
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
