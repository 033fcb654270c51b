// What becomes of one request in replay: as the candidate decides it, with the words of people that the log has, beside
// how it went in the log.

import { type ApprovalRule, type AskedRule, isExcepted } from '../../language/model/asked.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { MeterDefinition, MeterUse } from '../../language/model/metering.ts';
import type { Facts } from '../../language/model/request.ts';
import { isWaiting, type LoggedEvent, type LoggedRequest } from './log.ts';
import { askedWords, mostAskedOf, type Workload } from './workload.ts';

/** A person's approval, for the candidate's rules that asked the group when it was given. */
export interface KeptVote {
  /** Their id. */
  readonly person: string;
  /** The control owner of the agent. */
  readonly isOwner: boolean;
  readonly email: string;
  /** Null where it is for nothing. */
  readonly group: string | null;
  readonly rules: readonly string[];
}

/** The last vote of a person counts: after this one, none does. */
export function forNothing(person: string): KeptVote {
  return { person, email: '', isOwner: false, group: null, rules: [] };
}

export interface Course {
  readonly logged: LoggedRequest;
  /** It stands before the period: it is decided as the log says, and counts in meters alone. */
  readonly isEarlier: boolean;
  /** What it adds to meters. */
  readonly uses: readonly MeterUse[];
  /** Meters to which it adds something that its record does not say, where it stands as the log says. */
  readonly lacking: readonly MeterDefinition[];
  /** Names of the incomplete meters that its decisions have read. */
  incomplete: readonly string[];
  /** The candidate's, the latest last. */
  readonly decisions: Decision[];
  status: 'waiting' | 'granted' | 'over';
  /** Of the wait. */
  deadlineMs: number;
  /** Null while it is not granted. */
  grantedAtMs: number | null;
  /** Whether the log's own wait ends at the same moment, so that the log tells when it was seen to have ended. */
  isFollowed: boolean;
  votes: readonly KeptVote[];
  hasSteppedUp: boolean;
  readonly log: {
    /** The latest last. */
    readonly decisions: Decision[];
    status: 'waiting' | 'granted' | 'over';
    expiresAtMs: number;
    /** Readings as last recorded. */
    meters: Facts['meters'];
    rows: Facts['rows'];
  };
  /** In which what it asks of people is counted. */
  readonly workloads: readonly Workload[];
}

export function latestOf({ decisions }: Pick<Course, 'decisions'>): Decision {
  return decisions.at(-1)!;
}

export function isApproval(rule: AskedRule): rule is ApprovalRule {
  return rule.kind === 'approval';
}

/** Whether enough people of each group have approved for the rule: nobody is one of several of a group for their own agent. */
export function isApproved(rule: ApprovalRule, course: Pick<Course, 'votes' | 'logged'>): boolean {
  return rule.groups.every((group) => approvalsFor(rule, group, course) >= rule.needs);
}

function approvalsFor(
  { rule, needs, except }: ApprovalRule,
  asked: string,
  { votes, logged }: Pick<Course, 'votes' | 'logged'>,
): number {
  const approving = votes.filter(({ person, email, isOwner, group, rules }, at) => {
    if (group !== asked || !rules.includes(rule) || (needs > 1 && isOwner)) return false;
    // The last vote of each counts.
    const isTakenBack = votes.some((later, place) => place > at && later.person === person);
    return !isTakenBack && !isExcepted(except, logged.facts, { id: person, email });
  });
  return approving.length;
}

/** Whether the log asks of everybody whom the candidate asks, and of no fewer people. */
export function isAnsweredInLog(course: Course): boolean {
  const { log } = course;
  return askedWords(latestOf(course)).every(([group, needs]) => needs <= mostAskedOf(group, log.decisions));
}

export function courseStatusOf(decision: Decision): Course['status'] {
  if (isWaiting(decision)) return 'waiting';
  return decision.outcome === 'ALLOW' ? 'granted' : 'over';
}

/** What the log has read by the time of a decision. */
export function noteReadings(log: Course['log'], { meters, rows }: DecidedInLog): void {
  log.meters = meters;
  log.rows = rows;
}

type DecidedInLog = Extract<LoggedEvent, { readonly kind: 'decided' }>;
