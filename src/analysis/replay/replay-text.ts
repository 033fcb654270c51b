// Renders the result of trying policies on a log: the matrix of decisions, what is asked of whom, what could
// not be decided, and a few of the changed requests.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type Outcome, outcomes } from '../../language/model/decision.ts';
import type { Marks } from '../../testing/report.ts';
import { type Align, columns } from '../columns.ts';
import { changedPeople, countsText, findingTexts, peopleTexts } from '../diff/diff-text.ts';
import type { ReplayExample } from './engine/examples.ts';
import { minutesAVote } from './engine/hours.ts';
import type { ReplayResult } from './engine/replay-log.ts';
import type { GroupWorkload } from './engine/workload.ts';
import type { FiledComparison, NoComparison } from './replay-json.ts';

export interface RenderedAs {
  readonly path: string;
  readonly filed: FiledComparison | NoComparison;
  readonly marks: Marks;
}

export function renderReplay(result: ReplayResult, { path, filed, marks }: RenderedAs): string {
  const { period, reading, requests } = result;
  if (period === null) return 'the log has no requests\n';
  const parts = [
    [
      `${many(requests, 'request')}, ${dateText(period.fromMs)} to ${dateText(period.untilMs)}, ${reading}, by ${path}`,
    ],
    matrixLines(result),
    peopleLines(result.people),
    [changesLine(result), ...waitsLines(result)],
    noteLines(result).map((line) => `${marks.bad('!')} ${line}`),
    filedLines(result, filed, marks),
    exampleLines(result.examples, marks),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

const names: Readonly<Record<Outcome, string>> = {
  ALLOW: 'ALLOW',
  ESCALATE: 'ESCALATE',
  REAUTH_REQUIRED: 'REAUTH',
  DENY: 'DENY',
};

function matrixLines({ matrix }: ReplayResult): readonly string[] {
  const head = ['before \\ now', ...outcomes.map((outcome) => names[outcome])];
  const rows = outcomes.map((before) => [
    names[before],
    ...outcomes.map((now) => figure(matrix[before][now])),
  ]);
  return columns([head, ...rows], ['left', ...outcomes.map((): Align => 'right')]);
}

function peopleLines(people: readonly GroupWorkload[]): readonly string[] {
  if (people.length === 0) return [];
  const head = [
    ...['people', 'asked before', 'now', 'per day, median', 'worst', 'busiest hour'],
    `about, at ${minutesAVote} min per vote`,
  ];
  const rows = people.map(({ group, votes, day, busiest, hours }) => [
    group,
    figure(votes.before),
    figure(votes.now),
    arrow(day.before.median, day.now.median),
    arrow(day.before.worst, day.now.worst),
    arrow(busiest.before, busiest.now),
    `${arrow(hours.before, hours.now)} h`,
  ]);
  const aligns: readonly Align[] = ['left', 'right', 'right', 'right', 'right', 'right', 'right'];
  return [
    ...columns([head, ...rows], aligns),
    `  (assumed: ${minutesAVote} minutes per vote, because records have no review times)`,
  ];
}

function changesLine({ changes: { outcome, asked, rule } }: ReplayResult): string {
  if (outcome + asked + rule === 0) return 'every decision is the same as before';
  return [
    `${many(outcome, 'request')} decided differently`,
    `${figure(asked)} with other approvers`,
    `${figure(rule)} with the same decision by another rule`,
  ].join(', ');
}

function waitsLines({ waits }: ReplayResult): readonly string[] {
  if (waits === null) return [];
  const { granted, refused, expired, open, unknown } = waits;
  const all = granted + refused + expired + open + unknown;
  if (all === 0) return [];
  const counts = `${figure(granted)} granted and ${figure(refused)} refused with the recorded votes, ${figure(expired)} expired, ${figure(open)} pending`;
  return [`of ${many(all, 'wait')}: ${counts}, ${figure(unknown)} with unknown votes`];
}

function noteLines(result: ReplayResult): readonly string[] {
  const { withheld, otherShape, undeclared, unknownFacts, readingsRecorded, incompleteMeters } = result;
  const changed = result.changedOnIncomplete;
  return [
    ...[...undeclared].map(
      ([action, count]) => `\`${action}\` is not declared: ${many(count, 'request')} refused`,
    ),
    ...[...otherShape].map(
      ([action, count]) => `\`${action}\` has another shape than ${many(count, 'payload')}: refused`,
    ),
    ...(withheld === 0
      ? []
      : [
          `${many(withheld, 'request')} in no cell: their records have digests instead of values that the payload check or rules read`,
        ]),
    ...[...unknownFacts].map(([fact, count]) => `\`${fact}\` is unknown for ${many(count, 'request')}`),
    ...(readingsRecorded === 0
      ? []
      : [
          `the log begins later than some meters: ${many(readingsRecorded, 'decision')} used recorded readings`,
        ]),
    ...incompleteMeters.map(
      ({ name, sinceMs, requests }) =>
        `\`${name}\` is incomplete since ${new Date(sinceMs).toISOString()}, because records hide values of grants: ${many(requests, 'request')} used recorded readings`,
    ),
    ...(changed === 0
      ? []
      : [
          `${many(changed, 'request')} among the changed ones read an incomplete meter, which may be the reason`,
        ]),
  ].map(escapeForTerminal);
}

function filedLines(result: ReplayResult, filed: RenderedAs['filed'], marks: Marks): readonly string[] {
  if ('reason' in filed) return [`${marks.bad('!')} not compared: ${escapeForTerminal(filed.reason)}`];
  const { report, decided } = filed;
  const byOthers = result.requests - decided;
  const { without_finding: without = 0, unfiled = 0, people_without_finding: others = [] } = report.log ?? {};
  return [
    `changes from ${escapeForTerminal(report.old.name)}, with their requests: ${countsText(report)}`,
    ...findingTexts(report).map((text, at) => `${at + 1}. ${text.trimEnd()}`),
    ...(without === 0 ? [] : [`${many(without, 'request')} decided differently without a finding`]),
    ...peopleTexts(changedPeople(others)).map((text) => `requests without a finding, ${text}`),
    ...(unfiled === 0
      ? []
      : [
          `${marks.bad('!')} ${many(unfiled, 'request')} cannot be assigned to a finding: their records have digests instead of values that rules read`,
        ]),
    ...report.limits.map(
      ({ action, limits }) =>
        `${marks.bad('!')} ${escapeForTerminal(action)}: the findings are not proved to be complete, ${limits.join(', ')}`,
    ),
    ...(byOthers === 0
      ? []
      : [
          `${marks.bad('!')} ${escapeForTerminal(report.old.name)} decided ${many(decided, 'request')} of the log, and other policies ${figure(byOthers)}`,
        ]),
  ];
}

const shownOfKind = 3;

function exampleLines(examples: readonly ReplayExample[], marks: Marks): readonly string[] {
  const kinds = Map.groupBy(
    examples,
    ({ before, now }) => `${names[before.outcome]} → ${names[now.outcome]} by ${now.by}`,
  );
  return [...kinds].flatMap(([kind, all]) => [
    escapeForTerminal(kind),
    ...columns(
      all
        .slice(0, shownOfKind)
        .map(({ id, atMs, agent, action, before, now, asks }) => [
          id,
          new Date(atMs).toISOString(),
          agent,
          action,
          asks.length > 0 ? asks.join(', ') : before.by === now.by ? '' : `was by ${before.by}`,
        ]),
      ['left', 'left', 'left', 'left', 'left'],
    ).map(marks.faint),
  ]);
}

function arrow(before: number, now: number): string {
  return `${figure(before)} -> ${figure(now)}`;
}

function many(count: number, what: string): string {
  return `${figure(count)} ${what}${count === 1 ? '' : 's'}`;
}

function figure(number: number): string {
  return number.toLocaleString('en', { maximumFractionDigits: 1 });
}

function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
