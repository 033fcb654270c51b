// What a vote through a chat needs besides a vote in Writ: a chat account that is linked to the person, the very request
// that the message showed, and policies that allow the groups to vote by chat up to its risk. INVARIANT: what is not
// allowed by every group that is asked, by the decision on record and by the policies of now, is not decided by chat; the
// link is part of what the vote rests on, so a vote is never stored after its end.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { Decision } from '../../../language/model/decision.ts';
import type { ChatAccount } from '../../store/contract/chat-account.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { RequestState } from '../record/request-state.ts';
import { requestDigest } from '../record/vote-scope.ts';
import type { ChangeRequest, RefusedChange } from './change-request.ts';
import { type AskedByChat, mayDecideByChat } from './chat-limit.ts';
import type { VoteContext } from './effective-votes.ts';
import { approvalsOf } from './rights.ts';

/** The chat through which a person votes or comments. */
export interface ThroughChat {
  readonly account: ChatAccount;
  /** The digest of the request that the message showed. */
  readonly digest: string;
  /** The stored link between the account and the person as it is now; null when it has ended. */
  readonly link: () => Promise<DocumentVersion | null>;
}

interface ChatContext {
  readonly state: RequestState;
  /** Further decisions about the request that count, such as that of the policies of now. */
  readonly decided: readonly Decision[];
  readonly active: ActivePolicies;
}

/** What a change through a chat rests on besides; nothing for a change in Writ. */
export function restingOn(chat: ThroughChat | undefined): Pick<ChangeRequest, 'documents'> {
  if (chat === undefined) return {};
  return {
    documents: async () => {
      const link = await chat.link();
      return link === null ? unlinked : [link];
    },
  };
}

/** Why the vote cannot be given by chat; null when it can, or is given in Writ. */
export function chatRefusal(chat: ThroughChat | undefined, context: ChatContext): RefusedChange | null {
  if (chat === undefined) return null;
  if (chat.digest !== requestDigest(context.state.record))
    return { kind: 'conflict', detail: 'the message shows another request' };
  const detail = whyNotByChat(context);
  return detail === null ? null : { kind: 'not-allowed', detail };
}

/** Why people cannot decide the request by chat, in lower case and without a full stop; null when they can. */
export function whyNotByChat({ state, decided, active }: ChatContext): string | null {
  const decisions = [state.decision, ...decided];
  if (decisions.some(({ requires }) => requires?.reauth != null)) return 'this needs a step-up';
  return mayDecideByChat(decisions.map(askedBy), active.chatLimits())
    ? null
    : 'the policies do not allow this by chat';
}

function askedBy(decision: Decision): AskedByChat {
  return { approvals: approvalsOf(decision), risk: decision.risk };
}

/** What the votes of requests are judged by, as the policies are now. */
export function votesJudgedBy(active: ActivePolicies): Pick<VoteContext, 'asks' | 'isByChat'> {
  return {
    asks: active.asks(),
    isByChat: ({ decision, decisions }) => {
      const asking = decisions.findLast((one) => approvalsOf(one).length > 0) ?? decision;
      return mayDecideByChat([askedBy(asking)], active.chatLimits());
    },
  };
}

const unlinked: RefusedChange = {
  kind: 'not-allowed',
  detail: 'this chat account is not linked to a person',
};
