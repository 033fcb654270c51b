// A question to the playground's thread, which may be at the questions of others.

import { ApiProblem } from './problem.ts';

const busyPauseMs = 1_000;

/** Where too much is asked at once, it asks again a little later. */
export async function askUntilFree<Answer>(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
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
