// What a decision leaves behind for people: which rules took part and why.

import type { Span } from '../diagnostic/span.ts';
import type { Decision } from './decision.ts';
import type { Json } from './json.ts';
import type { Effect } from './policy.ts';

export type Truth = 'true' | 'false' | 'unknown';

/** One rule of a request's action, as it turned out. */
export interface TracedRule {
  readonly rule: string;
  readonly effect: Effect;
  readonly truth: Truth;
  readonly points: number;
  readonly isShadow: boolean;
  readonly isSatisfied: boolean;
  /** What its condition can read, by path (`payload.amount`, `agent.risk_tier`, `meters.spent_24h`): shown values. */
  readonly reads: Readonly<Record<string, ReadValue>>;
}

/** A value that was read, or why there is none. */
export type ReadValue =
  | { readonly value: Json }
  | { readonly missing: 'absent' | 'unknown' | 'secret' | 'unsigned' };

/** A text of the payload as rules see it, where it was sent otherwise. */
export interface ResolvedText {
  /** RFC 6901. */
  readonly pointer: string;
  readonly resolved: string;
}

/**
 * A trace as it is made and recorded: what all traces of an action say is said once for them all, and each reading once
 * however many rules share it. `tracedRules` writes it out.
 */
export interface Trace {
  readonly form: TraceForm;
  /** A letter a rule: `f`, `u` or `t`; a capital where what the rule asks for is satisfied. */
  readonly truths: string;
  /** At the places of the form's paths. */
  readonly values: readonly TraceValue[];
}

/** A trace names every rule of an action that has up to so many, of more those that took part in the decision. */
export const tracedWholeMax = 50;

/** What the traces of an action have in common; the same object for all of them, or for those that name the same rules. */
export interface TraceForm {
  /** In the order of their ids. */
  readonly rules: readonly FormRule[];
  /** How many more rules the action has, none of which took part; absent where every rule is named. */
  readonly others?: number;
  /** What rules read, by the places that they name. */
  readonly paths: readonly string[];
}

/** Its name, effect and points, the places of what it reads, and `shadow` where it only watches. */
export type FormRule = readonly [
  rule: string,
  effect: Effect,
  points: number,
  reads: readonly number[],
  shadow?: 'shadow',
];

/** A list of one value, or why there is none. */
export type TraceValue = readonly [Json] | Extract<ReadValue, { readonly missing: string }>['missing'];

/** The trace of a request that the gate refuses. */
export const noTrace: Trace = Object.freeze({
  form: Object.freeze({ rules: Object.freeze([]), paths: Object.freeze([]) }),
  truths: '',
  values: Object.freeze([]),
});

/** Each rule that the trace names, as it turned out. */
export function tracedRules({ form, truths, values }: Trace): readonly TracedRule[] {
  const read = values.map(
    (value): ReadValue => (typeof value === 'string' ? { missing: value } : { value: value[0] }),
  );
  return form.rules.map(([rule, effect, points, places, shadow], at) => {
    const letter = truths[at] ?? '';
    return {
      rule,
      effect,
      truth: truthOf(letter),
      points,
      isShadow: shadow !== undefined,
      isSatisfied: letter !== letter.toLowerCase(),
      reads: Object.fromEntries(places.map((place) => [form.paths[place]!, read[place]!])),
    };
  });
}

/** The truth that a letter of a trace stands for. Throws for any other letter. */
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
      throw new Error(`a trace holds \`${letter}\` where a truth has to stand`);
  }
}

/** A decision with its trace, which names no rule where the gate refuses the request. */
export interface TracedDecision {
  readonly decision: Decision;
  readonly trace: Trace;
  /** Absent where rules see all texts as they were sent. */
  readonly resolved?: readonly ResolvedText[];
}

/** A condition with the value of each of its parts, as the definition evaluates it. */
export interface Explanation {
  readonly span: Span;
  /** Shown form of the value; `unknown` for unknown, `absent` for a field that is not there. */
  readonly value: string;
  readonly truth: Truth | null;
  /** Whether `and` or `or` joins the parts: those that have the truth of the whole settle it alone. */
  readonly isJoined: boolean;
  readonly parts: readonly Explanation[];
}
