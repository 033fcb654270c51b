// A worker thread that is watched from outside, from its start to its exit, within limits of time and memory.
// INVARIANT: the thread exits once and for good; messages sent before the exit count, later ones do not.

import { Worker } from 'node:worker_threads';

export interface ThreadLimits {
  /** Milliseconds that the thread may work without a pause. */
  readonly timeoutMs: number;
  /** Megabytes that the thread may hold, garbage included. */
  readonly memoryMegabytes: number;
}

/**
 * Memory in megabytes left above a thread's limit. An engine that runs out of memory ends the whole process,
 * unless the thread happens to notice in time. So the serving thread watches the use and ends the thread long
 * before. The spare is more than a thread allocates between two looks.
 */
const spareMegabytes = 1_024;
/** Milliseconds between two looks at the thread's memory. */
const memoryLookMs = 100;

export interface ThreadOptions extends ThreadLimits {
  /** The file that the thread starts with. */
  readonly script: URL;
  /** What the thread is given at its start. */
  readonly data: unknown;
}

export interface ThreadListener<FromThread> {
  onMessage(message: FromThread): void;
  onExit(exit: ThreadExit): void;
}

export interface ThreadExit {
  /** One line without paths of this machine, in which `it` is the thread. */
  readonly summary: string;
  readonly error: unknown;
}

/** A class because it holds the thread and its timers. */
export class LimitedThread<ToThread, FromThread> {
  readonly #listener: ThreadListener<FromThread>;
  readonly #limits: ThreadLimits;
  #worker: Worker | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #memoryTimer: NodeJS.Timeout | null = null;
  #error: unknown = null;
  #hasEnded = false;

  /** Starts the thread. A failed start is reported like any exit: later, to the listener. */
  constructor({ data, script, ...limits }: ThreadOptions, listener: ThreadListener<FromThread>) {
    this.#listener = listener;
    this.#limits = limits;
    try {
      this.#worker = new Worker(script, {
        workerData: data,
        resourceLimits: { maxOldGenerationSizeMb: limits.memoryMegabytes + spareMegabytes },
      });
    } catch (error) {
      queueMicrotask(() => this.#endWith(`it could not be started: ${messageOf(error)}`, error));
      return;
    }
    this.#worker.on('message', (message: FromThread) => {
      if (!this.#hasEnded) this.#listener.onMessage(message);
    });
    this.#worker.on('messageerror', (error) => this.#endWith('it sent an unreadable message', error));
    // `exit` follows, and messages that were sent before it may still arrive.
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.#worker.on('exit', (code) => this.#endWith(this.#summaryOf(code), this.#error));
    this.expectPause(Math.max(limits.timeoutMs, startWithinMs));
  }

  get isRunning(): boolean {
    return !this.#hasEnded && this.#worker !== null;
  }

  /** Whether a deadline for the next pause is set. */
  get isExpected(): boolean {
    return this.#deadline !== null;
  }

  send(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  /** Sets the deadline by which the thread has to pause, and begins to watch its memory. */
  expectPause(timeoutMs = this.#limits.timeoutMs): void {
    this.notePause();
    this.#deadline = setTimeout(
      () => this.#endWith(`it did not finish within ${timeoutMs / 1_000} seconds`, null),
      timeoutMs,
    );
    this.#memoryTimer = setInterval(() => void this.#watchMemory(), memoryLookMs);
  }

  /** Clears the deadline: the thread waits for work, for as long as it likes. */
  notePause(): void {
    clearTimeout(this.#deadline ?? undefined);
    clearInterval(this.#memoryTimer ?? undefined);
    this.#deadline = null;
  }

  /** Ends the thread; the listener is not told. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.notePause();
    const ended = this.#worker?.terminate();
    // A thread that waits for a dead disk ends only with the disk, so this does not wait for it for long.
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, endWithinMs).unref())]);
  }

  async #watchMemory(): Promise<void> {
    // A thread that is ending anyway rejects the call.
    const heap = await this.#worker?.getHeapStatistics().catch(() => undefined);
    if (heap === undefined) return;
    const usedBytes = heap.used_heap_size + heap.external_memory;
    if (usedBytes > this.#limits.memoryMegabytes * 1024 * 1024) this.#endWith(this.#memorySummary(), null);
  }

  #memorySummary(): string {
    return `it needed more than ${this.#limits.memoryMegabytes} MB of memory`;
  }

  #endWith(summary: string, error: unknown): void {
    if (this.#hasEnded) return;
    void this.end();
    this.#listener.onExit({ summary, error });
  }

  #summaryOf(exitCode: number): string {
    const error = this.#error;
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (isMemory) return this.#memorySummary();
    return error === null ? `it stopped with exit code ${exitCode}` : `it crashed: ${messageOf(error)}`;
  }
}

const endWithinMs = 1_000;
/** Milliseconds allowed for the start, which loads the thread's code and so says nothing about its work. */
const startWithinMs = 30_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
