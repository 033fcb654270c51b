// The thread of the tools as the server sees it: calls go in, results come out, one after the other.
// INVARIANT: when the thread hangs, grows too large or dies, or a call is cancelled, only that call is lost.

import type { JsonObject } from '../../language/model/json.ts';
import { LimitedThread } from '../../service/policies/limited-thread.ts';
import type { FromThread, ToThread } from './thread.ts';
import { failedCall, type ShowStage, type ToolDescription } from './tool/tool.ts';

export interface ToolCall extends ToThread {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  readonly onStage: ShowStage;
}

export interface ToolThread {
  /** The tools, once the thread has loaded them. */
  readonly tools: () => Promise<readonly ToolDescription[]>;
  /** Resolves to the result; to null when the call was cancelled. */
  readonly call: (call: ToolCall) => Promise<JsonObject | null>;
  readonly close: () => Promise<void>;
}

export interface ToolThreadOptions {
  /** Milliseconds that one call may take. */
  readonly timeoutMs: number;
  /** Another start file for the thread, by which tests make it fail. */
  readonly script?: URL;
}

/** Starts the thread at once, because clients ask for the tools first. */
export function startToolThread(options: ToolThreadOptions): ToolThread {
  return new LiveToolThread(options);
}

const memoryMegabytes = 1_024;

interface Job extends ToolCall {
  readonly finish: (result: JsonObject | null) => void;
}

/** A class because it holds the thread and the calls that wait for it. */
class LiveToolThread implements ToolThread {
  readonly #options: ToolThreadOptions;
  #loaded = Promise.withResolvers<readonly ToolDescription[]>();
  #thread: LimitedThread<ToThread, FromThread> | null = null;
  #isReady = false;
  #running: Job | null = null;
  #waiting: Job[] = [];

  constructor(options: ToolThreadOptions) {
    this.#options = options;
    this.#start();
  }

  tools(): Promise<readonly ToolDescription[]> {
    if (this.#thread === null) this.#start();
    return this.#loaded.promise;
  }

  call(call: ToolCall): Promise<JsonObject | null> {
    return new Promise((finish) => {
      const job: Job = { ...call, finish };
      if (call.signal.aborted) return finish(null);
      call.signal.addEventListener('abort', () => this.#cancel(job), { once: true });
      this.#waiting.push(job);
      if (this.#thread === null) this.#start();
      this.#next();
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.end();
  }

  #start(): void {
    const script = this.#options.script ?? new URL('./thread.ts', import.meta.url);
    const limits = { timeoutMs: this.#options.timeoutMs, memoryMegabytes };
    this.#isReady = false;
    this.#loaded = Promise.withResolvers();
    this.#loaded.promise.catch(() => undefined);
    this.#thread = new LimitedThread<ToThread, FromThread>(
      { script, data: null, ...limits },
      { onMessage: (message) => this.#take(message), onExit: ({ summary }) => this.#lose(summary) },
    );
  }

  #next(): void {
    if (!this.#isReady || this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    this.#thread?.expectPause();
    this.#thread?.send({ tool: job.tool, args: job.args });
  }

  #take(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        this.#thread?.notePause();
        this.#loaded.resolve(message.tools);
        break;
      case 'stage':
        this.#running?.onStage(message.stage);
        return;
      case 'result':
        this.#thread?.notePause();
        this.#finishRunning(message.result);
        break;
    }
    this.#next();
  }

  #cancel(job: Job): void {
    this.#waiting = this.#waiting.filter((one) => one !== job);
    job.finish(null);
    if (this.#running !== job) return;
    this.#running = null;
    void this.#thread?.end();
    this.#start();
  }

  /** The thread has ended by itself: its call gets a result that says why, and the next call a new thread. */
  #lose(why: string): void {
    this.#thread = null;
    this.#loaded.reject(new Error(`the tools could not be loaded: ${why}`));
    if (!this.#isReady) this.#running = this.#waiting.shift() ?? null;
    this.#finishRunning(
      failedCall(`the call was stopped: ${why}. Ask for less: one file, one action or fewer requests.`),
    );
    if (this.#waiting.length > 0) this.#start();
  }

  #finishRunning(result: JsonObject): void {
    this.#running?.finish(result);
    this.#running = null;
  }
}
