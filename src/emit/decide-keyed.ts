// An action of few rules at work. The truths of its rules are one number, and where nothing has been satisfied that
// number alone says what the decision is: decisions are made once a number and kept.
// INVARIANT: what is kept is what `settle` makes of the same truths, and nobody can change it.

import type { Decision } from '../model/decision.ts';
import type { Facts } from '../model/request.ts';
import type { ActionProgram, RuleHead } from '../program/program.ts';
import type { Ballot } from './combine.ts';
import {
  createState,
  type DecidedAll,
  type Decider,
  digits,
  forgetLets,
  freeze,
  isNothing,
  type ReasonCode,
  type RuleCode,
  riskQuantity,
  type Settled,
  type State,
  type Stretch,
  settle,
} from './decide.ts';
import type { OwnTexts, TextUser } from './own-texts.ts';
import type { Kleene, Quantity } from './quantity.ts';
import { forgetTexts } from './remembered.ts';

/** What is asked of an action besides its functions. */
export interface KeyedAction extends Pick<ActionProgram, 'lets'> {
  readonly rules: readonly RuleHead[];
}

/** The functions of an action: truths of rules as ternary digits, the first rule's lowest. */
export interface KeyedCode {
  readonly layout: readonly unknown[];
  /** The rules that do not read risk, or one function of all their digits. */
  readonly early: Stretch;
  /** Those that do. */
  readonly late: Stretch;
  /** One function of all digits, where there is one; null also where some rule reads risk. */
  readonly whole: RuleCode<number> | null;
  /** Of a rule whose reason shows values. */
  readonly reason: (rule: RuleHead) => ReasonCode;
}

/** Agents choose which combinations come up. */
const decisionsKeptMax = 512;

/** All combinations of so many rules have a place of their own. */
const rulesInArrayMax = 4;

const noLayout: readonly unknown[] = [];

/** A class, as there is one for each of perhaps many thousand actions, and methods take no room in them. */
export class KeyedDecider implements Decider, TextUser<KeyedCode> {
  /** The code's, to be found here at once. */
  #whole: RuleCode<number> | null;
  /** By key, decisions that say the same to every request; null where keys are many, or code is shared. */
  #said: (Decision | undefined)[] | null = null;
  /** Where uses are reported; null where they are not. */
  #ownTexts: OwnTexts<KeyedCode> | null;
  #usesToReport = 0;
  readonly #rules: readonly RuleHead[];
  #code: KeyedCode;
  /** What serves where the action has no text of its own. */
  readonly #shared: KeyedCode;
  readonly #state: State;
  readonly #hasLets: boolean;
  readonly #hasShadow: boolean;
  readonly #isKept: boolean;
  /** How many combinations the rules have that do not read risk. */
  readonly #earlyKeys: number;
  /** By key; an array where there are few keys, else null. */
  readonly #few: (Settled | undefined)[] | null;
  readonly #many = new Map<number, Settled>();
  /** Those of the last ballot. */
  readonly #truths: Kleene[];
  /** The risk by truths of the rules that do not read it; null where none does. */
  readonly #risks: Map<number, Quantity> | null;

  constructor(action: KeyedAction, code: KeyedCode, ownTexts: OwnTexts<KeyedCode> | null = null) {
    const { rules, lets } = action;
    this.#rules = rules;
    this.#code = code;
    this.#shared = code;
    this.#whole = null;
    this.#ownTexts = ownTexts;
    this.#usesToReport = ownTexts?.decisionsPerReport ?? 0;
    this.#state = createState(action);
    this.#truths = rules.map(() => 0);
    this.#hasLets = lets.length > 0;
    this.#few = rules.length <= rulesInArrayMax ? Array(3 ** rules.length).fill(undefined) : null;
    const hasLate = code.late.count > 0;
    // A power is a double to the engine unless it is told otherwise.
    this.#earlyKeys = (3 ** rules.filter((rule) => !rule.readsRisk).length) | 0;
    this.#risks = hasLate ? new Map() : null;
    this.#hasShadow = rules.some((rule) => rule.isShadow);
    // With shadow rules enforced the risk is another one, and rules that read it have to be asked again.
    this.#isKept = !(hasLate && this.#hasShadow);
  }

  decide(facts: Facts): Decision {
    if (this.#ownTexts !== null) this.#count(this.#ownTexts, facts.action);
    const key = this.#key(facts);
    if (this.#said === null || !isNothing(facts.satisfied))
      return this.#say(this.#settled(key, facts), facts);
    return this.#said[key] ?? this.#saidFirst(this.#said, key, facts);
  }

  serveOwn(code: KeyedCode): void {
    this.#code = code;
    this.#whole = code.whole;
    this.#said = this.#few === null ? null : Array(this.#few.length).fill(undefined);
  }

  serveShared(): void {
    this.#code = this.#shared;
    this.#whole = null;
    this.#said = null;
  }

  stopReporting(): void {
    this.#ownTexts = null;
  }

  #count(ownTexts: OwnTexts<KeyedCode>, action: string): void {
    this.#usesToReport -= 1;
    if (this.#usesToReport > 0) return;
    this.#usesToReport = ownTexts.decisionsPerReport;
    ownTexts.report(action, this);
  }

  #saidFirst(said: (Decision | undefined)[], key: number, facts: Facts): Decision {
    const settled = this.#settled(key, facts);
    if (settled.shows === null && this.#isKept) said[key] = settled.decision;
    return this.#say(settled, facts);
  }

  decideAll(facts: Facts): DecidedAll {
    const key = this.#key(facts);
    const settled = this.#settled(key, facts);
    const decision = this.#say(settled, facts);
    this.#readTruths(key);
    return { decision, truths: this.#truths, risk: settled.risk };
  }

  /** All of them, at once. */
  tried(): readonly number[] {
    return this.#rules.map((_, place) => place);
  }

  /** The decision, with the values that its reason shows. */
  #say({ decision, risk, shows }: Settled, facts: Facts): Decision {
    if (shows === null) return decision;
    this.#state.risk = risk;
    if (this.#hasLets) forgetLets(this.#state);
    return { ...decision, reason: this.#code.reason(shows)(facts, this.#state) };
  }

  #key(facts: Facts): number {
    const state = this.#state;
    forgetTexts();
    if (this.#hasLets) forgetLets(state);
    if (this.#whole !== null) return this.#whole(facts, state, noLayout, 0);
    const { layout, early, late } = this.#code;
    const key = digits(layout, early, facts, state);
    if (this.#risks === null) return key;
    state.risk = this.#risk(this.#risks, key, facts);
    if (this.#hasLets) forgetLets(state);
    return key + this.#earlyKeys * digits(layout, late, facts, state);
  }

  #risk(risks: Map<number, Quantity>, key: number, facts: Facts): Quantity {
    const known = risks.get(key);
    if (known !== undefined) return known;
    // Rules that read risk add nothing to it, and their digits are 0.
    const risk = riskQuantity(this.#ballot(key, facts));
    if (risks.size >= decisionsKeptMax) risks.clear();
    risks.set(key, risk);
    return risk;
  }

  #settled(key: number, facts: Facts): Settled {
    if (!this.#isKept || !isNothing(facts.satisfied)) return this.#settle(key, facts);
    const known = this.#few === null ? this.#many.get(key) : this.#few[key];
    if (known !== undefined) return known;
    const settled = freeze(this.#settle(key, facts));
    if (this.#few === null) {
      if (this.#many.size >= decisionsKeptMax) this.#many.clear();
      this.#many.set(key, settled);
    } else this.#few[key] = settled;
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
    const { layout, late } = this.#code;
    const early = key % this.#earlyKeys;
    const { risk } = state;
    state.risk = riskQuantity({ ...this.#ballot(early, facts), withShadow: true });
    forgetLets(state);
    const again = early + this.#earlyKeys * digits(layout, late, facts, state);
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
    let early = (key | 0) % this.#earlyKeys;
    let late = ((key | 0) / this.#earlyKeys) | 0;
    for (let place = 0; place < rules.length; place += 1) {
      if (rules[place]!.readsRisk) {
        truths[place] = (late % 3) as Kleene;
        late = (late / 3) | 0;
      } else {
        truths[place] = (early % 3) as Kleene;
        early = (early / 3) | 0;
      }
    }
  }
}
