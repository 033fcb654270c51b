// The policy set that is tried, as replay asks it, and what of the service's rules replay has to know. All of it is handed
// in, so that replay decides nothing by a second meaning of its own.

import type { PolicyEngine } from '../../language/model/active-policies.ts';
import type { AskedRule } from '../../language/model/asked.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { MeterDefinition, MeterEntry } from '../../language/model/metering.ts';
import type { Facts, Reading } from '../../language/model/request.ts';
import type { LoggedPerson, LoggedRequest } from './log.ts';

export interface ReplayCandidate
  extends Pick<
    PolicyEngine,
    'decide' | 'decideTraced' | 'decideRecorded' | 'entries' | 'entriesRecorded' | 'meters' | 'shapeOf'
  > {
  /** By id, the enforced rules that ask something of people. */
  readonly asks: ReadonlyMap<string, AskedRule>;
  /** Meters that count requests of the action. */
  readonly counted: (action: string) => readonly MeterDefinition[];
}

/** Totals of meters, which begin empty. */
export interface ReplayMeters {
  read(entry: MeterEntry, at: { readonly nowMs: number; readonly requestId: string | null }): Reading | null;
  reserve(requestId: string, entries: readonly MeterEntry[]): void;
  grant(requestId: string, entries: readonly MeterEntry[], atMs: number): void;
  approve(requestId: string, atMs: number): void;
  release(requestId: string): void;
  withdraw(
    requestId: string,
    grantedAtMs: number,
    entered: readonly { readonly definition: string; readonly key: string }[],
  ): void;
  /** The meter begins with nothing in it. */
  fill(definition: MeterDefinition, past: readonly []): void;
  tidy(inUse: ReadonlySet<string>, nowMs: number): void;
}

/** What the service holds to when it decides again, and whom it takes for an agent's owner. */
export interface ServiceRules {
  /** How long a first decision holds, or waits. */
  readonly validSeconds: (decision: Decision) => number;
  /** The end of a wait that goes on after a second decision. */
  readonly deadlineAgain: (wait: EarlierWait, decision: Decision, nowMs: number) => number;
  readonly isControlOwner: (person: Pick<LoggedPerson, 'id' | 'email'>, controlOwner: string) => boolean;
}

export interface EarlierWait {
  readonly createdAtMs: number;
  readonly decisions: readonly Decision[];
  readonly expiresAtMs: number;
}

/** A payload with digests is of the declared shape wherever they stand for secrets. */
export function decideLogged(
  candidate: ReplayCandidate,
  { holdsDigests }: Pick<LoggedRequest, 'holdsDigests'>,
  facts: Facts,
): Decision {
  return holdsDigests ? candidate.decideRecorded(facts).decision : candidate.decide(facts);
}
