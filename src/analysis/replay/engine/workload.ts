// Counts the work for people: votes by group and hour, before and now. A step-up counts as a vote. A request
// counts for the most votes that any of its decisions asks of a group. INVARIANT: totals are the sums of the
// hours.

import type { ApprovalRequirement, Decision } from '../../../language/model/decision.ts';
import { hoursOf } from './hours.ts';

const sides = ['before', 'now'] as const;
/** `before` is the log, `now` the candidate. */
export type WorkloadSide = (typeof sides)[number];

/** By group, the number of votes that one request asks for. */
export type VoteCounts = ReadonlyMap<string, number>;

/** The group under which step-ups are counted; its name has spaces, which no approval group's name has. */
const stepUpGroup = 'control owner, step-up';

export interface DayFigures {
  readonly median: number;
  readonly worst: number;
}

type BothSides<T> = Readonly<Record<WorkloadSide, T>>;

export interface GroupWorkload {
  readonly group: string;
  readonly votes: BothSides<number>;
  /** Votes per day, over every day of the period. */
  readonly day: BothSides<DayFigures>;
  /** The most votes for requests made in the same hour. */
  readonly busiest: BothSides<number>;
  /** Hours that the votes cost. */
  readonly hours: BothSides<number>;
}

const hourMs = 60 * 60 * 1000;
const hoursADay = 24;

/** A class, because each request increases its counts. */
export class Workload {
  readonly #hours: BothSides<Map<string, Map<number, number>>> = { before: new Map(), now: new Map() };

  add(
    side: WorkloadSide,
    { group, votes, atMs }: { readonly group: string; readonly votes: number; readonly atMs: number },
  ): void {
    const groups = this.#hours[side];
    const hours = groups.get(group) ?? new Map<number, number>();
    groups.set(group, hours);
    const hour = Math.floor(atMs / hourMs);
    hours.set(hour, (hours.get(hour) ?? 0) + votes);
  }

  /** Figures by group, over the days from the first to the last moment. */
  groups(fromMs: number, untilMs: number): readonly GroupWorkload[] {
    const names = new Set(sides.flatMap((side) => [...this.#hours[side].keys()]));
    const days = dayOf(untilMs / hourMs) - dayOf(fromMs / hourMs) + 1;
    return [...names].sort().map((group) => {
      const of = (side: WorkloadSide): SideFigures =>
        figures(this.#hours[side].get(group) ?? new Map(), days);
      const [before, now] = [of('before'), of('now')];
      return {
        group,
        votes: { before: before.votes, now: now.votes },
        day: { before: before.day, now: now.day },
        busiest: { before: before.busiest, now: now.busiest },
        hours: { before: hoursOf(before.votes), now: hoursOf(now.votes) },
      };
    });
  }
}

/** Adds to each workload what a decision asks for beyond earlier decisions of the request. */
export function countRequiredVotes(
  workloads: readonly Workload[],
  side: WorkloadSide,
  {
    decision,
    earlier,
    atMs,
  }: { readonly decision: Decision; readonly earlier: readonly Decision[]; readonly atMs: number },
): void {
  for (const [group, needs] of countVotes(decision)) {
    const votes = needs - maxVotesRequired(group, earlier);
    if (votes <= 0) continue;
    for (const workload of workloads) workload.add(side, { group, votes, atMs });
  }
}

/** The most votes that one of the decisions asks of the group. */
export function maxVotesRequired(group: string, decisions: readonly Decision[]): number {
  let most = 0;
  for (const decision of decisions)
    for (const [name, needs] of countVotes(decision)) if (name === group) most = Math.max(most, needs);
  return most;
}

/** The number of votes that a decision asks of each group. */
export function countVotes({ requires }: Decision): readonly (readonly [group: string, needs: number])[] {
  if (requires === null) return none;
  const approvals = requires.approvals.map((one) => [firstAsked(one), one.needs] as const);
  return requires.reauth === null ? approvals : [...approvals, [stepUpGroup, 1]];
}

/** Whom the policies ask at once, as they name them; what a fallback has to do is not known beforehand. */
function firstAsked({ group, anyOf, fallbacks }: ApprovalRequirement): string {
  if (anyOf === undefined || fallbacks === undefined) return group;
  const texts = anyOf.map((one) => one.from ?? ('group' in one ? one.group : ''));
  return [...new Set(texts)].join(' or ');
}

const none: readonly never[] = [];

interface SideFigures {
  readonly votes: number;
  readonly day: DayFigures;
  readonly busiest: number;
}

function figures(hours: ReadonlyMap<number, number>, daysAll: number): SideFigures {
  const days = new Map<number, number>();
  for (const [hour, votes] of hours) days.set(dayOf(hour), (days.get(dayOf(hour)) ?? 0) + votes);
  return {
    votes: [...hours.values()].reduce((total, votes) => total + votes, 0),
    day: perDay([...days.values()], daysAll),
    busiest: Math.max(0, ...hours.values()),
  };
}

function dayOf(hour: number): number {
  return Math.floor(hour / hoursADay);
}

function perDay(votes: readonly number[], daysAll: number): DayFigures {
  const sorted = [...votes].sort((a, b) => a - b);
  // Days without a vote come before all others.
  const none = Math.max(0, daysAll - sorted.length);
  const at = (index: number): number => (index < none ? 0 : (sorted[index - none] ?? 0));
  const all = none + sorted.length;
  const middle = all === 0 ? 0 : (at((all - 1) >> 1) + at(all >> 1)) / 2;
  return { median: middle, worst: sorted.at(-1) ?? 0 };
}
