// The editor's worker: answers questions about a policy outside of the page's thread.

import {
  createPolicyDesk,
  type DeskKind,
  type DeskQuestions,
  type DeskSet,
} from '../../language/assist/policy-desk.ts';

/** Messages from the page: the set, or a question with a number, which the answer repeats. */
export type ToThread =
  | { readonly set: DeskSet }
  | { readonly id: number; readonly kind: DeskKind; readonly asked: DeskQuestions[DeskKind] };

export interface FromThread {
  readonly id: number;
  readonly answer: unknown;
}

const desk = createPolicyDesk();

globalThis.addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  if ('set' in data) {
    desk.take(data.set);
    return;
  }
  const reply: FromThread = { id: data.id, answer: desk.answer(data.kind, data.asked) };
  globalThis.postMessage(reply);
});
