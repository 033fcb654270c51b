// The start file of the language server's second thread. The thread answers one question at a time.

import { parentPort } from 'node:worker_threads';
import { createAnswers } from './answers.ts';
import type { FromThread, ThreadAnswers, ThreadQuestion, ThreadRequest } from './questions.ts';

if (parentPort === null) throw new Error('the analysis thread was started outside a worker thread');
const port = parentPort;
const send = (message: FromThread): void => port.postMessage(message);
const answers = createAnswers();

port.on('message', ({ question, input }: ThreadRequest) => {
  // Each question comes with its own arguments.
  const answering = answers[question] as (about: typeof input) => Promise<ThreadAnswers[ThreadQuestion]>;
  answering(input).then(
    (answer) => send({ kind: 'answer', answer }),
    (error: unknown) =>
      send({
        kind: 'mistake',
        text: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
send({ kind: 'ready' });
