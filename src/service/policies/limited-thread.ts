// A worker thread that is watched from outside: from its start to its exit, within limits of time and memory.
// INVARIANT: it exits once and for good; what it has sent until then counts, and nothing that comes later does.

import { Worker } from 'node:worker_threads';

export interface ThreadLimits {
  /** For how long the thread may work without a pause. */
  readonly timeoutMs: number;
  /** How much it may hold, garbage included. */
  readonly memoryMegabytes: number;
}

/**
 * An engine that runs out of its memory ends the whole process unless the thread happens to notice in time. So the
 * thread's use is watched from here, and it is ended long before: this much, which is more than a thread allocates between
 * two looks, is left above its limit.
 */
const spareMegabytes = 1_024;
/** How often the thread's use is looked at. */
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

  /** Starts the thread. Where that fails it has exited, which is told like any exit: later. */
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
    this.#worker.on('messageerror', (error) => this.#endWith('it sent what cannot be read', error));
    // The end of the thread follows, and until then what it has sent.
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.#worker.on('exit', (code) => this.#endWith(this.#summaryOf(code), this.#error));
    this.expectPause(Math.max(limits.timeoutMs, startWithinMs));
  }

  get isRunning(): boolean {
    return !this.#hasEnded && this.#worker !== null;
  }

  /** Whether it has been given a time by which it has to pause. */
  get isExpected(): boolean {
    return this.#deadline !== null;
  }

  send(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  /** From now on it has so long to pause for a moment. */
  expectPause(timeoutMs = this.#limits.timeoutMs): void {
    this.notePause();
    this.#deadline = setTimeout(
      () => this.#endWith(`it was not done after ${timeoutMs / 1_000} seconds`, null),
      timeoutMs,
    );
    this.#memoryTimer = setInterval(() => void this.#watchMemory(), memoryLookMs);
  }

  /** It waits for something to do, for as long as it likes. */
  notePause(): void {
    clearTimeout(this.#deadline ?? undefined);
    clearInterval(this.#memoryTimer ?? undefined);
    this.#deadline = null;
  }

  /** Ends the thread; nobody is told. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.notePause();
    const ended = this.#worker?.terminate();
    // A thread that waits for a dead disk ends with the disk.
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, endWithinMs).unref())]);
  }

  async #watchMemory(): Promise<void> {
    // Refused by a thread that is ending anyway.
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
/** Loading the thread's code says nothing of its work. */
const startWithinMs = 30_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
