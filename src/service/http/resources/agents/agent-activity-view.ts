// Counts what came of an agent's requests, day by day. Counts are kept, so that only later records are read.
// INVARIANT: requests are served between two reads, however many an agent has sent.

import { setImmediate as pause } from 'node:timers/promises';
import type { OutcomeCount, OutcomePage } from '../../../store/contract/agent-activity.ts';
import type { Store } from '../../../store/contract/store.ts';

export interface ActiveDay {
  /** The beginning of the day, in UTC. */
  readonly atMs: number;
  readonly allow: number;
  readonly deny: number;
  readonly escalate: number;
  readonly reauth: number;
  readonly refused: number;
}

/** The last 14 days up to `nowMs`, the earliest first. */
export type DaysOf = (agentId: string, nowMs: number) => Promise<readonly ActiveDay[]>;

export const daysShown = 14;
const dayMs = 24 * 60 * 60 * 1000;
/**
 * Beyond this many agents, the counts of the agents that were asked about first are dropped, and made again
 * when needed.
 */
const agentsMax = 1_000;

interface ActivityCount {
  /** Counts by day and outcome. */
  readonly counts: Map<string, number>;
  readonly after: Record<OutcomePage['kind'], number>;
  /**
   * Ends with the count that is under way: one at a time, else records that come meanwhile are counted twice.
   */
  turn: Promise<void>;
}

export function createDaysOf({ activity }: Pick<Store, 'activity'>): DaysOf {
  const countings = new Map<string, ActivityCount>();

  async function countNew(agentId: string, { counts, after }: ActivityCount): Promise<void> {
    for (const kind of ['requests', 'refusals'] as const) {
      for (;;) {
        const outcomes = await activity.outcomes({ agentId, kind, afterSequence: after[kind] });
        for (const one of outcomes.counts)
          counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + one.count);
        if (outcomes.through === null) break;
        after[kind] = outcomes.through;
        await pause();
      }
    }
  }

  async function begin(agentId: string, firstDay: number): Promise<ActivityCount> {
    const before = await activity.numberBefore(firstDay * dayMs);
    const cached = countings.get(agentId);
    if (cached !== undefined) return cached;
    const counting: ActivityCount = {
      counts: new Map(),
      after: { requests: before, refusals: before },
      turn: Promise.resolve(),
    };
    const oldest = countings.size >= agentsMax ? countings.keys().next().value : undefined;
    if (oldest !== undefined) countings.delete(oldest);
    countings.set(agentId, counting);
    return counting;
  }

  return async (agentId, nowMs) => {
    const lastDay = Math.floor(nowMs / dayMs);
    const days = Array.from({ length: daysShown }, (_, at) => lastDay - daysShown + 1 + at);
    const counting = countings.get(agentId) ?? (await begin(agentId, days[0] ?? lastDay));
    const turn = counting.turn.then(() => countNew(agentId, counting));
    counting.turn = turn.catch(() => undefined);
    await turn;
    for (const name of counting.counts.keys())
      if (Number.parseInt(name, 10) < (days[0] ?? lastDay)) counting.counts.delete(name);
    return days.map((day) => {
      const of = (outcome: string) => counting.counts.get(nameOf({ day, outcome })) ?? 0;
      return {
        atMs: day * dayMs,
        allow: of('ALLOW'),
        deny: of('DENY'),
        escalate: of('ESCALATE'),
        reauth: of('REAUTH_REQUIRED'),
        refused: of('refused'),
      };
    });
  };
}

function nameOf({ day, outcome }: Pick<OutcomeCount, 'day' | 'outcome'>): string {
  return `${day} ${outcome}`;
}
