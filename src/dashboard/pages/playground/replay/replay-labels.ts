// The result of trying a copy on the recorded requests, in the words of `writ replay`.

import type { ReplayResult } from './use-replay.ts';

export type ReplayExample = ReplayResult['examples'][number];
export type ReplayFinding = ReplayResult['findings'][number];

export const outcomes = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY'] as const;

export const dayChoices = [1, 7, 30, 90] as const;

export function daysText(days: number): string {
  return days === 1 ? 'last day' : `last ${days} days`;
}

export function many(count: number, one: string): string {
  return `${count.toLocaleString()} ${one}${count === 1 ? '' : 's'}`;
}

/** How many more or fewer votes people have to give. */
export function moreText({ before, now }: ReplayResult['people'][number]['votes']): string {
  if (before === now) return 'as many votes';
  const by = now > before ? 'more vote' : 'fewer vote';
  return many(Math.abs(now - before), by);
}

/** The whole result in one sentence. */
export function replayText({ requests, changes, reading }: ReplayResult): string {
  if (requests === 0) return 'No request was recorded in this time.';
  const changed = changes.outcome + changes.asked;
  const how =
    reading === 'in order' ? 'in order, with meters and waits as this copy makes them' : 'each separately';
  return changed === 0
    ? `None of ${many(requests, 'request')} would have been decided differently (${how}).`
    : `${changed.toLocaleString()} of ${many(requests, 'request')} would have been decided differently (${how}).`;
}

/** What a reader has to know before trusting the figures. */
export function replayNotes(result: ReplayResult): readonly string[] {
  const { withheld, unfiled, unread, against, requests, readings_as_recorded: readings, waits } = result;
  const others = requests - against.requests;
  return [
    ...(others === 0
      ? []
      : [
          `${many(others, 'request')} ${verb(others)} decided by other policies than the active ones: differences there may not come from your change`,
        ]),
    ...(withheld === 0
      ? []
      : [
          `${many(withheld, 'request')} cannot be tried: the record has digests instead of values that the payload check or rules read`,
        ]),
    ...(unfiled === 0
      ? []
      : [
          `${many(unfiled, 'request')} cannot be assigned to a finding: the record has digests instead of values that rules read`,
        ]),
    ...entries(
      result.other_shape,
      (action, count) =>
        `${many(count, 'request')} for \`${action}\` would be refused for the shape of the payload`,
    ),
    ...entries(
      result.undeclared,
      (action, count) => `${many(count, 'request')} for \`${action}\`, which this copy does not declare`,
    ),
    ...entries(
      result.unknown_facts,
      (fact, count) =>
        `\`${fact}\` is not in ${many(count, 'record')}, so rules that read it find it unknown`,
    ),
    ...(readings === 0
      ? []
      : [`${many(readings, 'request')} read meters as recorded: the records do not go back far enough`]),
    ...result.incomplete_meters.map(
      ({ meter, requests: count }) =>
        `\`${meter}\` lacks what some requests added to it, as records hide it: ${many(count, 'request')} read it as recorded`,
    ),
    ...(result.changed_on_incomplete === 0
      ? []
      : [`${many(result.changed_on_incomplete, 'changed request')} read such a meter, which may be why`]),
    ...(waits === null || waits.unknown === 0
      ? []
      : [`${many(waits.unknown, 'wait')} asked someone who was not asked then, so the answer is unknown`]),
    ...(unread.count === 0
      ? []
      : [`${many(unread.count, 'record')} could not be read and ${verb(unread.count)} left out`]),
  ];
}

function entries(
  counts: Readonly<Record<string, unknown>>,
  text: (name: string, count: number) => string,
): readonly string[] {
  return Object.entries(counts).map(([name, count]) => text(name, Number(count)));
}

function verb(count: number): string {
  return count === 1 ? 'was' : 'were';
}

const strictness: Readonly<Record<string, number>> = { ALLOW: 0, ESCALATE: 1, REAUTH_REQUIRED: 2, DENY: 3 };

/** Sorts examples by how much more loosely they are decided, the loosest first. */
export function loosestFirst(a: ReplayExample, b: ReplayExample): number {
  return loosened(b) - loosened(a) || strictnessOf(a.now) - strictnessOf(b.now) || (a.at < b.at ? 1 : -1);
}

function loosened({ before, now }: ReplayExample): number {
  return strictnessOf(before) - strictnessOf(now);
}

function strictnessOf({ outcome }: ReplayExample['now']): number {
  return strictness[outcome] ?? 0;
}
