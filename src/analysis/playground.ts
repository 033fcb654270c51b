// The serving thread's handle on the playground: takes questions and returns answers. The playground's thread
// starts with the first question and ends when nobody has asked for a while. INVARIANT: one question at a
// time, and a bounded number of waiting questions. When the thread hangs, grows or dies, only the question
// that it was answering is refused.

import { totalmem } from 'node:os';
import { LimitedThread, type ThreadExit, type ThreadLimits } from '../service/policies/limited-thread.ts';
import type { SetTexts } from '../service/policies/texts.ts';
import type {
  FromPlayground,
  PlaygroundAnswers,
  PlaygroundInputs,
  PlaygroundRequest,
  Question,
  ToPlayground,
} from './playground-questions.ts';

export interface Playground {
  /** Rejects with a PlaygroundRefusal. */
  ask<Q extends Question>(
    question: Q,
    input: PlaygroundInputs[Q],
    by: PlaygroundUser,
  ): Promise<PlaygroundAnswers[Q]>;
  /** Ends the thread and refuses all questions that are not answered yet. */
  close(): Promise<void>;
}

export interface PlaygroundUser {
  /** The person's id. */
  readonly person: string;
  /** Texts of the active policies. */
  readonly texts: SetTexts;
}

export interface PlaygroundOptions extends Partial<ThreadLimits> {
  /** Milliseconds that the thread is kept without a question. */
  readonly idleMs?: number;
  /** Another file for the thread to start with; tests use it to make the thread fail. */
  readonly script?: URL;
  /** Called with the reason when a question is not answered. */
  readonly onFailure?: (error: unknown, summary: string) => void;
}

/**
 * `busy`: too many questions at once. `failed`: no answer within the limits. A class because it is thrown.
 */
export class PlaygroundRefusal extends Error {
  readonly kind: 'busy' | 'failed';

  constructor(kind: PlaygroundRefusal['kind'], message: string) {
    super(message);
    this.name = 'PlaygroundRefusal';
    this.kind = kind;
  }
}

const timeoutMsDefault = 5_000;
/** Questions of which only a person's latest is answered. */
const replaced: ReadonlySet<Question> = new Set(['try', 'compare']);
/** Questions that need nothing of the active policies. */
const ofOwnTexts: ReadonlySet<Question> = new Set(['outline', 'compare sets', 'changed sentences']);
/** Questions that take proofs of several sets, and may last as long as taking in a set. */
const slow: ReadonlySet<Question> = new Set(['suggest', 'judge proposal']);
const takeWithinMs = 30_000;
const idleMsDefault = 5 * 60_000;
/** The thread may take a quarter of the machine's memory, up to this limit in megabytes. */
const memoryMegabytesMax = 1_024;
/** The least memory that the thread may take, in megabytes: twice what the shipped policies need. */
const memoryMegabytesMin = 128;
const waitingMax = 16;
/** The most questions of one person, including the one that is being answered. */
const ofPersonMax = 4;

export function createPlayground(options: PlaygroundOptions = {}): Playground {
  return new LivePlayground(options);
}

interface Job {
  readonly message: PlaygroundRequest;
  readonly by: PlaygroundUser;
  readonly resolve: (answer: PlaygroundAnswers[Question]) => void;
  readonly reject: (refusal: PlaygroundRefusal) => void;
}

/** A class because it holds the thread and the waiting questions. */
class LivePlayground implements Playground {
  readonly #options: PlaygroundOptions;
  #thread: LimitedThread<ToPlayground, FromPlayground> | null = null;
  #isReady = false;
  /** Texts that the thread has received. */
  #texts: SetTexts | null = null;
  #running: Job | null = null;
  #waiting: Job[] = [];
  #idleTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: PlaygroundOptions) {
    this.#options = options;
  }

  ask<Q extends Question>(
    question: Q,
    input: PlaygroundInputs[Q],
    by: PlaygroundUser,
  ): Promise<PlaygroundAnswers[Q]> {
    const answer = new Promise<PlaygroundAnswers[Question]>((resolve, reject) => {
      this.#enter({ message: { kind: 'ask', question, input }, by, resolve, reject });
    });
    // The thread answers the question that it was asked, so the type is right.
    return answer as Promise<PlaygroundAnswers[Q]>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer ?? undefined);
    const jobs = this.#underWay();
    this.#waiting = [];
    this.#running = null;
    for (const { reject } of jobs) reject(new PlaygroundRefusal('failed', 'the service is stopping'));
    await this.#end();
  }

  #enter(job: Job): void {
    const { person } = job.by;
    if (replaced.has(job.message.question)) this.#giveWay(job);
    const refusal = this.#refusalOf(person);
    if (refusal !== null) {
      job.reject(refusal);
      return;
    }
    this.#waiting.push(job);
    this.#next();
  }

  #refusalOf(person: string): PlaygroundRefusal | null {
    if (this.#isClosed) return new PlaygroundRefusal('failed', 'the service is stopping');
    if (this.#underWay().filter(({ by }) => by.person === person).length >= ofPersonMax)
      return new PlaygroundRefusal('busy', 'your earlier questions are still being answered');
    return this.#waiting.length >= waitingMax
      ? new PlaygroundRefusal('busy', 'too many questions are waiting')
      : null;
  }

  #underWay(): readonly Job[] {
    return this.#running === null ? this.#waiting : [this.#running, ...this.#waiting];
  }

  /**
   * A new question replaces earlier ones of the same kind: a person who types wants the answer to the latest
   * text.
   */
  #giveWay({ by: { person }, message: { question } }: Job): void {
    const isOlder = ({ by, message }: Job): boolean => by.person === person && message.question === question;
    const older = this.#waiting.filter(isOlder);
    this.#waiting = this.#waiting.filter((job) => !isOlder(job));
    for (const { reject } of older) reject(new PlaygroundRefusal('busy', 'replaced by your later question'));
  }

  #next(): void {
    clearTimeout(this.#idleTimer ?? undefined);
    if (this.#running !== null || this.#isClosed) return;
    const job = this.#waiting.shift();
    if (job === undefined) {
      const { idleMs = idleMsDefault } = this.#options;
      this.#idleTimer = setTimeout(() => void this.#end(), idleMs).unref();
      return;
    }
    this.#running = job;
    if (this.#thread === null) this.#start();
    else if (this.#isReady) this.#send(job);
  }

  #start(): void {
    const { timeoutMs = timeoutMsDefault, memoryMegabytes = memoryMegabytesDefault() } = this.#options;
    const script = this.#options.script ?? new URL('./playground-thread.ts', import.meta.url);
    const thread = new LimitedThread<ToPlayground, FromPlayground>(
      { script, data: null, timeoutMs, memoryMegabytes },
      {
        onMessage: (message) => this.#receive(message),
        onExit: (exit) => this.#handleExit(exit),
      },
    );
    this.#thread = thread;
  }

  /**
   * Sends the set before the question. Taking in the set may last as long as loading code, because the caller
   * did not choose its size.
   */
  #send({ message, by: { texts } }: Job): void {
    if (texts === this.#texts || ofOwnTexts.has(message.question)) {
      this.#thread?.expectPause(slow.has(message.question) ? this.#longPauseMs() : undefined);
      this.#thread?.send(message);
      return;
    }
    this.#texts = texts;
    this.#isReady = false;
    this.#thread?.expectPause(this.#longPauseMs());
    this.#thread?.send({ kind: 'take', texts });
  }

  #longPauseMs(): number {
    return Math.max(this.#options.timeoutMs ?? timeoutMsDefault, takeWithinMs);
  }

  #receive(message: FromPlayground): void {
    this.#thread?.notePause();
    if (message.kind === 'ready') {
      this.#isReady = true;
      if (this.#running !== null) this.#send(this.#running);
      return;
    }
    const job = this.#running;
    this.#running = null;
    if (message.kind === 'answer') job?.resolve(message.answer);
    else this.#recover(job, message.text);
    this.#next();
  }

  /** The thread still runs, but its workspace is empty. */
  #recover(job: Job | null, text: string): void {
    this.#isReady = true;
    this.#texts = null;
    this.#fail(job, { summary: 'it failed unexpectedly', error: new Error(text) });
  }

  #handleExit(exit: ThreadExit): void {
    const job = this.#running;
    this.#running = null;
    this.#forget();
    this.#fail(job, exit);
    this.#next();
  }

  /** The error's message may hold paths of this machine, so it goes to the log only. */
  #fail(job: Job | null, { summary, error }: ThreadExit): void {
    this.#options.onFailure?.(error, `the playground did not answer: ${summary}`);
    const why = error === null ? summary : 'it stopped unexpectedly';
    job?.reject(new PlaygroundRefusal('failed', `the playground did not answer: ${why}`));
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#forget();
    await thread?.end();
  }

  #forget(): void {
    this.#thread = null;
    this.#isReady = false;
    this.#texts = null;
  }
}

export function memoryMegabytesDefault(): number {
  // In a container, the container's memory counts.
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(memoryMegabytesMin, Math.min(memoryMegabytesMax, Math.floor(bytes / 4 / 1024 ** 2)));
}
