// The compiled policy set as the request path needs it, whatever compiled it.

import type { Decision } from '../model/decision.ts';
import type { PolicySet } from '../model/policy.ts';
import type { Facts } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';

/** The policy set in force. Taken once per request, so that no request is decided by half of two sets. */
export interface InForce {
  readonly decide: (facts: Facts) => Decision;
  readonly trace: (facts: Facts) => readonly TracedRule[];
  readonly set: PolicySet;
  readonly digest: string;
  /** The git commit of the policy directory; null outside a repository. */
  readonly commit: string | null;
}
