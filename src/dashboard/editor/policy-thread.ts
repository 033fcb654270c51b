// The worker of the editor: answers what it asks of a policy, away from the page's thread.

import {
  createPolicyDesk,
  type DeskKind,
  type DeskQuestions,
  type DeskSet,
} from '../../language/assist/policy-desk.ts';

/** What the page sends: the set, or a question that is answered by its number. */
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
