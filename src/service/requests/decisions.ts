// What people do to a request that waits: approve, reject, take back, comment, step up; and the report of what became of a grant. Each is
// judged on one read of the request and stored only if nothing that it rests on has changed since, else judged anew.

import {
  type Changed,
  type DecisionsDeps,
  lookAtAll,
  type RefusedChange,
  readRequest,
  type Seen,
} from './approvals/change-request.ts';
import { type CommentDraft, comment } from './approvals/comment.ts';
import { approve, reject, type VoteDraft } from './approvals/give-vote.ts';
import { type OutcomeReport, reportOutcome } from './approvals/report-outcome.ts';
import type { Caller } from './approvals/rights.ts';
import type { Stepping } from './approvals/step-up.ts';
import { takeBack } from './approvals/take-back.ts';
import { type SteppedUpAgent, type SteppingUp, stepUp, stepUpAgent } from './approvals/take-step-up.ts';
import { withdrawRequest } from './approvals/withdraw.ts';
import type { AgentCaller } from './record/asked-by.ts';
import type { RequestState } from './record/request-state.ts';

export interface Decisions {
  approve(id: string, draft: VoteDraft): Promise<Changed>;
  reject(id: string, draft: VoteDraft): Promise<Changed>;
  /** The person's own approval, while others are waited for. */
  takeBack(id: string, caller: Caller): Promise<Changed>;
  /** Without deciding. */
  comment(id: string, draft: CommentDraft): Promise<Changed>;
  /** The person has re-authenticated there and then. */
  stepUp(id: string, person: SteppingUp): Promise<Changed>;
  /** The same for an agent, whose waiting requests are decided again. */
  stepUpAgent(agentId: string, person: Stepping): Promise<RefusedChange | SteppedUpAgent>;
  report(id: string, report: OutcomeReport): Promise<Changed>;
  /** The agent that asked gives up the wait. */
  withdraw(id: string, by: AgentCaller): Promise<Changed>;
  /** The request as it is now, with all that what may be done about it depends on; null where there is none. */
  look(id: string): Promise<Seen | null>;
  /** The same for requests that have been read: several share what else has to be read. */
  lookAll(states: readonly RequestState[]): Promise<readonly Seen[]>;
}

export function createDecisions(deps: DecisionsDeps): Decisions {
  return {
    approve: (id, draft) => approve(deps, id, draft),
    reject: (id, draft) => reject(deps, id, draft),
    takeBack: (id, caller) => takeBack(deps, id, caller),
    comment: (id, draft) => comment(deps, id, draft),
    stepUp: (id, person) => stepUp(deps, id, person),
    stepUpAgent: (agentId, person) => stepUpAgent(deps, agentId, person),
    report: (id, report) => reportOutcome(deps, id, report),
    withdraw: (id, by) => withdrawRequest(deps, id, by),
    look: async (id) => (await readRequest(deps, { id, asker: null }))?.seen ?? null,
    lookAll: (states) => lookAtAll(deps, states),
  };
}
