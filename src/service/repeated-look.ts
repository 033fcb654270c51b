// Looks again and again for what is due. INVARIANT: one look ends before the next begins, and one that fails is
// reported and tried again.

export interface RepeatedLook {
  start(): void;
  /** Waits for the look that is under way. */
  close(): Promise<void>;
}

export interface LookOptions {
  /** Looks once; `isClosed` tells whether to stop between two steps. */
  readonly look: (isClosed: () => boolean) => Promise<void>;
  readonly everyMs: number;
  /** How long after the start the first look begins; `everyMs` by default. */
  readonly firstAfterMs?: number;
  /** Called when a look has failed; the next look tries again. */
  readonly onFailure: (error: unknown) => void;
}

export function repeatLook({ look, everyMs, firstAfterMs = everyMs, onFailure }: LookOptions): RepeatedLook {
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let isOver = false;

  function schedule(afterMs: number): void {
    if (isOver) return;
    timer = setTimeout(() => {
      work = look(() => isOver)
        .catch(onFailure)
        .then(() => schedule(everyMs));
    }, afterMs).unref();
  }

  return {
    start: () => schedule(firstAfterMs),
    async close() {
      isOver = true;
      clearTimeout(timer ?? undefined);
      await work;
    },
  };
}
