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

/** A decision, and every rule of its action as it turned out; none where the gate refuses the request. */
export interface TracedDecision {
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  /** Absent where rules see all texts as they were sent. */
  readonly resolved?: readonly ResolvedText[];
}

/** A condition with the value of each of its parts, as the definition evaluates it. */
export interface Explanation {
  readonly span: Span;
  /** Shown form of the value; `unknown` for unknown. */
  readonly value: string;
  readonly truth: Truth | null;
  readonly parts: readonly Explanation[];
}
