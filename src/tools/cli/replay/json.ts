// The result of trying policies on a log, as JSON for programs.

import type { ReplayExample } from '../../../reasoning/replay/examples.ts';
import type { ReplayResult } from '../../../reasoning/replay/replay.ts';
import type { LogFaults } from '../../../service/replay/log-source.ts';
import type { FiledComparison, NoComparison } from './against.ts';
import { hoursOf, minutesAWord } from './hours.ts';

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
    since: sinceMs === undefined ? null : timeText(sinceMs),
    requests: result.requests,
    from: period === null ? null : timeText(period.fromMs),
    until: period === null ? null : timeText(period.untilMs),
    matrix: result.matrix,
    withheld: result.withheld,
    changes,
    people: people.map(({ group, words, day }) => ({
      group,
      words,
      day,
      hours: { before: hoursOf(words.before), now: hoursOf(words.now) },
    })),
    minutes_a_word: { minutes: minutesAWord, measured: false },
    waits,
    other_shape: result.otherShape,
    undeclared: result.undeclared,
    unknown_facts: result.unknownFacts,
    readings_as_recorded: result.readingsRecorded,
    decided_by: result.decidedBy,
    ...comparisonJson(filed),
    repeated: faults.repeated,
    unread: { count: faults.count, first: faults.named },
    examples: examples.map(exampleJson),
  };
}

function comparisonJson(filed: FiledComparison | NoComparison): object {
  if ('reason' in filed) return { against: null, no_comparison: filed.reason };
  const { decided, report } = filed;
  const { findings, limits, log } = report;
  return {
    against: { ...report.old, requests: decided },
    no_comparison: null,
    findings,
    limits,
    without_finding: log?.without_finding ?? 0,
  };
}

function exampleJson({ id, atMs, agent, action, before, now, finding }: ReplayExample): object {
  return { request_id: id, at: timeText(atMs), agent, action, before, now, finding };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
