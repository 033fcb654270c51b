// The compiled policy set as the request path needs it, whatever compiled it.

import type { Decision } from '../model/decision.ts';
import type { Facts } from '../model/request.ts';
import type { TracedDecision, TracedRule } from '../model/trace.ts';
import type { Shape } from '../model/type.ts';

/** The policy set in force. Taken once per request, so that no request is decided by half of two sets. */
export interface InForce {
  readonly decide: (facts: Facts) => Decision;
  readonly decideTraced: (facts: Facts) => TracedDecision;
  readonly trace: (facts: Facts) => readonly TracedRule[];
  /** What an action's payload may hold; null where the action is not declared. */
  readonly shapeOf: (action: string) => Shape | null;
  readonly digest: string;
  /** The git commit of the policy directory; null outside a repository. */
  readonly commit: string | null;
}
