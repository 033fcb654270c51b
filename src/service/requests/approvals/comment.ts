// What people say about a request that waits, without deciding it: a comment, a question or an answer.
// INVARIANT: a comment does not change what the request waits for; its author is active and may answer for
// the request at the moment it is stored.

import { eventOf, lifecycleOf, type SaidKind } from '../record/request-state.ts';
import { type Changed, changeRequest, type DecisionsDeps } from './change-request.ts';
import { overAs } from './decide-now.ts';
import { mayComment } from './may.ts';
import { type Caller, isWithin } from './rights.ts';

export interface CommentDraft {
  readonly caller: Caller;
  readonly kind: SaidKind;
  readonly text: string;
}

export function comment(
  deps: DecisionsDeps,
  id: string,
  { caller, kind, text }: CommentDraft,
): Promise<Changed> {
  return changeRequest(deps, {
    id,
    asker: caller.id,
    judge: async ({ state, agent, people, nowMs }) => {
      const { id: person, email, who } = caller;
      if (!isWithin(caller.view, { person: caller, state, agent })) return { kind: 'unknown' };
      const over = overAs(state, 'reject', nowMs);
      if (over !== null) return over;
      const isTheirs = people.get(person)?.isActive === true && mayComment(state, caller, agent);
      if (!isTheirs) return { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
      if (kind === 'answer' && !state.said.some((one) => one.kind === 'question'))
        return { kind: 'conflict', detail: 'nobody has asked a question here' };
      return [
        eventOf('commented', { who, atMs: nowMs, state: lifecycleOf(state) }, { person, email, kind, text }),
      ];
    },
  });
}
