// What a decision leaves for people to read: which rules took part and why.

import type { Span } from '../diagnostic/span.ts';
import type { Decision } from './decision.ts';
import type { Json, JsonObject } from './json.ts';
import type { Effect } from './policy.ts';

export type Truth = 'true' | 'false' | 'unknown';

/** The result of one rule of a request's action. */
export interface TracedRule {
  readonly rule: string;
  readonly effect: Effect;
  readonly truth: Truth;
  readonly points: number;
  readonly isShadow: boolean;
  readonly isSatisfied: boolean;
  /**
   * Shown values of everything that the condition can read, by path (`payload.amount`, `agent.risk_tier`,
   * `meters.spent_24h`).
   */
  readonly reads: Readonly<Record<string, ReadValue>>;
}

/** A value that was read, or why there is none. */
export type ReadValue =
  | { readonly value: Json }
  | { readonly missing: 'absent' | 'unknown' | 'secret' | 'unsigned' };

/** A text of the payload that rules see in another form than sent. */
export interface ResolvedText {
  /** RFC 6901 pointer to the text. */
  readonly pointer: string;
  readonly resolved: string;
}

/**
 * A trace as it is made and recorded. What all traces of an action share is stored once for all of them, and
 * each value once, however many rules read it. `tracedRules` expands a trace.
 */
export interface Trace {
  readonly form: TraceForm;
  /** One letter for each rule: `f`, `u` or `t`; a capital when the rule's requirement is satisfied. */
  readonly truths: string;
  /** Values in the order of the form's paths. */
  readonly values: readonly TraceValue[];
}

/**
 * The most rules of an action for which a trace names every rule. For more, a trace names those that took
 * part in the decision.
 */
export const tracedWholeMax = 50;

/**
 * What the traces of an action have in common: one object for all traces, or for those that name the same
 * rules.
 */
export interface TraceForm {
  /** Rules in the order of their ids. */
  readonly rules: readonly FormRule[];
  /** How many more rules the action has, none of which took part; absent when every rule is named. */
  readonly others?: number;
  /** The paths that rules read; a rule refers to them by index. */
  readonly paths: readonly string[];
}

/**
 * The rule's id, effect and points, the indices of the paths that it reads, and `shadow` for a shadow rule.
 */
export type FormRule = readonly [
  rule: string,
  effect: Effect,
  points: number,
  reads: readonly number[],
  shadow?: 'shadow',
];

/** A value in a list of one, or why there is no value. */
export type TraceValue = readonly [Json] | Extract<ReadValue, { readonly missing: string }>['missing'];

/** The trace of a request that the gate refuses. */
export const noTrace: Trace = Object.freeze({
  form: Object.freeze({ rules: Object.freeze([]), paths: Object.freeze([]) }),
  truths: '',
  values: Object.freeze([]),
});

/** Expands a trace: returns each rule that it names, with its result. */
export function tracedRules({ form, truths, values }: Trace): readonly TracedRule[] {
  const read = values.map(
    (value): ReadValue => (typeof value === 'string' ? { missing: value } : { value: value[0] }),
  );
  return form.rules.map(([rule, effect, points, indexes, shadow], at) => {
    const letter = truths[at] ?? '';
    return {
      rule,
      effect,
      truth: truthOf(letter),
      points,
      isShadow: shadow !== undefined,
      isSatisfied: letter !== letter.toLowerCase(),
      reads: Object.fromEntries(indexes.map((index) => [form.paths[index]!, read[index]!])),
    };
  });
}

/** Returns the truth that a letter of a trace stands for. Throws for any other letter. */
export function truthOf(letter: string): Truth {
  switch (letter) {
    case 't':
    case 'T':
      return 'true';
    case 'u':
    case 'U':
      return 'unknown';
    case 'f':
    case 'F':
      return 'false';
    default:
      throw new Error(`unexpected \`${letter}\` in a trace instead of a truth value`);
  }
}

/** A decision with its trace, which names no rule when the gate refused the request. */
export interface TracedDecision {
  readonly decision: Decision;
  readonly trace: Trace;
  /** The texts that rules see in another form than sent; absent when there are none. */
  readonly resolved?: readonly ResolvedText[];
  /** The payload as rules see it; absent when it is the one sent. */
  readonly payload?: JsonObject;
}

/** A condition with the value of each of its parts, as evaluated by the definition. */
export interface Explanation {
  readonly span: Span;
  /** The value in shown form; `unknown` for an unknown value, `absent` for an absent field. */
  readonly value: string;
  readonly truth: Truth | null;
  /** Whether `and` or `or` joins the parts: each part with the truth of the whole can settle it alone. */
  readonly isJoined: boolean;
  readonly parts: readonly Explanation[];
}
