// The second thread as the language server sees it: questions go in, answers come out, one question at a
// time. A new question replaces a waiting one about the same, because the text of that one is outdated.
// INVARIANT: when the thread hangs, grows too large or dies, only its question is refused.

import { LimitedThread } from '../../service/policies/limited-thread.ts';
import type {
  FromThread,
  SetState,
  ThreadAnswers,
  ThreadInputs,
  ThreadQuestion,
  ThreadRequest,
} from './questions.ts';

export interface QuestionThread {
  /** Resolves to the answer, or rejects with a ThreadRefusal. */
  ask<Q extends ThreadQuestion>(question: Q, params: ThreadInputs[Q]): Promise<ThreadAnswers[Q]>;
  close(): Promise<void>;
}

/**
 * A question without an answer. `overtaken`: a newer question has replaced it. A class because it is thrown.
 */
export class ThreadRefusal extends Error {
  readonly kind: 'overtaken' | 'failed';

  constructor(kind: ThreadRefusal['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Job {
  /** The same for questions about the same thing, of which only the newest counts. */
  readonly about: string;
  readonly message: ThreadRequest;
  readonly resolve: (answer: ThreadAnswers[ThreadQuestion]) => void;
  readonly reject: (refusal: ThreadRefusal) => void;
}

/** Milliseconds for one answer. Proofs of large sets take long, but nobody waits longer. */
const timeoutMs = 60_000;
const memoryMegabytes = 1_024;

/**
 * Starts the thread when it is first asked. `script` is another start file for the thread, by which tests
 * make it fail.
 */
export function createQuestionThread(script = new URL('./thread.ts', import.meta.url)): QuestionThread {
  return new LiveThread(script);
}

/** A class because it holds a thread and the questions that wait for it. */
class LiveThread implements QuestionThread {
  readonly #script: URL;
  #thread: LimitedThread<ThreadRequest, FromThread> | null = null;
  #isReady = false;
  #running: Job | null = null;
  #waiting: Job[] = [];

  constructor(script: URL) {
    this.#script = script;
  }

  ask<Q extends ThreadQuestion>(question: Q, params: ThreadInputs[Q]): Promise<ThreadAnswers[Q]> {
    return new Promise((resolve, reject) => {
      const { root, only, start }: SetState & { readonly only?: string | null; readonly start?: number } =
        params;
      const about = JSON.stringify([question, root, only, start]);
      const [overtaken, others] = [
        this.#waiting.filter((job) => job.about === about),
        this.#waiting.filter((job) => job.about !== about),
      ];
      for (const job of overtaken) job.reject(new ThreadRefusal('overtaken', 'replaced by a later request'));
      // The resolver belongs to the question, so the type of its answer is right.
      const job = { about, message: { question, input: params }, resolve: resolve as Job['resolve'], reject };
      this.#waiting = [...others, job];
      this.#next();
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    this.#refuseAll('the server is stopping');
    await thread?.end();
  }

  #next(): void {
    if (this.#running !== null) return;
    const [job, ...rest] = this.#waiting;
    if (job === undefined) return;
    [this.#running, this.#waiting] = [job, rest];
    if (this.#thread === null) this.#start();
    else if (this.#isReady) this.#send(job);
  }

  #start(): void {
    this.#isReady = false;
    const listener = {
      onMessage: (message: FromThread) => this.#receive(message),
      onExit: ({ summary }: { readonly summary: string }) => this.#handleExit(summary),
    };
    this.#thread = new LimitedThread<ThreadRequest, FromThread>(
      { script: this.#script, data: null, timeoutMs, memoryMegabytes },
      listener,
    );
  }

  #send({ message }: Job): void {
    this.#thread?.expectPause();
    this.#thread?.send(message);
  }

  #receive(message: FromThread): void {
    this.#thread?.notePause();
    const job = this.#running;
    if (message.kind === 'ready') {
      this.#isReady = true;
      if (job !== null) this.#send(job);
      return;
    }
    this.#running = null;
    if (message.kind === 'answer') job?.resolve(message.answer);
    else job?.reject(new ThreadRefusal('failed', message.text));
    this.#next();
  }

  /** Refuses the running question; the next question starts a new thread. */
  #handleExit(summary: string): void {
    this.#thread = null;
    this.#running?.reject(new ThreadRefusal('failed', summary));
    this.#running = null;
    this.#next();
  }

  #refuseAll(message: string): void {
    for (const job of [this.#running, ...this.#waiting]) job?.reject(new ThreadRefusal('failed', message));
    [this.#running, this.#waiting] = [null, []];
  }
}
