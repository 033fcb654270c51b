// As one types: the playground's files and a request put to the service, a moment after the last key. INVARIANT: an answer to
// older texts is never taken for the answer to the current ones.

import { useEffect, useState } from 'preact/hooks';
import { type CallOptions, call, type Reply } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';

export type TryBody = CallOptions<'tryPolicies'>['body'];
export type Tried = Reply<'tryPolicies'>;

export interface Trying {
  /** The last answer, of whatever was asked then. */
  readonly tried: { readonly of: TryBody; readonly answer: Tried } | null;
  /** The last answer that holds a decision. */
  readonly decided: Tried | null;
  /** Whether the answer is to the current texts. */
  readonly isOfNow: boolean;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State extends Pick<Trying, 'tried' | 'decided' | 'problem'> {
  /** What the last reply, answer or problem, is about. */
  readonly key: string;
}

const pauseMs = 250;
const busyPauseMs = 1_000;

/** `version` says what else an answer rests on: the set in force. Null as body asks nothing. */
export function useTry(body: TryBody | null, version: string): Trying {
  const [state, setState] = useState<State>({ key: '', tried: null, decided: null, problem: null });
  const [turn, setTurn] = useState(0);
  const key = body === null ? '' : `${version} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (body === null) return;
    const controller = new AbortController();
    const wait = setTimeout(() => {
      askUntilFree(body, controller.signal).then(
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
    // The key says all that the body holds.
  }, [key, turn]);
  return {
    tried: state.tried,
    decided: state.decided,
    problem: state.problem,
    isOfNow: state.key === key,
    retry: () => setTurn(turn + 1),
  };
}

/** Where too much is asked at once, it asks again a little later. */
async function askUntilFree(body: TryBody, signal: AbortSignal): Promise<Tried> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call('tryPolicies', { body, signal });
    } catch (error) {
      const isBusy = error instanceof ApiProblem && error.code === 'playground_busy';
      if (!isBusy || tries > 5 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    }
  }
}
