// A decision by the time that its request has been pending: fallbacks that have been asked are among those who may
// answer. INVARIANT: what a decision asks of people is not less, whoever of them may answer.

import type {
  ApprovalRequirement,
  Decision,
  ResolvedApprover,
  ResolvedFallback,
} from '../../../language/model/decision.ts';
import type { RequestState } from './request-state.ts';

/** The fallbacks that have not been asked although the request has been pending long enough. */
export function dueFallbacks(
  { decision, record }: Pick<RequestState, 'decision' | 'record'>,
  nowMs: number,
): readonly ResolvedFallback[] {
  const all = (decision.requires?.approvals ?? []).flatMap(({ fallbacks = [] }) => fallbacks);
  return all.filter(({ afterSeconds }) => record.createdAtMs + afterSeconds * 1000 <= nowMs);
}

/** The decision as it counts for a request: fallbacks that have been asked may answer like the others. */
export function withAskedFallbacks(
  decision: Decision,
  { fallbacks }: Pick<RequestState, 'fallbacks'>,
): Decision {
  if (fallbacks.length === 0) return decision;
  return withFallbacks(decision, Math.max(...fallbacks.map(({ afterSeconds }) => afterSeconds)));
}

/** The decision with the fallbacks of up to so many seconds among those who may answer. */
export function withFallbacks(decision: Decision, waitedSeconds: number): Decision {
  const { requires } = decision;
  if (requires === null || requires.approvals.every(({ fallbacks }) => fallbacks === undefined))
    return decision;
  const approvals = requires.approvals.map((one) => withFallbacksOf(one, waitedSeconds));
  return { ...decision, requires: { ...requires, approvals } };
}

function withFallbacksOf(approval: ApprovalRequirement, waitedSeconds: number): ApprovalRequirement {
  const { group, anyOf = [{ group }], fallbacks = [], ...rest } = approval;
  const isAsked = ({ afterSeconds }: ResolvedFallback): boolean => afterSeconds <= waitedSeconds;
  const asked: readonly ResolvedApprover[] = fallbacks.filter(isAsked).flatMap((one) => one.anyOf);
  const later = fallbacks.filter((one) => !isAsked(one));
  if (asked.length === 0) return approval;
  return { group, ...rest, anyOf: [...anyOf, ...asked], ...(later.length > 0 && { fallbacks: later }) };
}
