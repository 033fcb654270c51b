// The playground's worker: decides outside of the page's thread, so that typing never waits.

import { answerQuestion, type PlaygroundAnswer, type PlaygroundQuestion } from './decide.ts';

export interface ToPlayground {
  readonly id: number;
  readonly question: PlaygroundQuestion;
}

export interface FromPlayground {
  readonly id: number;
  readonly answer: PlaygroundAnswer;
}

globalThis.addEventListener('message', ({ data: { id, question } }: MessageEvent<ToPlayground>) => {
  const reply: FromPlayground = { id, answer: answerQuestion(question) };
  globalThis.postMessage(reply);
});
