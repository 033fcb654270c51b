// The editor's worker: answers questions about a policy outside of the page's thread.

import {
  type AssistantContext,
  type AssistantQuestionKind,
  type AssistantQuestions,
  createPolicyAssistant,
} from '../../language/assist/policy-assistant.ts';

/** Messages from the page: the set, or a question with a number, which the answer repeats. */
export type ToThread =
  | { readonly set: AssistantContext }
  | {
      readonly id: number;
      readonly kind: AssistantQuestionKind;
      readonly input: AssistantQuestions[AssistantQuestionKind];
    };

export interface FromThread {
  readonly id: number;
  readonly answer: unknown;
}

const desk = createPolicyAssistant();

globalThis.addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  if ('set' in data) {
    desk.take(data.set);
    return;
  }
  const reply: FromThread = { id: data.id, answer: desk.answer(data.kind, data.input) };
  globalThis.postMessage(reply);
});
