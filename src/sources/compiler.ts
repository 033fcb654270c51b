// The compiler's thread as the serving thread sees it: one life of it, from its start to its death. INVARIANT: it dies
// once and for good; what it has sent until then counts, and nothing that comes later does.

import { Worker } from 'node:worker_threads';
import type { CompilerData, FromCompiler, SetContent, ToCompiler } from './compiler-messages.ts';

export interface CompilerLimits {
  /** For how long the thread may work without a pause. */
  readonly timeoutMs: number;
  /** How much it may hold, garbage included. */
  readonly memoryMegabytes: number;
}

/**
 * An engine that runs out of its memory ends the whole process unless the thread happens to notice in time. So the
 * thread's use is watched from here, and it is ended long before: this much is allocated in a second at least,
 */
const spareMegabytes = 1_024;
/** and it is looked at this often. */
const memoryLookMs = 100;

export interface CompilerOptions extends CompilerLimits {
  readonly data: CompilerData;
  /** The file that the thread starts with. */
  readonly script: URL;
}

/** What the thread found, without its signs of life. */
export type CompilerNews = Exclude<FromCompiler, { readonly kind: 'busy' | 'idle' | 'compiling' | 'looked' }>;

export interface CompilerListener {
  onNews(news: CompilerNews): void;
  onDeath(death: CompilerDeath): void;
}

export interface CompilerDeath {
  /** One line without paths of this machine. */
  readonly summary: string;
  /** What it was compiling; null when it was not, so that nothing is known to be at fault. */
  readonly compiling: SetContent | null;
  readonly error: unknown;
}

/** A class because it lives and dies. */
export class Compiler {
  readonly #listener: CompilerListener;
  readonly #limits: CompilerLimits;
  #worker: Worker | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #memoryTimer: NodeJS.Timeout | null = null;
  #compiling: SetContent | null = null;
  #error: unknown = null;
  #isDead = false;
  #tickets = 0;
  readonly #waiting = new Map<number, () => void>();

  /** Starts the thread. Where that fails it is dead at once, which is told like any death: later. */
  constructor({ data, script, ...limits }: CompilerOptions, listener: CompilerListener) {
    this.#listener = listener;
    this.#limits = limits;
    try {
      this.#worker = new Worker(script, {
        workerData: data,
        resourceLimits: { maxOldGenerationSizeMb: limits.memoryMegabytes + spareMegabytes },
      });
    } catch (error) {
      queueMicrotask(() => this.#die(`it could not be started: ${messageOf(error)}`, error));
      return;
    }
    this.#worker.on('message', (message: FromCompiler) => this.#receive(message));
    this.#worker.on('messageerror', (error) => this.#die('it sent what cannot be read', error));
    // The end of the thread follows, and until then what it has sent.
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.#worker.on('exit', (code) => this.#die(this.#summaryOf(code), this.#error));
    this.#expectLife(Math.max(limits.timeoutMs, startWithinMs));
  }

  /** Resolves when a look that began after the call is done, or the thread is dead. */
  look(): Promise<void> {
    if (this.#isDead || this.#worker === null) return Promise.resolve();
    this.#tickets += 1;
    const message: ToCompiler = { kind: 'look', ticket: this.#tickets };
    this.#worker.postMessage(message);
    if (this.#deadline === null) this.#expectLife();
    return new Promise((resolve) => this.#waiting.set(message.ticket, resolve));
  }

  /** Ends the thread; nobody is told. */
  async end(): Promise<void> {
    this.#forget();
    const ended = this.#worker?.terminate();
    // A thread that waits for a dead disk ends with the disk.
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, endWithinMs).unref())]);
  }

  #receive(message: FromCompiler): void {
    if (this.#isDead) return;
    switch (message.kind) {
      case 'busy':
        this.#expectLife();
        break;
      case 'idle':
        this.#compiling = null;
        this.#stopClock();
        break;
      case 'compiling':
        this.#compiling = message.content;
        break;
      case 'looked':
        for (const ticket of message.tickets) {
          this.#waiting.get(ticket)?.();
          this.#waiting.delete(ticket);
        }
        break;
      default:
        this.#listener.onNews(message);
    }
  }

  /** From now on it has so long to pause for a moment. */
  #expectLife(timeoutMs = this.#limits.timeoutMs): void {
    this.#stopClock();
    this.#deadline = setTimeout(
      () => this.#die(`it was not done after ${timeoutMs / 1_000} seconds`, null),
      timeoutMs,
    );
    this.#memoryTimer = setInterval(() => void this.#watchMemory(), memoryLookMs);
  }

  async #watchMemory(): Promise<void> {
    // Refused by a thread that is ending anyway.
    const heap = await this.#worker?.getHeapStatistics().catch(() => undefined);
    if (heap === undefined) return;
    const usedBytes = heap.used_heap_size + heap.external_memory;
    if (usedBytes > this.#limits.memoryMegabytes * 1024 * 1024) this.#die(this.#memorySummary(), null);
  }

  #memorySummary(): string {
    return `it needed more than ${this.#limits.memoryMegabytes} MB of memory`;
  }

  #stopClock(): void {
    clearTimeout(this.#deadline ?? undefined);
    clearInterval(this.#memoryTimer ?? undefined);
    this.#deadline = null;
  }

  #die(summary: string, error: unknown): void {
    if (this.#isDead) return;
    const compiling = this.#compiling;
    void this.end();
    this.#listener.onDeath({ summary: `the policy compiler was ended: ${summary}`, compiling, error });
  }

  #forget(): void {
    this.#isDead = true;
    this.#stopClock();
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  #summaryOf(exitCode: number): string {
    const error = this.#error;
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (isMemory) return this.#memorySummary();
    return error === null ? `it stopped with exit code ${exitCode}` : `it crashed: ${messageOf(error)}`;
  }
}

const endWithinMs = 1_000;
/** Loading the thread's code says nothing of the policies. */
const startWithinMs = 30_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
