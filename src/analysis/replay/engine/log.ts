// The log as replay reads it: decided requests and the events that followed them, in order of time.

import type { Decision } from '../../../language/model/decision.ts';
import type { DelegationLink } from '../../../language/model/delegation.ts';
import type { Facts } from '../../../language/model/request.ts';

export type LogEntry =
  | LoggedRequest
  | LoggedEvents
  /** A control owner has stepped up for an agent. */
  | { readonly kind: 'step-up'; readonly agentId: string; readonly atMs: number };

export interface LoggedRequest {
  readonly kind: 'request';
  readonly id: string;
  /**
   * The facts on which the request was decided, with the time of the decision; digests may replace secrets.
   */
  readonly facts: Facts;
  readonly holdsDigests: boolean;
  /** The delegations by which the request came; absent when the agent asked itself. */
  readonly chain?: readonly DelegationLink[];
  /** The first decision. */
  readonly decision: Decision;
  /** The end of the wait or grant by the first decision. */
  readonly expiresAtMs: number;
  /** The digest of the policies that decided the request; null when the log does not hold it. */
  readonly policies: string | null;
}

/** What happened to a request at one moment, in one step. */
export interface LoggedEvents {
  readonly kind: 'events';
  readonly requestId: string;
  readonly atMs: number;
  readonly events: readonly LoggedEvent[];
}

export type LoggedEvent =
  /** `groups` are those that the vote may count for. */
  | { readonly kind: 'approved'; readonly person: LoggedPerson; readonly groups: readonly string[] }
  /** `person` is the person's id. */
  | { readonly kind: 'taken-back'; readonly person: string }
  | { readonly kind: 'rejected'; readonly group: string | null }
  | { readonly kind: 'stepped-up' | 'expired' | 'consumed' | 'released' }
  | {
      readonly kind: 'decided';
      readonly decision: Decision;
      readonly meters: Facts['meters'];
      /** The pushed rows at that time. */
      readonly rows?: Facts['rows'];
      /** The end of the grant, or of the wait that goes on. */
      readonly expiresAtMs: number;
    };

export interface LoggedPerson {
  readonly id: string;
  readonly email: string;
}

/** Whether people have to act before the request is finally decided. */
export function isWaiting({ outcome }: Pick<Decision, 'outcome'>): boolean {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
}

/**
 * Whether a decision right after this event belongs to the same step, as the new decision after a vote does.
 */
export function isOfOneStep(event: LoggedEvent | undefined): boolean {
  return event?.kind === 'approved' || event?.kind === 'stepped-up';
}
