// What a log tells of the past, as replay reads it: requests as they were decided, and what became of them, in the order
// in which it happened.

import type { Decision } from '../../language/model/decision.ts';
import type { Facts } from '../../language/model/request.ts';

export type LogEntry =
  | LoggedRequest
  | LoggedEvents
  /** A control owner has stepped up for an agent. */
  | { readonly kind: 'step-up'; readonly agentId: string; readonly atMs: number };

export interface LoggedRequest {
  readonly kind: 'request';
  readonly id: string;
  /** The facts on which it was decided, its moment included; digests may stand for secrets. */
  readonly facts: Facts;
  readonly holdsDigests: boolean;
  /** The first. */
  readonly decision: Decision;
  /** The end of the wait or the grant, as it was decided first. */
  readonly expiresAtMs: number;
  /** The digest of the policies that decided it; null where the log does not say. */
  readonly policies: string | null;
}

/** What became of a request at one moment, in one step. */
export interface LoggedEvents {
  readonly kind: 'events';
  readonly requestId: string;
  readonly atMs: number;
  readonly events: readonly LoggedEvent[];
}

export type LoggedEvent =
  | { readonly kind: 'approved'; readonly person: LoggedPerson; readonly group: string | null }
  /** By the person's id. */
  | { readonly kind: 'taken-back'; readonly person: string }
  | { readonly kind: 'rejected'; readonly group: string | null }
  | { readonly kind: 'stepped-up' | 'expired' | 'consumed' | 'released' }
  | {
      readonly kind: 'decided';
      readonly decision: Decision;
      readonly meters: Facts['meters'];
      /** Pushed rows as they were then. */
      readonly rows?: Facts['rows'];
      /** The end of the grant, or of the wait that goes on. */
      readonly expiresAtMs: number;
    };

export interface LoggedPerson {
  readonly id: string;
  readonly email: string;
}

/** Whether people have to act before the request is decided for good. */
export function isWaiting({ outcome }: Pick<Decision, 'outcome'>): boolean {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
}

/** Whether a decision behind this event is made in one step with it: the second one that belongs to a vote is. */
export function isOfOneStep(event: LoggedEvent | undefined): boolean {
  return event?.kind === 'approved' || event?.kind === 'stepped-up';
}
