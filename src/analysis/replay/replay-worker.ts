// The thread of one replay: it receives what to try, reports progress, and ends with an answer or with a
// fault of Writ itself.

import type { MessagePort } from 'node:worker_threads';
import { type EditReplay, type ReplayInput, replayEdits } from './replay-edits.ts';

export type FromReplay =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'answer'; readonly answer: EditReplay }
  | { readonly kind: 'mistake'; readonly text: string };

/** The smallest step of progress that is reported: finer ones cannot be seen. */
const shareStep = 0.005;

/** `before` is called with each question; tests use it to make the thread fail. */
export function serveReplay(port: MessagePort, before: (ask: ReplayInput) => void = () => undefined): void {
  const send = (message: FromReplay): void => port.postMessage(message);
  port.on('message', (ask: ReplayInput) => {
    let reported = -1;
    const onProgress = (share: number): void => {
      if (share < reported + shareStep) return;
      reported = share;
      send({ kind: 'progress', share });
    };
    // Inside the promise chain, an error that `before` throws is reported like any other.
    Promise.resolve(ask)
      .then((request) => {
        before(request);
        return replayEdits(request, onProgress);
      })
      .then(
        (answer) => send({ kind: 'answer', answer }),
        (error: unknown) =>
          send({
            kind: 'mistake',
            text: error instanceof Error ? (error.stack ?? error.message) : String(error),
          }),
      );
  });
  send({ kind: 'progress', share: 0 });
}
