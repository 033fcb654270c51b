// The interfaces of the policy set that replay tries, and the service's rules that replay follows. The caller
// implements them, so replay has no semantics of its own.

import type { PolicyEngine } from '../../../language/model/active-policies.ts';
import type { Decision } from '../../../language/model/decision.ts';
import type { MeterDefinition, MeterEntry } from '../../../language/model/metering.ts';
import type { Facts, MeterReading } from '../../../language/model/request.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import type { LoggedPerson, LoggedRequest } from './log.ts';
import { underRecordedChain } from './recorded-chain.ts';

export interface ReplayCandidate
  extends Pick<
    PolicyEngine,
    | 'decide'
    | 'decideTraced'
    | 'decideRecorded'
    | 'actions'
    | 'entries'
    | 'entriesRecorded'
    | 'meters'
    | 'shapeOf'
  > {
  /** By id, the enforced rules that ask people for approval or a step-up. */
  readonly asks: ReadonlyMap<string, RuleRequirement>;
  /** Returns the meters that count requests of the action. */
  readonly counted: (action: string) => readonly MeterDefinition[];
}

/** Totals of meters, which start empty. */
export interface ReplayMeters {
  read(
    entry: MeterEntry,
    at: { readonly nowMs: number; readonly requestId: string | null },
  ): MeterReading | null;
  reserve(requestId: string, entries: readonly MeterEntry[]): void;
  grant(requestId: string, entries: readonly MeterEntry[], atMs: number): void;
  approve(requestId: string, atMs: number): void;
  release(requestId: string): void;
  withdraw(
    requestId: string,
    grantedAtMs: number,
    entered: readonly { readonly definition: string; readonly key: string }[],
  ): void;
  /** Starts the meter with no past entries. */
  fill(definition: MeterDefinition, past: readonly []): void;
  tidy(inUse: ReadonlySet<string>, nowMs: number): void;
}

/**
 * Which rules the service follows when it decides a request again, and whom it takes for an agent's control
 * owner.
 */
export interface ServiceRules {
  /** Seconds that a first decision holds or waits. */
  readonly validSeconds: (decision: Decision) => number;
  /** The end, in milliseconds, of a wait that goes on after a further decision. */
  readonly deadlineAgain: (wait: EarlierWait, decision: Decision, nowMs: number) => number;
  readonly isControlOwner: (person: Pick<LoggedPerson, 'id' | 'email'>, controlOwner: string) => boolean;
}

export interface EarlierWait {
  readonly createdAtMs: number;
  readonly decisions: readonly Decision[];
  readonly expiresAtMs: number;
}

/**
 * Decides on facts of the log. If the payload holds digests, they count as values of the declared shape
 * wherever they replace secrets.
 */
export function decideLogged(
  candidate: ReplayCandidate,
  { holdsDigests, chain }: Pick<LoggedRequest, 'holdsDigests' | 'chain'>,
  facts: Facts,
): Decision {
  const decider = underRecordedChain(candidate, chain);
  return holdsDigests ? decider.decideRecorded(facts).decision : decider.decide(facts);
}
