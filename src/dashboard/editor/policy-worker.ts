// The page's side of the editor's worker. INVARIANT: every question is answered; if the worker cannot start
// or has failed, by null, as when nothing is known.

import type {
  AssistantAnswers,
  AssistantContext,
  AssistantQuestionKind,
  AssistantQuestions,
} from '../../language/assist/policy-assistant.ts';
import type { FromThread, ToThread } from './policy-thread.ts';
import threadUrl from './policy-thread.ts?worker&url';
import { trustedScript } from './trusted-script.ts';

export interface PolicyWorker {
  take(set: AssistantContext): void;
  ask<Kind extends AssistantQuestionKind>(
    kind: Kind,
    input: AssistantQuestions[Kind],
  ): Promise<AssistantAnswers[Kind] | null>;
  close(): void;
}

export function openPolicyWorker(): PolicyWorker {
  const worker = new Worker(trustedScript(threadUrl), { type: 'module', name: 'policies' });
  const waiting = new Map<number, (answer: unknown) => void>();
  let [asked, isClosed] = [0, false];
  const close = (): void => {
    isClosed = true;
    worker.terminate();
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
  };
  worker.addEventListener('message', ({ data: { id, answer } }: MessageEvent<FromThread>) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  worker.addEventListener('error', close);
  const send = (message: ToThread): void => worker.postMessage(message);
  return {
    take: (set) => send({ set }),
    ask<Kind extends AssistantQuestionKind>(kind: Kind, question: AssistantQuestions[Kind]) {
      if (isClosed) return Promise.resolve(null);
      const id = asked++;
      return new Promise<AssistantAnswers[Kind] | null>((resolve) => {
        // The worker's answer has the kind of the question, so the type is right.
        waiting.set(id, (answer) => resolve(answer as AssistantAnswers[Kind] | null));
        send({ id, kind, input: question });
      });
    },
    close,
  };
}
