// What becomes of one request in replay: as the candidate decides it, with the words of people that the log has, beside
// how it went in the log.

import { type ApprovalRule, type AskedRule, isExcepted } from '../../language/model/asked.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { MeterDefinition, MeterUse } from '../../language/model/metering.ts';
import type { Facts } from '../../language/model/request.ts';
import { isWaiting, type LoggedRequest } from './log.ts';
import { type AskedWords, askedWords, type Workload } from './workload.ts';

/** A person's approval, for the candidate's rules that asked the group when it was given. */
export interface KeptVote {
  /** Their id. */
  readonly person: string;
  /** The control owner of the agent. */
  readonly isOwner: boolean;
  readonly email: string;
  /** Null where it is for nothing. */
  readonly group: string | null;
  readonly rules: ReadonlySet<string>;
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
  readonly incomplete: Set<string>;
  /** The candidate's, the latest last. */
  readonly decisions: Decision[];
  status: 'waiting' | 'granted' | 'over';
  /** Of the wait. */
  deadlineMs: number;
  /** Null while it is not granted. */
  grantedAtMs: number | null;
  /** Whether the log's own wait ends at the same moment, so that the log tells when it was seen to have ended. */
  isFollowed: boolean;
  readonly votes: KeptVote[];
  hasSteppedUp: boolean;
  readonly log: {
    decision: Decision;
    status: 'waiting' | 'granted' | 'over';
    expiresAtMs: number;
    /** Readings as last recorded. */
    meters: Facts['meters'];
    rows: Facts['rows'];
    readonly asked: AskedWords;
  };
  readonly asked: AskedWords;
  /** In which what it asks of people is counted. */
  readonly workloads: readonly Workload[];
}

export function latestOf({ decisions }: Course): Decision {
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
  const people = new Set<string>();
  // Each by their last vote.
  const last = new Map(votes.map((vote) => [vote.person, vote]));
  for (const { person, email, isOwner, group, rules } of last.values()) {
    const isLeftOut = (needs > 1 && isOwner) || isExcepted(except, logged.facts, { id: person, email });
    if (group === asked && rules.has(rule) && !isLeftOut) people.add(person);
  }
  return people.size;
}

/** Whether the log asks of everybody whom the candidate asks, and of no fewer people. */
export function isAnsweredInLog(course: Course): boolean {
  const { log } = course;
  return askedWords(latestOf(course)).every(([group, needs]) => needs <= (log.asked.get(group) ?? 0));
}

/** Only what waits may ask more later. */
export function wordsFor(decision: Decision): AskedWords {
  return isWaiting(decision) ? new Map() : noWords;
}

const noWords: AskedWords = new Map();

export function courseStatusOf(decision: Decision): Course['status'] {
  if (isWaiting(decision)) return 'waiting';
  return decision.outcome === 'ALLOW' ? 'granted' : 'over';
}

/** The pushed rows as last recorded. */
export function rowsRecorded({ log: { rows } }: Course): Pick<Facts, 'rows'> {
  return rows === undefined ? {} : { rows };
}
