// The course of one request in replay: how the candidate decides it, with the answers of people from the log,
// beside what happened in the log.

import type { Decision } from '../../../language/model/decision.ts';
import type { MeterDefinition, MeterUse } from '../../../language/model/metering.ts';
import type { Facts } from '../../../language/model/request.ts';
import {
  type ApprovalRule,
  isExcepted,
  type RuleRequirement,
} from '../../../language/model/rule-requirement.ts';
import { rulesMet } from '../../../service/requests/record/vote-scope.ts';
import { isWaiting, type LoggedEvent, type LoggedRequest } from './log.ts';
import { countVotes, maxVotesRequired, type Workload } from './workload.ts';

/**
 * A person's approval, kept for those rules of the candidate that asked one of the groups when the approval
 * was given.
 */
export interface ReplayedVote {
  /** The person's id. */
  readonly person: string;
  /** Whether the person is the control owner of the agent. */
  readonly isOwner: boolean;
  readonly email: string;
  /** The groups that the vote may count for; empty when it approves nothing. */
  readonly groups: readonly string[];
  readonly rules: readonly string[];
}

/** A vote for no group. A person's last vote counts, so after this one none of the person's votes does. */
export function forNothing(person: string): ReplayedVote {
  return { person, email: '', isOwner: false, groups: [], rules: [] };
}

export interface ReplayedRequest {
  readonly logged: LoggedRequest;
  /**
   * Whether the request keeps its decision from the log and counts in meters alone: it precedes the counted
   * period, or its record withholds what the candidate must read.
   */
  readonly isEarlier: boolean;
  /** What the request adds to meters. */
  readonly uses: readonly MeterUse[];
  /**
   * Meters to which the request adds an amount that its record does not hold; only for requests that keep
   * their decision from the log.
   */
  readonly lacking: readonly MeterDefinition[];
  /** Names of the incomplete meters that decisions of the request have read. */
  incomplete: readonly string[];
  /** The candidate's decisions, the latest last. */
  readonly decisions: Decision[];
  status: 'waiting' | 'granted' | 'over';
  /** When the wait ends. */
  deadlineMs: number;
  /** Null while the request is not granted. */
  grantedAtMs: number | null;
  /** Whether the log's own wait ends at the same moment; the log then tells when its end was noticed. */
  isFollowed: boolean;
  votes: readonly ReplayedVote[];
  hasSteppedUp: boolean;
  readonly log: {
    /** The log's decisions, the latest last. */
    readonly decisions: Decision[];
    status: 'waiting' | 'granted' | 'over';
    expiresAtMs: number;
    /** Readings as the log last recorded them. */
    meters: Facts['meters'];
    rows: Facts['rows'];
  };
  /** The workloads that count what the request asks of people. */
  readonly workloads: readonly Workload[];
}

export function latestOf({ decisions }: Pick<ReplayedRequest, 'decisions'>): Decision {
  return decisions.at(-1)!;
}

export function isApproval(rule: RuleRequirement): rule is ApprovalRule {
  return rule.kind === 'approval';
}

/**
 * The rules for which enough people of each group have approved. When a rule needs several people of a group,
 * the agent's control owner does not count.
 */
export function approvedRules(
  rules: readonly ApprovalRule[],
  { votes, logged }: Pick<ReplayedRequest, 'votes' | 'logged'>,
): readonly ApprovalRule[] {
  // The last vote of each person counts.
  const last = new Map(votes.map((vote) => [vote.person, vote]));
  return rulesMet(rules, [...last.values()], (vote, { rule, needs, except }, group) => {
    if (!vote.groups.includes(group) || !vote.rules.includes(rule) || (needs > 1 && vote.isOwner))
      return false;
    return !isExcepted(except, logged.facts, { id: vote.person, email: vote.email });
  });
}

/** Whether the log asks everybody whom the candidate asks, and at least as many people. */
export function isAnsweredInLog(request: ReplayedRequest): boolean {
  const { log } = request;
  return countVotes(latestOf(request)).every(
    ([group, needs]) => needs <= maxVotesRequired(group, log.decisions),
  );
}

export function courseStatusOf(decision: Decision): ReplayedRequest['status'] {
  if (isWaiting(decision)) return 'waiting';
  return decision.outcome === 'ALLOW' ? 'granted' : 'over';
}

/** Notes the readings and rows that the log recorded for a decision. */
export function noteReadings(log: ReplayedRequest['log'], { meters, rows }: DecidedInLog): void {
  log.meters = meters;
  log.rows = rows;
}

type DecidedInLog = Extract<LoggedEvent, { readonly kind: 'decided' }>;
