// The playground's thread: answers one question at a time by the texts that it was given. What it throws is a mistake
// of ours, after which it begins with an empty memory.

import type { MessagePort } from 'node:worker_threads';
import { createDesk, type Desk } from './desk.ts';
import { explainRecord } from './explain-record.ts';
import { outlineOf } from './outline.ts';
import type {
  AskPlayground,
  FromPlayground,
  PlaygroundAnswers,
  PlaygroundAsk,
  Question,
  ToPlayground,
} from './questions.ts';
import { tryRequest } from './try-request.ts';
import { vocabularyOf } from './vocabulary.ts';

type Answering = { readonly [Q in Question]: (desk: Desk, asked: PlaygroundAsk[Q]) => PlaygroundAnswers[Q] };

const answering: Answering = {
  try: (desk, { files, request }) => tryRequest(desk.lay(files), request),
  outline: (_desk, file) => outlineOf(file),
  vocabulary: (desk) => {
    const { policies, trees } = desk.lay([]);
    if (policies === null) throw new Error('the set in force compiles');
    return vocabularyOf(policies.set, trees);
  },
  explain: (desk, record) => explainRecord(desk.lay([]), record),
};

/** Works until the thread is terminated. `before` hears of each question: tests make it fail. */
export function servePlayground(
  port: MessagePort,
  before: (question: AskPlayground) => void = () => undefined,
): void {
  const send = (message: FromPlayground): void => port.postMessage(message);
  let desk: Desk = createDesk();
  function answer<Q extends Question>({ question, asked }: AskPlayground<Q>): PlaygroundAnswers[Q] {
    return answering[question](desk, asked);
  }
  port.on('message', (message: ToPlayground) => {
    try {
      if (message.kind === 'take') {
        desk.take(message.texts);
        desk.lay([]);
        send({ kind: 'ready' });
      } else {
        before(message);
        send({ kind: 'answer', answer: answer(message) });
      }
    } catch (error) {
      // What it remembers may be half of something.
      desk = createDesk();
      send({
        kind: 'mistake',
        text: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  });
  send({ kind: 'ready' });
}
