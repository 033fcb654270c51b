// Asks the playground's thread, and retries while the thread is busy with other people's questions.

import { ApiProblem } from './problem.ts';

const busyPauseMs = 1_000;

/** Asks again a little later while the playground is too busy; gives up after five retries. */
export async function retryWhileBusy<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = error instanceof ApiProblem && error.code === 'playground_busy';
      if (!isBusy || tries > 5 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    }
  }
}
