// A policy set tried on a log: what it would have decided, and what it would have asked of people. As recorded, each
// request is decided for itself, on the facts of its record; in order, meters hold what the candidate grants.

import type { Decision } from '../../language/model/decision.ts';
import { decideLogged, type ReplayCandidate, type ReplayMeters, type ServiceRules } from './candidate.ts';
import type { LogEntry, LoggedRequest } from './log.ts';
import { OrderedReplay, type WaitEnds } from './ordered-replay.ts';
import type { IncompleteMeter } from './readings.ts';
import { type ChangedRequest, type ReplayFinding, type Tallied, Tally } from './tally.ts';
import { countAsked } from './workload.ts';

export type ReplayReading = 'as recorded' | 'in order';

export interface ReplayOptions {
  readonly candidate: ReplayCandidate;
  readonly reading: ReplayReading;
  readonly findings?: readonly ReplayFinding[];
  /** Totals that nothing has entered yet. */
  readonly meters: ReplayMeters;
  readonly rules: ServiceRules;
  /** Requests from this moment on are counted. */
  readonly sinceMs?: number;
  /** Since when the log holds all that was granted; always, unless said. */
  readonly wholeSinceMs?: number;
  readonly onChanged?: (changed: ChangedRequest) => void;
  /** Hears of each decision of the candidate: the first of a request, and those that follow. */
  readonly onDecision?: (requestId: string, decision: Decision) => void;
}

export interface ReplayResult extends Tallied {
  readonly reading: ReplayReading;
  /** How the candidate's waits end; null as recorded. */
  readonly waits: WaitEnds | null;
  /** Requests with a reading of a meter that is the record's, as the log does not reach back far enough. */
  readonly readingsRecorded: number;
  /** Meters that some request reads while they lack a grant of which the record does not say what it adds. */
  readonly incompleteMeters: readonly IncompleteMeter[];
}

export interface PolicyReplay {
  /** Entries in the order of the log. */
  take(entry: LogEntry): void;
  result(): ReplayResult;
}

/** Where the candidate has meters or asks people, the order of requests matters. */
export function readingFor({ meters, asks }: ReplayCandidate): ReplayReading {
  return meters.length > 0 || asks.size > 0 ? 'in order' : 'as recorded';
}

export function createReplay(options: ReplayOptions): PolicyReplay {
  const { candidate, reading, findings = [], onChanged } = options;
  const { sinceMs = Number.NEGATIVE_INFINITY, wholeSinceMs = Number.NEGATIVE_INFINITY } = options;
  const tally = new Tally({ candidate, findings, onChanged });
  if (reading === 'as recorded') {
    return {
      take: (entry) => {
        if (entry.kind === 'request' && entry.facts.nowMs >= sinceMs) takeAsRecorded(options, tally, entry);
      },
      result: () => ({ reading, ...tally.result(), waits: null, readingsRecorded: 0, incompleteMeters: [] }),
    };
  }
  const inOrder = new OrderedReplay({ ...options, tally, sinceMs, wholeSinceMs });
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
  countAsked(workloads, 'before', { decision: logged.decision, earlier: [], atMs });
  countAsked(workloads, 'now', { decision, earlier: [], atMs });
}
