// The thread of one replay: it is given what to try, tells how far it is, and ends with an answer or a mistake of ours.

import type { MessagePort } from 'node:worker_threads';
import { type ReplayAsk, type ReplayedFiles, replayLaid } from './replay-laid.ts';

export type FromReplay =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'answer'; readonly answer: ReplayedFiles }
  | { readonly kind: 'mistake'; readonly text: string };

/** Finer steps than anybody can see. */
const shareStep = 0.005;

/** `before` hears of each question: tests make it fail. */
export function serveReplay(port: MessagePort, before: (ask: ReplayAsk) => void = () => undefined): void {
  const send = (message: FromReplay): void => port.postMessage(message);
  port.on('message', (ask: ReplayAsk) => {
    let told = -1;
    const onProgress = (share: number): void => {
      if (share < told + shareStep) return;
      told = share;
      send({ kind: 'progress', share });
    };
    // A mistake is the same whenever it is made.
    Promise.resolve(ask)
      .then((asked) => {
        before(asked);
        return replayLaid(asked, onProgress);
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
