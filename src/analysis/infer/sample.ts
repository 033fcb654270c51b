// Recorded requests as material to learn from, and what became of each. INVARIANT: a request that policies or
// people refused, that nobody answered, or that the existing policies would refuse is not learned from.

import type { Decision, Outcome } from '../../language/model/decision.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { linkSet } from '../../pipeline.ts';
import { isWaiting, type LogEntry, type LoggedEvent } from '../replay/engine/log.ts';

export interface Sample {
  readonly facts: Facts;
  /** Whether digests replace secrets in the payload. */
  readonly holdsDigests: boolean;
  readonly status: SampleStatus;
  /** The digest of the policies that decided the request; null if it is not recorded. */
  readonly policies: string | null;
}

export type SampleStatus =
  | 'granted'
  /** Granted after people approved or stepped up. */
  | 'approved'
  | 'denied'
  | 'rejected'
  | 'unanswered'
  /** Nothing is recorded about a decision. */
  | 'undecided';

/** Why a request is not learned from. */
export type Exclusion = 'denied' | 'rejected' | 'unanswered' | 'approved' | 'other_shape';

/** Collects samples from a log. A class because later entries change the status of earlier requests. */
export class SampleLog {
  readonly #samples = new Map<string, { sample: Sample; status: SampleStatus }>();

  take(entry: LogEntry): void {
    if (entry.kind === 'request') {
      const { facts, holdsDigests, policies, decision } = entry;
      const status = statusOf(decision);
      this.#samples.set(entry.id, { sample: { facts, holdsDigests, policies, status }, status });
    }
    if (entry.kind !== 'events') return;
    const own = this.#samples.get(entry.requestId);
    if (own === undefined) return;
    for (const event of entry.events) own.status = statusAfter(own.status, event);
  }

  samples(): readonly Sample[] {
    return [...this.#samples.values()].map(({ sample, status }) => ({ ...sample, status }));
  }
}

function statusOf(decision: Pick<Decision, 'outcome'>): SampleStatus {
  if (isWaiting(decision)) return 'unanswered';
  return decision.outcome === 'ALLOW' ? 'granted' : 'denied';
}

function statusAfter(status: SampleStatus, event: LoggedEvent): SampleStatus {
  if (event.kind === 'rejected') return 'rejected';
  if (event.kind !== 'decided' || status === 'rejected') return status;
  if (isWaiting(event.decision)) return status;
  return event.decision.outcome === 'ALLOW' ? 'approved' : 'denied';
}

export type Decide = (sample: Pick<Sample, 'facts' | 'holdsDigests'>) => Pick<Decision, 'outcome' | 'by'>;

/** Decides recorded requests by a set: by the compiled functions, or by the definition where digests replace secrets. */
export function deciderOf(set: PolicySet): Decide {
  const engine = linkSet(set);
  const actions = [...set.actions].map(
    ([key, action]) => [key, { ...action, shape: withoutSecretTypes(action.shape) }] as const,
  );
  const opened = { ...set, actions: new Map(actions) };
  return ({ facts, holdsDigests }) => (holdsDigests ? authorize(opened, facts) : engine.decide(facts));
}

export interface ExistingPolicies {
  readonly set: PolicySet;
  readonly decide: Decide;
}

export interface ExclusionOptions {
  readonly existing: ExistingPolicies | null;
  /** Whether requests that were denied are learned from, so that the result may allow them. */
  readonly isDeniedLearned: boolean;
}

/** Why a request is not learned from; null if it is. */
export function exclusionOf(
  sample: Sample,
  { existing, isDeniedLearned }: ExclusionOptions,
): Exclusion | null {
  const { status, facts } = sample;
  if (status === 'rejected' || status === 'unanswered') return status;
  if (status === 'denied' && !isDeniedLearned) return 'denied';
  if (existing === null || !existing.set.actions.has(facts.action)) {
    if (existing !== null && !isDeniedLearned) return 'denied';
    return status === 'approved' ? 'approved' : null;
  }
  const { outcome, by } = existing.decide(sample);
  if (by === 'invalid_payload') return 'other_shape';
  return outcome === 'DENY' && !isDeniedLearned ? 'denied' : null;
}

const order: readonly Outcome[] = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY'];

/** How a request would fare by other policies than before: `as before` if they are not stricter. */
export function turnOf(before: Outcome, now: Outcome): 'as before' | 'refused' | 'asks' {
  if (order.indexOf(now) <= order.indexOf(before)) return 'as before';
  return now === 'DENY' ? 'refused' : 'asks';
}
