// The rules that traces of an action name: all of them, or those that took part in a decision. The parts that
// many traces share are made once: the names of the rules and, for rules that took part, their truths.

import { takesPartUnknown } from '../model/policy.ts';
import type { MetRequirements } from '../model/request.ts';
import type { FormRule, TraceForm } from '../model/trace.ts';
import type { OpenAction } from '../program/packed/unpack.ts';
import type { RuleHead } from '../program/program.ts';
import { BoundedMap, memo } from '../value/memo.ts';
import { isRequirementSatisfied } from './decide/combine.ts';
import { isNothing } from './decide/decide.ts';
import { placeFired, truthFired } from './decide/indexed.ts';
import { RuleSetCache } from './decide/rule-set-cache.ts';
import type { Kleene } from './runtime/quantity.ts';

/** The letter of each truth; capitals when the rule's requirement is satisfied. */
const letters = [
  ['f', 'u', 't'],
  ['F', 'U', 'T'],
] as const;

interface RuleForm {
  readonly form: TraceForm;
  /** The rules of the form that have a requirement; null at the places of the other rules. */
  readonly asking: readonly (RuleHead | null)[];
}

/** Some rules of an action, with their truths. */
interface TracedRules extends RuleForm {
  readonly truths: readonly Kleene[];
}

interface TraceParts {
  readonly paths: TraceForm['paths'];
  readonly formRule: (index: number, head: RuleHead) => FormRule;
}

interface OneRule {
  readonly head: RuleHead;
  readonly inForm: FormRule;
}

/**
 * The most rules that are kept because they took part recently. Agents influence which rules take part, so
 * the number is bounded.
 */
const rulesKeptMax = 4_096;

/** A class, because it keeps what it has made. */
export class TraceRules {
  readonly #action: OpenAction;
  readonly #parts: TraceParts;
  readonly cache = new RuleSetCache<TracedRules>();
  readonly #rules = new BoundedMap<number, OneRule>(rulesKeptMax);
  #all: RuleForm | null = null;

  constructor(action: OpenAction, parts: TraceParts) {
    this.#action = action;
    this.#parts = parts;
  }

  all(): RuleForm {
    this.#all ??= this.#name(Array.from({ length: this.#action.ruleCount }, (_, index) => index));
    return this.#all;
  }

  /** Names the rules that took part, out of the first `count` rules in `firing`; see `DecidedSome`. */
  some(firing: Int32Array, count: number): TracedRules {
    const cached = this.cache.find(firing, count);
    if (cached !== undefined) return cached;
    const key = firing.slice(0, count);
    const part = [...key].sort((a, b) => a - b).filter((fired) => this.#tookPart(fired));
    const named = { ...this.#name(part.map(placeFired)), truths: part.map(truthFired) };
    this.cache.keep(key, count, named);
    return named;
  }

  #tookPart(fired: number): boolean {
    return truthFired(fired) === 2 || takesPartUnknown(this.#rule(placeFired(fired)).head);
  }

  #name(indexes: readonly number[]): RuleForm {
    const { paths } = this.#parts;
    const others = this.#action.ruleCount - indexes.length;
    const named = indexes.map((place) => this.#rule(place));
    const rules = named.map(({ inForm }) => inForm);
    return {
      form: others === 0 ? { rules, paths } : { rules, paths, others },
      asking: named.map(({ head }) => (head.requirement === null ? null : head)),
    };
  }

  #rule(place: number): OneRule {
    return memo(this.#rules, place, () => {
      const head = this.#action.head(place);
      return { head, inForm: this.#parts.formRule(place, head) };
    });
  }
}

/** Returns one letter for each rule of the form, by its truth. */
export function lettersOf(
  { asking }: RuleForm,
  truths: ArrayLike<Kleene>,
  satisfied: MetRequirements,
): string {
  const isPlain = isNothing(satisfied);
  let text = '';
  for (let at = 0; at < asking.length; at += 1) {
    const rule = asking[at]!;
    const isMet = !isPlain && rule !== null && isRequirementSatisfied(rule, satisfied);
    text += letters[isMet ? 1 : 0][truths[at]!]!;
  }
  return text;
}
