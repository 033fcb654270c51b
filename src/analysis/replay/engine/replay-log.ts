// Tries a policy set on a log: what the set would have decided, and what it would have asked of people. `as
// recorded` decides each request by itself on its recorded facts; `in order` fills the meters with what the
// candidate grants.

import type { Decision } from '../../../language/model/decision.ts';
import { decideLogged, type ReplayCandidate, type ReplayMeters, type ServiceRules } from './candidate.ts';
import type { LogEntry, LoggedRequest } from './log.ts';
import { OrderedReplay, type WaitEnds } from './ordered-replay.ts';
import type { IncompleteMeter } from './readings.ts';
import { type ChangedRequest, type ReplayFinding, Tally, type TallyResult } from './tally.ts';
import { countRequiredVotes } from './workload.ts';

export type ReplayReading = 'as recorded' | 'in order';

export interface ReplayOptions {
  readonly candidate: ReplayCandidate;
  readonly reading: ReplayReading;
  readonly findings?: readonly ReplayFinding[];
  /** Totals without any entries. */
  readonly meters: ReplayMeters;
  readonly rules: ServiceRules;
  /** Milliseconds; requests from this moment on are counted. Absent: all requests. */
  readonly sinceMs?: number;
  /** Milliseconds; the log holds all grants from this moment on. Absent: it holds all grants ever made. */
  readonly completeSinceMs?: number;
  readonly onChanged?: (changed: ChangedRequest) => void;
  /** Receives each decision of the candidate: the first one of a request, and those that follow. */
  readonly onDecision?: (requestId: string, decision: Decision) => void;
}

export interface ReplayResult extends TallyResult {
  readonly reading: ReplayReading;
  /** How the candidate's waits end; null for the reading `as recorded`. */
  readonly waits: WaitEnds | null;
  /**
   * Number of requests with a meter reading from their record, because the log does not reach back far
   * enough.
   */
  readonly readingsRecorded: number;
  /** Meters that some request reads while they lack a grant whose record does not tell the added amount. */
  readonly incompleteMeters: readonly IncompleteMeter[];
}

export interface PolicyReplay {
  /** Takes one entry; entries must come in the order of the log. */
  take(entry: LogEntry): void;
  result(): ReplayResult;
}

/** If the candidate has meters or asks people, the order of requests matters. */
export function readingFor({ meters, asks }: ReplayCandidate): ReplayReading {
  return meters.length > 0 || asks.size > 0 ? 'in order' : 'as recorded';
}

export function createReplay(options: ReplayOptions): PolicyReplay {
  const { candidate, reading, findings = [], onChanged } = options;
  const { sinceMs = Number.NEGATIVE_INFINITY, completeSinceMs = Number.NEGATIVE_INFINITY } = options;
  const tally = new Tally({ candidate, findings, onChanged });
  if (reading === 'as recorded') {
    return {
      take: (entry) => {
        if (entry.kind === 'request' && entry.facts.nowMs >= sinceMs) takeAsRecorded(options, tally, entry);
      },
      result: () => ({ reading, ...tally.result(), waits: null, readingsRecorded: 0, incompleteMeters: [] }),
    };
  }
  const inOrder = new OrderedReplay({ ...options, tally, sinceMs, completeSinceMs });
  return {
    take: (entry) => inOrder.take(entry),
    result: () => ({ reading, ...tally.result(), ...inOrder.result() }),
  };
}

function takeAsRecorded({ candidate, onDecision }: ReplayOptions, tally: Tally, logged: LoggedRequest): void {
  const decision = decideLogged(candidate, logged, logged.facts);
  onDecision?.(logged.id, decision);
  const workloads = tally.count(logged, { facts: logged.facts, decision, incomplete: [] }) ?? [];
  const { nowMs: atMs } = logged.facts;
  countRequiredVotes(workloads, 'before', { decision: logged.decision, earlier: [], atMs });
  countRequiredVotes(workloads, 'now', { decision, earlier: [], atMs });
}
