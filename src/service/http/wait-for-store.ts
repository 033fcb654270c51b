// Tries a step of the start again while the store is only away, slow or locked, for as long as the settings
// allow. INVARIANT: an error that does not pass by itself ends the start at once.

import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { StoreError, type StoreErrorCode } from '../store/contract/store-error.ts';
import type { LogOptions } from './fastify-instance.ts';

/** Runs a step of a start; the step must leave nothing open when it rejects, and may run several times. */
export type WaitForStore = <T>(step: () => Promise<T>) => Promise<T>;

interface WaitOptions {
  /** The time for all steps together, in milliseconds. */
  readonly forMs: number;
  readonly log: LogOptions;
}

const passing: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>(['unreachable', 'uncertain', 'locked']);
/** The pause after a failure, in milliseconds; it grows with each further failure of a step. */
const pauseMs = { least: 250, most: 5_000 };

export function createWaitForStore({ forMs, log }: WaitOptions): WaitForStore {
  const endAt = performance.now() + forMs;
  return async (step) => {
    for (let pause = pauseMs.least; ; pause = Math.min(2 * pause, pauseMs.most)) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof StoreError) || !passing.has(error.code)) throw error;
        const leftMs = endAt - performance.now();
        if (leftMs <= 0) throw overdue(error, forMs);
        await tell(log, error, leftMs);
        await setTimeout(Math.min(pause, leftMs));
      }
    }
  };
}

function overdue(error: StoreError, forMs: number): StoreError {
  const tried = `the start has tried for ${forMs / 1_000} s (store.wait_seconds)`;
  return new StoreError(error.code, `${error.message}; ${tried}${reasonOf(error)}`, { cause: error });
}

/** The log of the service is made later in a start, so these lines have a log of their own. */
async function tell({ level, stream }: LogOptions, error: StoreError, leftMs: number): Promise<void> {
  const { pino } = await import('pino');
  const log = pino({ level }, stream);
  log.warn(
    { detail: `${error.message}${reasonOf(error)}`, seconds_left: Math.ceil(leftMs / 1_000) },
    'the store is not available yet; retrying',
  );
}

/** What the driver or the network said, such as `connect ECONNREFUSED`. */
function reasonOf({ cause }: StoreError): string {
  const reason = cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : '';
  return reason === '' ? '' : ` (${reason})`;
}
