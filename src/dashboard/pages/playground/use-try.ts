// Sends the playground's files and a request to the service while a person types, a moment after the last
// key. INVARIANT: an answer to older texts is never taken for the answer to the current ones.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { type CallOptions, call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { retryWhileBusy } from '../../api/retry-busy.ts';

export type TryBody = CallOptions<'tryPolicies'>['body'];
export type TryReply = Reply<'tryPolicies'>;

export interface TryState {
  /** The last answer, with the question that it answers. */
  readonly tried: { readonly of: TryBody; readonly answer: TryReply } | null;
  /** The last answer that holds a decision. */
  readonly decided: TryReply | null;
  /** Whether the answer is to the current texts. */
  readonly isOfNow: boolean;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State extends Pick<TryState, 'tried' | 'decided' | 'problem'> {
  /** Identifies the question of the last reply, whether answer or problem. */
  readonly key: string;
}

const pauseMs = 250;

/**
 * `version` identifies the active policies, which an answer also depends on. With null as the body, nothing
 * is asked.
 */
export function useTry(body: TryBody | null, version: string): TryState {
  const [state, setState] = useState<State>({ key: '', tried: null, decided: null, problem: null });
  const [turn, setTurn] = useState(0);
  const key = body === null ? '' : `${version} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (body === null) return;
    const controller = new AbortController();
    const wait = setTimeout(() => {
      const { signal } = controller;
      retryWhileBusy(() => call('tryPolicies', { body, signal }), signal).then(
        (answer) => {
          if (controller.signal.aborted) return;
          setState((before) => ({
            key,
            tried: { of: body, answer },
            problem: null,
            decided: answer.decision === null ? before.decided : answer,
          }));
        },
        (problem: unknown) => {
          if (controller.signal.aborted || !(problem instanceof ApiProblem)) return;
          setState((before) => ({ ...before, key, problem }));
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(wait);
      controller.abort();
    };
    // The key contains everything that the body holds.
  }, [key, turn]);
  return {
    tried: state.tried,
    decided: state.decided,
    problem: state.problem,
    isOfNow: state.key === key,
    retry: () => setTurn(turn + 1),
  };
}
