// The serving thread's handle on replays. Each replay is a thread of its own, which reports progress and then
// answers. INVARIANT: one replay a person, and few altogether. The thread ends when its caller goes away or
// its time is over. When a thread hangs, grows or dies, only its own replay is refused.

import { Readable } from 'node:stream';
import { LimitedThread, type ThreadExit, type ThreadLimits } from '../../service/policies/limited-thread.ts';
import { memoryMegabytesDefault, PlaygroundRefusal } from '../playground.ts';
import type { EditReplay, ReplayInput } from './replay-edits.ts';
import type { FromReplay } from './replay-worker.ts';

export type ReplayEvent =
  /** Share of the records that has been read, from 0 to 1. */
  { readonly progress: number } | { readonly answer: EditReplay };

export interface Replays {
  /**
   * Streams progress and at last the answer; closing the stream ends the replay. Throws a PlaygroundRefusal
   * when too many replays are running. A failed stream also ends with one.
   */
  start(ask: ReplayInput, person: string): Readable & AsyncIterable<ReplayEvent>;
  close(): void;
}

export interface ReplaysOptions extends Partial<ThreadLimits> {
  /** Milliseconds that a whole replay may take. */
  readonly allMs?: number;
  /** Another file for the thread to start with; tests use it to make the thread fail. */
  readonly script?: URL;
  /** Called with the reason when a replay has no answer. */
  readonly onFailure?: (error: unknown, summary: string) => void;
}

/** Comparing large sets is the longest work without a pause. */
const timeoutMsDefault = 60_000;
const allMsDefault = 5 * 60_000;
/** More replays at once would slow down decisions. */
const runningMax = 2;

export function createReplays(options: ReplaysOptions = {}): Replays {
  const running = new Map<string, Readable>();
  return {
    start(ask, person) {
      if (running.has(person)) throw new PlaygroundRefusal('busy', 'your earlier replay is still running');
      if (running.size >= runningMax)
        throw new PlaygroundRefusal('busy', 'replays of other people are still running');
      const events = runThread(ask, options);
      running.set(person, events);
      return events.once('close', () => running.delete(person));
    },
    close() {
      for (const events of running.values())
        events.destroy(new PlaygroundRefusal('failed', 'the service is stopping'));
    },
  };
}

function runThread(ask: ReplayInput, options: ReplaysOptions): Readable {
  const { timeoutMs = timeoutMsDefault, allMs = allMsDefault, onFailure } = options;
  const { memoryMegabytes = memoryMegabytesDefault() } = options;
  const script = options.script ?? new URL('./replay-thread.ts', import.meta.url);
  const fail = ({ summary, error }: ThreadExit): void => {
    onFailure?.(error, `a replay did not answer: ${summary}`);
    // The error's message may hold paths of this machine, so it goes to the log only.
    const why = error === null ? summary : 'it stopped unexpectedly';
    events.destroy(new PlaygroundRefusal('failed', `the replay did not answer: ${why}`));
  };
  const thread = new LimitedThread<ReplayInput, FromReplay>(
    { script, data: null, timeoutMs, memoryMegabytes },
    { onMessage: receive, onExit: fail },
  );
  const ending = setTimeout(
    () => fail({ summary: `it did not finish within ${allMs / 1_000} seconds`, error: null }),
    allMs,
  );
  const events = new Readable({
    objectMode: true,
    read: () => undefined,
    destroy: (error, done) => {
      clearTimeout(ending);
      void thread.end();
      done(error);
    },
  });
  // The stream's reader gets the error too.
  events.on('error', () => undefined);
  function receive(message: FromReplay): void {
    if (message.kind === 'progress') {
      thread.expectPause();
      events.push({ progress: message.share });
    } else if (message.kind === 'answer') {
      thread.notePause();
      events.push({ answer: message.answer });
      events.push(null);
    } else fail({ summary: 'it failed unexpectedly', error: new Error(message.text) });
  }
  thread.send(ask);
  return events;
}
