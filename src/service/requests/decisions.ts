// What people and agents do to a stored request: approve, reject, take back, comment, step up, withdraw, and
// report the outcome of a grant. Each change is judged on one read of the request and stored only if nothing
// that it rests on has changed since; otherwise it is judged again.

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
  /** Takes the person's own approval back while the request waits for other approvals. */
  takeBack(id: string, caller: Caller): Promise<Changed>;
  /** Adds a comment, a question or an answer without deciding the request. */
  comment(id: string, draft: CommentDraft): Promise<Changed>;
  /** Steps up for a request. The caller has made sure that the person has just re-authenticated. */
  stepUp(id: string, person: SteppingUp): Promise<Changed>;
  /** Steps up for an agent, whose waiting requests are then decided again. */
  stepUpAgent(agentId: string, person: Stepping): Promise<RefusedChange | SteppedUpAgent>;
  report(id: string, report: OutcomeReport): Promise<Changed>;
  /** Gives up the wait, for the agent that made the request. */
  withdraw(id: string, by: AgentCaller): Promise<Changed>;
  /**
   * The request now, with everything that decides what may be done about it; null when there is no such
   * request.
   */
  look(id: string): Promise<Seen | null>;
  /**
   * The same as `look`, for requests that have already been read. What they share, such as agents and people,
   * is read once.
   */
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
