// What is asked of people: words by group and day, before and now. A word is one person's answer; a request asks of a
// group the most words that any of its decisions asks. INVARIANT: totals are the sums of the days.

import type { Decision } from '../../language/model/decision.ts';

const sides = ['before', 'now'] as const;
/** `before` is the log, `now` the candidate. */
export type WorkloadSide = (typeof sides)[number];

/** What one request has asked so far, by group. */
export type AskedWords = Map<string, number>;

/** The group under which step-ups are counted; no group of approvers has a space in its name. */
const stepUpGroup = 'control owner, step-up';

export interface DayFigures {
  readonly median: number;
  readonly worst: number;
}

export interface GroupWorkload {
  readonly group: string;
  readonly words: Readonly<Record<WorkloadSide, number>>;
  /** Words a day, over every day of the period. */
  readonly day: Readonly<Record<WorkloadSide, DayFigures>>;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A class because it is counted up by each request. */
export class Workload {
  readonly #days: Readonly<Record<WorkloadSide, Map<string, Map<number, number>>>> = {
    before: new Map(),
    now: new Map(),
  };

  /** Counts what a decision asks beyond what the request has asked already. */
  ask(side: WorkloadSide, decision: Decision, { asked, atMs }: { asked: AskedWords; atMs: number }): void {
    for (const [group, needs] of askedWords(decision)) {
      const more = needs - (asked.get(group) ?? 0);
      if (more <= 0) continue;
      asked.set(group, needs);
      this.#add(side, { group, words: more, day: Math.floor(atMs / dayMs) });
    }
  }

  /** By group, over the days from the first moment to the last. */
  groups(fromMs: number, untilMs: number): readonly GroupWorkload[] {
    const names = new Set(sides.flatMap((side) => [...this.#days[side].keys()]));
    const daysMax = Math.floor(untilMs / dayMs) - Math.floor(fromMs / dayMs) + 1;
    const figures = (side: WorkloadSide, group: string): readonly number[] => [
      ...(this.#days[side].get(group)?.values() ?? []),
    ];
    return [...names].sort().map((group) => {
      const [before, now] = [figures('before', group), figures('now', group)];
      return {
        group,
        words: { before: sum(before), now: sum(now) },
        day: { before: perDay(before, daysMax), now: perDay(now, daysMax) },
      };
    });
  }

  #add(
    side: WorkloadSide,
    { group, words, day }: { readonly group: string; readonly words: number; readonly day: number },
  ): void {
    const groups = this.#days[side];
    const days = groups.get(group) ?? new Map<number, number>();
    groups.set(group, days);
    days.set(day, (days.get(day) ?? 0) + words);
  }
}

/** What a decision asks of each group. */
export function askedWords({ requires }: Decision): readonly (readonly [group: string, needs: number])[] {
  if (requires === null) return [];
  const approvals = requires.approvals.map(({ group, needs }) => [group, needs] as const);
  return requires.reauth === null ? approvals : [...approvals, [stepUpGroup, 1]];
}

function perDay(words: readonly number[], daysMax: number): DayFigures {
  const sorted = [...words].sort((a, b) => a - b);
  // Days without a word stand before all others.
  const none = Math.max(0, daysMax - sorted.length);
  const at = (place: number): number => (place < none ? 0 : (sorted[place - none] ?? 0));
  const all = none + sorted.length;
  const middle = all === 0 ? 0 : (at((all - 1) >> 1) + at(all >> 1)) / 2;
  return { median: middle, worst: sorted.at(-1) ?? 0 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
