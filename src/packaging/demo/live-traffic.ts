// Runs the demo while a visitor looks at it: agents ask at the pace of the past week, after a few quicker requests to look
// at, and colleagues answer most of the waiting requests, late enough for the visitor to be first. INVARIANT: no error ends
// the demo; a request that fails is followed by later ones.

import { setTimeout } from 'node:timers/promises';
import { colleagueNames, type DemoAccounts } from './accounts.ts';
import { callOf, createChance } from './agent-calls.ts';
import { nextAgent, perHour } from './history.ts';

const hourMs = 3_600_000;
/** Milliseconds between the first requests, which a visitor watches. */
const quickPauseMs = { from: 4_000, to: 16_000 } as const;
const quickCount = 12;
/** Milliseconds that a request waits before colleagues look at it. */
const reviewDelayMs = { from: 60_000, to: 240_000 } as const;
/** The share of the waiting requests that colleagues answer; the others wait for the visitor, or expire. */
const answeredPart = 0.85;

interface TrafficOptions {
  readonly signal: AbortSignal;
  /** The number of requests in the past week. */
  readonly countInWeek: number;
  /** Waits for some milliseconds; rejects when the signal aborts. */
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly now?: () => number;
}

/** Sends requests until the signal aborts. Resolves when everything that was under way has ended. */
export async function sendLiveTraffic(cast: DemoAccounts, options: TrafficOptions): Promise<void> {
  const { signal, countInWeek, now = Date.now } = options;
  const chance = createChance(now());
  const answering = new Set<Promise<void>>();
  const pause = options.pause ?? ((ms: number) => setTimeout(ms, undefined, { signal, ref: false }));
  const attempt = async (work: Promise<unknown>): Promise<void> => {
    await work.catch(() => undefined);
  };
  for (let count = 0; !signal.aborted; count += 1) {
    const name = nextAgent(chance());
    const { caller } = cast.agents[name];
    const ask = async (): Promise<void> => {
      const { body } = await caller.send('/v1/authorize', callOf(name, chance));
      if (body.status === 'auto_approved')
        await caller.send(`/v1/requests/${body.request_id}/outcome`, { executed: true });
      if (body.decision !== 'ESCALATE' || chance() > answeredPart) return;
      const answered = attempt(answer(cast, { id: body.request_id, chance, pause }));
      answering.add(answered);
      void answered.finally(() => answering.delete(answered));
    };
    await attempt(ask());
    const meanMs = hourMs / perHour(now(), countInWeek);
    const range = count < quickCount ? quickPauseMs : { from: meanMs / 2, to: 1.5 * meanMs };
    await attempt(pause(between(range, chance)));
  }
  await Promise.all(answering);
}

interface ApproverAgent {
  readonly id: string;
  readonly chance: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Lets the colleagues vote one after the other. The service refuses the vote of a person who is not asked,
 * which changes nothing.
 */
async function answer({ colleagues }: DemoAccounts, { id, chance, pause }: ApproverAgent): Promise<void> {
  const isApproved = chance() < 0.8;
  const comment = isApproved ? 'Checked against the order' : 'Nobody ordered this';
  for (const name of colleagueNames) {
    await pause(between(reviewDelayMs, chance) / colleagueNames.length);
    await colleagues[name].send(`/v1/requests/${id}/${isApproved ? 'approve' : 'reject'}`, { comment });
  }
}

function between({ from, to }: { readonly from: number; readonly to: number }, chance: () => number): number {
  return from + (to - from) * chance();
}
