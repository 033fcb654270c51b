// The compiled policy set as the request path needs it, whatever compiled it.

import type { AskedRule } from '../model/asked.ts';
import type { Decision } from '../model/decision.ts';
import type { MeterDefinition, MeterUse } from '../model/metering.ts';
import type { Facts } from '../model/request.ts';
import type { TracedDecision, TracedRule } from '../model/trace.ts';
import type { Shape } from '../model/type.ts';

/** The policy set in force. Taken once per request, so that no request is decided by half of two sets. */
export interface InForce {
  readonly decide: (facts: Facts) => Decision;
  readonly decideTraced: (facts: Facts) => TracedDecision;
  /** For a payload out of a record, where digests stand for secrets. */
  readonly decideRecorded: (facts: Facts) => TracedDecision;
  readonly trace: (facts: Facts) => readonly TracedRule[];
  /** What an action's payload may hold; null where the action is not declared. */
  readonly shapeOf: (action: string) => Shape | null;
  /** By id, the enforced rules that ask something of people. */
  readonly asks: () => ReadonlyMap<string, AskedRule>;
  /** What a request adds to meters and reads of them; nothing where the gate refuses it. */
  readonly entries: (facts: Facts) => readonly MeterUse[];
  /** As `entries`, of a record; null where its payload is not of the action's shape any more. */
  readonly entriesRecorded: (facts: Facts) => readonly MeterUse[] | null;
  /** Every meter that some action counts or reads, each definition once, by id. */
  readonly meters: readonly MeterDefinition[];
  readonly digest: string;
  /** The git commit of the policy directory; null outside a repository. */
  readonly commit: string | null;
}
