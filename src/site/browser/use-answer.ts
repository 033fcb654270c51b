// Asks the playground's worker while a person types. INVARIANT: only the answer to the latest question is shown.

import { useEffect, useState } from 'preact/hooks';
import { trustedScript } from '../../dashboard/editor/trusted-script.ts';
import type { PlaygroundAnswer, PlaygroundQuestion } from './decide.ts';
import type { FromPlayground, ToPlayground } from './playground-thread.ts';
import threadUrl from './playground-thread.ts?worker&url';

export interface AnswerState {
  /** The last answer, with its question. */
  readonly last: { readonly question: PlaygroundQuestion; readonly answer: PlaygroundAnswer } | null;
  readonly hasFailed: boolean;
}

const pauseMs = 150;

export function useAnswer(question: PlaygroundQuestion): AnswerState {
  const [worker, setWorker] = useState<Worker | null>(null);
  const [state, setState] = useState<AnswerState>({ last: null, hasFailed: false });
  const key = JSON.stringify(question);
  useEffect(() => {
    const opened = new Worker(trustedScript(threadUrl), { type: 'module', name: 'playground' });
    opened.addEventListener('error', () => setState((before) => ({ ...before, hasFailed: true })));
    setWorker(opened);
    return () => opened.terminate();
  }, []);
  useEffect(() => {
    if (worker === null) return;
    const id = Math.random();
    const take = ({ data }: MessageEvent<FromPlayground>): void => {
      if (data.id === id) setState({ last: { question, answer: data.answer }, hasFailed: false });
    };
    worker.addEventListener('message', take);
    const timer = setTimeout(() => {
      const message: ToPlayground = { id, question };
      worker.postMessage(message);
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      worker.removeEventListener('message', take);
    };
    // The key contains everything that the question holds.
  }, [worker, key]);
  return state;
}
