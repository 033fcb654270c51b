// The serving thread's handle on the compiler's thread, from its start to its exit. INVARIANT: the thread
// exits once and for good; messages sent before the exit count, later ones do not.

import type { SetContent } from './compiled/bundle.ts';
import type { CompilerData, FromCompiler, ToCompiler } from './compiler-messages.ts';
import { LimitedThread, type ThreadExit, type ThreadLimits } from './limited-thread.ts';

export interface CompilerOptions extends ThreadLimits {
  readonly data: CompilerData;
  /** The file that the thread starts with. */
  readonly script: URL;
}

/** What the thread found, without its heartbeats. */
export type CompilerEvent = Exclude<
  FromCompiler,
  { readonly kind: 'busy' | 'idle' | 'compiling' | 'looked' }
>;

export interface CompilerListener {
  onEvent(event: CompilerEvent): void;
  onExit(exit: CompilerExit): void;
}

export interface CompilerExit extends ThreadExit {
  /** The content that was being compiled; null when none was, so that no content is known to be at fault. */
  readonly compiling: SetContent | null;
}

/** A class because it holds the thread and the callers that wait for it. */
export class Compiler {
  readonly #listener: CompilerListener;
  readonly #thread: LimitedThread<ToCompiler, FromCompiler>;
  #compiling: SetContent | null = null;
  #tickets = 0;
  readonly #waiting = new Map<number, () => void>();

  /** Starts the thread. A failed start is reported like any exit: later, to the listener. */
  constructor(options: CompilerOptions, listener: CompilerListener) {
    this.#listener = listener;
    this.#thread = new LimitedThread(options, {
      onMessage: (message) => this.#receive(message),
      onExit: ({ summary, error }) => {
        this.#answerAll();
        const text = `the policy compiler was ended: ${summary}`;
        this.#listener.onExit({ summary: text, compiling: this.#compiling, error });
      },
    });
  }

  /** Resolves when a look that began after the call is done, or when the thread has exited. */
  readDirectory(): Promise<void> {
    if (!this.#thread.isRunning) return Promise.resolve();
    this.#tickets += 1;
    const message: ToCompiler = { kind: 'look', ticket: this.#tickets };
    this.#thread.send(message);
    if (!this.#thread.isExpected) this.#thread.expectPause();
    return new Promise((resolve) => this.#waiting.set(message.ticket, resolve));
  }

  /** Ends the thread; the listener is not told. */
  async end(): Promise<void> {
    const ended = this.#thread.end();
    this.#answerAll();
    await ended;
  }

  #receive(message: FromCompiler): void {
    switch (message.kind) {
      case 'busy':
        this.#thread.expectPause();
        break;
      case 'idle':
        this.#compiling = null;
        this.#thread.notePause();
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
        this.#listener.onEvent(message);
    }
  }

  #answerAll(): void {
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }
}
