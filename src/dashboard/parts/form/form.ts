// The sending of a form: one call at a time, with the problem of the last.

import { useCallback, useRef, useState } from 'preact/hooks';

export interface Submission {
  readonly isBusy: boolean;
  readonly problem: unknown;
  /** Runs the work unless other work is under way; an error that it throws becomes `problem`. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
  readonly clear: () => void;
}

export function useSending(): Submission {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isUnderWay = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setProblem(null);
    await work().catch((error: unknown) => setProblem(error ?? new Error('no reason was given')));
    isUnderWay.current = false;
    setBusy(false);
  }, []);
  const clear = useCallback(() => setProblem(null), []);
  return { isBusy, problem, run, clear };
}
