// Standing approvals for the people who look after them: a list, each with what it covers and why it has ended,
// and their revocation. INVARIANT: once a revocation is acknowledged, no request is granted under the standing
// approval; whoever gave it, the control owner of the agent and whoever may reject all requests may revoke it.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { votesJudgedBy } from '../approvals/chat-votes.ts';
import type { FindPeople } from '../approvals/current-person.ts';
import { isApprovalRule } from '../approvals/decide-again.ts';
import { chosenIn, covers, type FoundStanding, judgeStanding } from '../approvals/find-standing.ts';
import { approvalsOf, type Caller, isWithin } from '../approvals/rights.ts';
import { type StandingApproval, standingCollection } from '../approvals/standing-approval.ts';
import { offersOf, type StandingOffer } from '../approvals/standing-vote.ts';
import type { Metering } from '../metering/metering.ts';
import { type RequestState, requestStateOf, type Vote } from '../record/request-state.ts';
import { usedOf } from './use-standing.ts';

export interface StandingApprovals {
  /** Standing approvals that the caller may see, the latest first, and the document to go on after. */
  list(caller: Caller, page: StandingPage): Promise<StandingList>;
  /** Null when there is none, or the caller may not see it. */
  find(caller: Caller, id: string): Promise<StandingState | null>;
  revoke(caller: Caller, id: string): Promise<StandingState | RefusedRevocation>;
  /** What an approver of the pending request may choose in place of approving once. */
  offers(state: RequestState): readonly StandingOffer[];
}

export interface StandingPage {
  readonly after: Pick<StandingApproval, 'createdAtMs' | 'id'> | null;
  readonly countMax: number;
  /** Only those of an agent; null for all. */
  readonly agentId: string | null;
}

export interface StandingList {
  readonly items: readonly StandingState[];
  readonly next: Pick<StandingApproval, 'createdAtMs' | 'id'> | null;
}

export interface StandingState {
  readonly approval: StandingApproval;
  readonly agent: AgentRow;
  /** The approvals that chose it. */
  readonly votes: readonly Vote[];
  readonly untilMs: number;
  readonly times: number | null;
  /** How many requests have used it; null when that is not known yet. */
  readonly used: number | null;
  /** Why it has ended, as words; null while it covers requests. */
  readonly ended: string | null;
  readonly isRevocable: boolean;
}

export type RefusedRevocation =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'not-allowed'; readonly detail: string };

export interface StandingApprovalsDeps {
  readonly store: Store;
  readonly policies: () => ActivePolicies;
  readonly clock: () => number;
  readonly findPeople: FindPeople;
  readonly metering: Pick<Metering, 'read' | 'catchUp'>;
}

/** How many documents are looked at between two pages of a list. */
const lookedAtOnce = 100;
const triesMax = 20;

export function createStandingApprovals(deps: StandingApprovalsDeps): StandingApprovals {
  return {
    list: (caller, page) => list(deps, caller, page),
    find: (caller, id) => find(deps, caller, id),
    revoke: (caller, id) => revoke(deps, caller, id),
    offers: (state) => offersFor(state, deps.policies().asks()),
  };
}

function offersFor(
  state: RequestState,
  asks: ReadonlyMap<string, RuleRequirement>,
): readonly StandingOffer[] {
  if (state.status !== 'pending') return [];
  const rules = state.decision.rules.flatMap((id) => asks.get(id) ?? []).filter(isApprovalRule);
  return offersOf(rules, { state });
}

async function list(
  deps: StandingApprovalsDeps,
  caller: Caller,
  { after, countMax, agentId }: StandingPage,
): Promise<StandingList> {
  const collection = standingCollection(deps.store.documents);
  await deps.metering.catchUp();
  const items: StandingState[] = [];
  for (let place = after; ; ) {
    const read = await collection.list({ after: place, countMax: lookedAtOnce });
    for (const one of read) {
      if (items.length === countMax) return { items, next: place };
      place = one.value;
      if (agentId !== null && one.value.agentId !== agentId) continue;
      const state = await stateOf(deps, caller, one);
      if (state !== null) items.push(state);
    }
    if (read.length < lookedAtOnce) return { items, next: null };
  }
}

async function find(deps: StandingApprovalsDeps, caller: Caller, id: string): Promise<StandingState | null> {
  const read = await standingCollection(deps.store.documents).find(id);
  if (read === null) return null;
  await deps.metering.catchUp();
  return await stateOf(deps, caller, read);
}

/** Returns the standing approval for the caller; null when they may not see its request. */
async function stateOf(
  deps: StandingApprovalsDeps,
  caller: Caller,
  read: { readonly value: StandingApproval; readonly version: number },
): Promise<StandingState | null> {
  const { store, policies, clock } = deps;
  const { value } = read;
  const [agent, history] = [
    await store.agents.find(value.agentId),
    await store.requests.history(value.requestId),
  ];
  if (agent === null || history === null) return null;
  const request = requestStateOf(history);
  if (!isWithin(caller.view, { person: caller, state: request, agent })) return null;
  const votes = request.votes.filter((vote) => vote.isApproved && chosenIn(vote, value.rule) !== undefined);
  const nowMs = Math.trunc(clock());
  const now = votesJudgedBy(policies());
  const judged = await judgeStanding(deps, read, { agent, ...now, nowMs, request: request.record });
  const used = usedOf(deps, value.id, 'ended' in judged ? now.asks.get(value.rule) : judged.rule);
  return {
    approval: value,
    agent,
    votes,
    untilMs: 'ended' in judged ? value.untilMs : judged.untilMs,
    times: 'ended' in judged ? timesOf(votes, value.rule) : judged.times,
    used,
    ended: 'ended' in judged ? judged.ended : endOf(judged, { agent, nowMs, used }),
    isRevocable: value.revoked === null && value.untilMs > nowMs && mayRevoke(caller, { agent, votes }),
  };
}

/** Why a standing approval that is otherwise whole covers nothing any more; null when it covers requests. */
function endOf(
  found: FoundStanding,
  { agent, nowMs, used }: { readonly agent: AgentRow; readonly nowMs: number; readonly used: number | null },
): string | null {
  if (used !== null && found.times !== null && used >= found.times) return 'it is used up';
  const { record, decisions } = found.origin;
  const approvals = decisions.flatMap(approvalsOf);
  return covers(found, record, { agent, approvals, nowMs }) ? null : 'its approvals no longer count';
}

function timesOf(votes: readonly Vote[], rule: string): number | null {
  const times = votes.flatMap((vote) => chosenIn(vote, rule)?.times ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

function mayRevoke(
  caller: Caller,
  { agent, votes }: { readonly agent: AgentRow; readonly votes: readonly Vote[] },
): boolean {
  return (
    caller.reject.all ||
    isControlOwner(caller, agent.controlOwner) ||
    votes.some(({ person }) => person === caller.id)
  );
}

async function revoke(
  deps: StandingApprovalsDeps,
  caller: Caller,
  id: string,
): Promise<StandingState | RefusedRevocation> {
  const collection = standingCollection(deps.store.documents);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const read = await collection.find(id);
    const state = read && (await stateOf(deps, caller, read));
    if (read === null || state === null) return { kind: 'unknown' };
    if (read.value.revoked !== null) return state;
    if (!mayRevoke(caller, state)) return notTheirs;
    const atMs = Math.trunc(deps.clock());
    const revoked = { who: caller.who, atMs };
    const { agentId, rule, requestId } = read.value;
    const change = { atMs, who: caller.who, what: 'standing-approval-revoked', subject: id, before: null };
    const write = collection.put({ ...read.value, revoked }, read.version);
    const result = await deps.store.documents.write([write], {
      ...change,
      after: { agentId, rule, requestId },
    });
    if (result === 'changed') return (await find(deps, caller, id)) ?? { kind: 'unknown' };
  }
  throw new Error('the standing approval could not be revoked: each attempt met a concurrent change');
}

const notTheirs: RefusedRevocation = {
  kind: 'not-allowed',
  detail: 'only who gave it, the control owner of the agent and an admin may revoke it',
};
