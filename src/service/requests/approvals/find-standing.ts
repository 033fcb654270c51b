// Finds the standing approvals that cover a rule of a request, and judges them by the policies, people and agent
// of now, from the votes of the request that was approved. INVARIANT: what is found was approved by votes that all
// chose it and all count now, for equal known keys, and has not ended; its documents are part of what a grant rests
// on, so a revocation comes before the grant or prevents it.

import type { ApprovalRequirement } from '../../../language/model/decision.ts';
import type { NamingFields, RuleRequirement } from '../../../language/model/rule-requirement.ts';
import type { GrantPrecondition } from '../../store/contract/grant-precondition.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { wasStoppedSince } from '../../store/contract/stop-marks.ts';
import type { Store } from '../../store/contract/store.ts';
import {
  type RequestState,
  requestStateOf,
  type StandingVoteRule,
  type Vote,
} from '../record/request-state.ts';
import { isSatisfied } from '../record/vote-scope.ts';
import { type FindPeople, versionsOf } from './current-person.ts';
import { approvedOf, type VoteContext, voters, withEffectiveVotes } from './effective-votes.ts';
import {
  hasStanding,
  keysOf,
  type StandingApproval,
  type StandingRule,
  scopeDigest,
  standingCollection,
  standingKind,
} from './standing-approval.ts';
import { fewer } from './standing-vote.ts';

/** A standing approval that has not ended, for a rule as it is today. */
export interface FoundStanding {
  readonly id: string;
  readonly rule: StandingRule;
  /** The request that was approved, with its votes as they count now. */
  readonly origin: RequestState;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** How many requests it may serve; null for any number. */
  readonly times: number | null;
  /** The documents on which this rests. */
  readonly documents: GrantPrecondition['documents'];
}

export interface StandingDeps {
  readonly store: Pick<Store, 'documents' | 'requests'>;
  readonly findPeople: FindPeople;
}

/** What standing approvals are judged by. */
export interface StandingMoment extends Pick<VoteContext, 'asks' | 'isByChat'> {
  readonly agent: AgentRow;
  readonly nowMs: number;
}

/** The fields of a request that it is judged by. */
export interface CoveredRequest extends NamingFields {
  readonly actionKey: string;
}

/** The most standing approvals of one scope that are looked at, the latest first. */
const foundMax = 8;

/** Returns the standing approvals for those of the rules that have a `standing` clause. */
export async function findStanding(
  deps: StandingDeps,
  request: CoveredRequest,
  moment: StandingMoment & { readonly rules: readonly RuleRequirement[] },
): Promise<readonly FoundStanding[]> {
  const collection = standingCollection(deps.store.documents);
  const found: FoundStanding[] = [];
  for (const rule of moment.rules) {
    if (rule.kind !== 'approval' || !hasStanding(rule)) continue;
    const keys = keysOf(rule, request);
    if (keys === null) continue;
    const parent = scopeDigest(moment.agent.id, rule.rule, keys);
    for (const { value, version } of await collection.list({ parent, countMax: foundMax })) {
      const one = await judgeStanding(deps, { value, version }, { ...moment, request });
      if (!('ended' in one)) found.push(one);
    }
  }
  return found;
}

/** Returns the standing approvals under which a request was recorded, those that have not ended. */
export async function recordedStanding(
  deps: StandingDeps,
  { record }: RequestState,
  moment: StandingMoment,
): Promise<readonly FoundStanding[]> {
  const collection = standingCollection(deps.store.documents);
  const found: FoundStanding[] = [];
  for (const id of Object.values(record.satisfied.standing ?? {})) {
    const read = await collection.find(id);
    const one = read && (await judgeStanding(deps, read, { ...moment, request: record }));
    if (one !== null && !('ended' in one)) found.push(one);
  }
  return found;
}

/** Whether the standing approval serves a request; `approvals` is what the request's decision asks. */
export function covers(
  { rule, origin, sinceMs, untilMs }: FoundStanding,
  request: NamingFields,
  {
    agent,
    approvals,
    nowMs,
  }: {
    readonly agent: AgentRow;
    readonly approvals: readonly ApprovalRequirement[];
    readonly nowMs: number;
  },
): boolean {
  const keys = keysOf(rule, request);
  const own = keysOf(rule, origin.record);
  if (keys === null || JSON.stringify(keys) !== JSON.stringify(own)) return false;
  if (nowMs < sinceMs || nowMs >= untilMs) return false;
  return isSatisfied(rule, { ...approvedOf(origin, agent), names: request, approvals });
}

interface StandingCheck extends StandingMoment {
  readonly request: CoveredRequest;
}

/** Why a standing approval covers nothing, as words after "it has ended:". */
export interface EndedStanding {
  readonly ended: string;
}

/** Returns the standing approval, or why it has ended or has not come into being. */
export async function judgeStanding(
  { store, findPeople }: StandingDeps,
  { value, version }: { readonly value: StandingApproval; readonly version: number },
  { agent, asks, isByChat, nowMs, request }: StandingCheck,
): Promise<FoundStanding | EndedStanding> {
  if (value.revoked !== null) return { ended: `${value.revoked.who} has revoked it` };
  const rule = asks.get(value.rule);
  if (rule?.kind !== 'approval' || !hasStanding(rule)) return ruleChanged;
  if (value.agentId !== agent.id || agent.status !== 'active')
    return { ended: `the agent is ${agent.status}` };
  const history = await store.requests.history(value.requestId);
  if (history === null) return { ended: 'the record of its request is gone' };
  const recorded = requestStateOf(history);
  const people = await findPeople(voters(recorded));
  const origin = withEffectiveVotes(recorded, { people, agent, asks, isByChat });
  const scope = scopeOf(origin, rule, agent);
  if ('ended' in scope) return scope;
  if (nowMs >= scope.untilMs) return { ended: 'its time is over' };
  const subject = {
    agentId: agent.id,
    tier: agent.riskTier,
    actionKeys: [value.actionKey, request.actionKey],
  };
  if (await wasStoppedSince(store.documents, subject, scope.chosenMs))
    return { ended: 'a kill switch was turned on' };
  const document = { kind: standingKind, id: value.id, version };
  return {
    id: value.id,
    rule,
    origin,
    ...scope,
    documents: [document, ...versionsOf(people)],
  };
}

const ruleChanged: EndedStanding = { ended: 'its rule has changed' };
const notChosen: EndedStanding = {
  ended: 'its request is not approved, or not by all as a standing approval',
};

/** Returns the narrowest of what the votes chose; nothing when one of them chose nothing, or the request has no grant. */
function scopeOf(
  { status, decidedAtMs, votes }: RequestState,
  { rule, standing }: StandingRule,
  agent: Pick<AgentRow, 'version'>,
): (Pick<FoundStanding, 'sinceMs' | 'untilMs' | 'times'> & { readonly chosenMs: number }) | EndedStanding {
  const isGranted = status === 'approved' || status === 'consumed';
  if (!isGranted || decidedAtMs === null) return notChosen;
  const given = votes.filter((vote) => vote.isApproved && vote.takenBackAtMs === null && isOf(vote, rule));
  const chosen = given.flatMap((vote) => chosenIn(vote, rule) ?? []);
  if (chosen.length === 0 || chosen.length < given.length) return notChosen;
  if (chosen.some(({ per }) => per.join() !== standing.per.join())) return ruleChanged;
  if (given.some((vote) => vote.standing?.agentVersion !== agent.version))
    return { ended: 'the agent or one of its keys has changed' };
  return {
    sinceMs: decidedAtMs,
    chosenMs: Math.min(...given.map(({ atMs }) => atMs)),
    untilMs: Math.min(...chosen.map(({ untilMs }) => untilMs), decidedAtMs + standing.seconds * 1000),
    times: chosen.map(({ times }) => times).reduce(fewer, standing.times),
  };
}

function isOf({ rules }: Vote, rule: string): boolean {
  return rules.some(({ id }) => id === rule);
}

/** What the vote chose for the rule. */
export function chosenIn({ standing }: Vote, rule: string): StandingVoteRule | undefined {
  return standing?.rules.find((one) => one.rule === rule);
}

/** Ids of the people whose approvals chose a standing approval for the rule, each once. */
export function giversOf(votes: readonly Vote[], rule: string): readonly string[] {
  const chosen = votes.filter((vote) => vote.isApproved && chosenIn(vote, rule) !== undefined);
  return [...new Set(chosen.map(({ person }) => person))];
}
