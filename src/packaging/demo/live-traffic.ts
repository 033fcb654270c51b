// Runs the demo while a visitor looks at it: agents ask at a human pace, and colleagues answer part of the
// waiting requests, late enough for the visitor to be first. INVARIANT: no error ends the demo; a request
// that fails is followed by later ones.

import { setTimeout } from 'node:timers/promises';
import { colleagueNames, type DemoAccounts } from './accounts.ts';
import { callOf, createChance } from './agent-calls.ts';
import { nextAgent } from './history.ts';

/** Milliseconds between two requests, with a mean of 2 s. */
const pauseMs = { from: 600, to: 3_400 } as const;
/** Milliseconds that a request waits before colleagues look at it. */
const patienceMs = { from: 60_000, to: 240_000 } as const;
/** The share of the waiting requests that colleagues answer. */
const answeredPart = 0.7;

/** Sends requests until the signal aborts. Resolves when everything that was under way has ended. */
export async function keepAsking(cast: DemoAccounts, signal: AbortSignal): Promise<void> {
  const chance = createChance(Date.now());
  const answering = new Set<Promise<void>>();
  const pause = (ms: number) => setTimeout(ms, undefined, { signal, ref: false });
  const attempt = (work: Promise<void>): Promise<void> => work.catch(() => undefined);
  while (!signal.aborted) {
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
    await attempt(pause(between(pauseMs, chance)));
  }
  await Promise.all(answering);
}

interface ApproverAgent {
  readonly id: string;
  readonly chance: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * Lets the colleagues vote one after the other. The service refuses the vote of a person who is not asked,
 * which changes nothing.
 */
async function answer({ colleagues }: DemoAccounts, { id, chance, pause }: ApproverAgent): Promise<void> {
  const isApproved = chance() < 0.8;
  const comment = isApproved ? 'Checked against the order' : 'Nobody ordered this';
  for (const name of colleagueNames) {
    await pause(between(patienceMs, chance) / colleagueNames.length);
    await colleagues[name].send(`/v1/requests/${id}/${isApproved ? 'approve' : 'reject'}`, { comment });
  }
}

function between({ from, to }: { readonly from: number; readonly to: number }, chance: () => number): number {
  return from + (to - from) * chance();
}
