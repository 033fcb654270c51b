// Takes a use of each delegation of a request's chain before the request is decided, and gives it back when the
// request is refused, or answered by an earlier one. INVARIANT: a request is granted, or waits, only with a use
// that no other request has.

import { giveBackUses, takeUses, type UseAt } from '../agents/delegations/delegation-uses.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import { isUncertain } from '../store/contract/store-error.ts';
import type { AuthorizeInput, AuthorizeResult } from './authorize.ts';
import type { IdentityRefusal } from './identify-again.ts';

type DecisionResult = AuthorizeResult | 'precondition-failed';

export async function spendUses(
  { documents, nowMs }: { readonly documents: DocumentStore; readonly nowMs: number },
  { chain, key, requestId }: Pick<AuthorizeInput, 'chain' | 'key' | 'requestId'>,
  decide: () => Promise<DecisionResult>,
): Promise<DecisionResult> {
  if (chain === undefined || chain.links.every(({ uses }) => uses === null)) return await decide();
  const at: UseAt = { nowMs, endsAtMs: key.notAfterMs ?? nowMs };
  const empty = await takeUses(documents, chain.links, at);
  if (empty !== null) return usedUp(empty.name);
  let isSpent = false;
  try {
    const result = await decide();
    isSpent = hasSpent(result, requestId);
    return result;
  } catch (error) {
    // The request may be stored, so its use is gone.
    isSpent = isUncertain(error);
    throw error;
  } finally {
    if (!isSpent) await giveBackUses(documents, chain.links, at);
  }
}

/** Whether the new request was granted, or waits for people. */
function hasSpent(result: DecisionResult, requestId: string): boolean {
  if (result === 'precondition-failed' || result.kind !== 'decided') return false;
  const { request_id, status } = result.request;
  return request_id === requestId && (status === 'auto_approved' || status === 'pending');
}

function usedUp(name: string): IdentityRefusal {
  const detail = `the delegation \`${name}\` has no uses left`;
  return { kind: 'not-allowed-now', why: 'delegation-ended', detail };
}
