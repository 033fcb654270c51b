// Turns the result of trying policies on a log into JSON for programs.

import { isoTime } from '../../language/value/iso-time.ts';
import type { DiffReport } from '../diff/diff-report.ts';
import type { ReplayExample } from './engine/examples.ts';
import { minutesAVote } from './engine/hours.ts';
import type { ReplayResult } from './engine/replay-log.ts';

import type { LogFaults } from './log-source.ts';

/** How many requests of the log the old set decided, and the findings with the requests that meet them. */
export interface FiledComparison {
  readonly decided: number;
  readonly report: DiffReport;
}

/** Why no comparison was made: a sentence without its final period. */
export interface NoComparison {
  readonly reason: string;
}

export interface ReplayedAs {
  readonly path: string;
  readonly digest: string;
  readonly sinceMs: number | undefined;
  readonly faults: LogFaults;
  readonly filed: FiledComparison | NoComparison;
}

export function replayJson(
  result: ReplayResult,
  { path, digest, sinceMs, faults, filed }: ReplayedAs,
): object {
  const { period, people, waits, examples, changes } = result;
  return {
    policies: { path, digest },
    reading: result.reading,
    since: sinceMs === undefined ? null : isoTime(sinceMs),
    requests: result.requests,
    from: period === null ? null : isoTime(period.fromMs),
    until: period === null ? null : isoTime(period.untilMs),
    matrix: result.matrix,
    withheld: result.withheld,
    changes,
    people,
    minutes_per_vote: { minutes: minutesAVote, measured: false },
    waits,
    other_shape: Object.fromEntries(result.otherShape),
    undeclared: Object.fromEntries(result.undeclared),
    unknown_facts: Object.fromEntries(result.unknownFacts),
    readings_as_recorded: result.readingsRecorded,
    incomplete_meters: result.incompleteMeters.map(({ name, sinceMs: lackingMs, requests }) => ({
      meter: name,
      since: isoTime(lackingMs),
      requests,
    })),
    changed_on_incomplete: result.changedOnIncomplete,
    decided_by: Object.fromEntries(result.decidedBy),
    ...comparisonJson(filed),
    repeated: faults.repeated,
    unread: { count: faults.count, first: faults.named },
    examples: examples.map(exampleJson),
  };
}

function comparisonJson(filed: FiledComparison | NoComparison): object {
  if ('reason' in filed) return { against: null, no_diff_reason: filed.reason };
  const { decided, report } = filed;
  const { findings, limits, log } = report;
  return {
    against: { ...report.old, requests: decided },
    no_diff_reason: null,
    findings,
    limits,
    without_finding: log?.without_finding ?? 0,
    people_without_finding: log?.people_without_finding ?? [],
    unfiled: log?.unfiled ?? 0,
  };
}

function exampleJson({ id, atMs, incompleteMeters, ...example }: ReplayExample): object {
  return { request_id: id, at: isoTime(atMs), ...example, incomplete_meters: incompleteMeters };
}
