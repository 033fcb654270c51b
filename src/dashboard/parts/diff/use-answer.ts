// Loads the answer to a question that takes the service a while, once for each key. INVARIANT: the answer to
// one question is never shown as the answer to another.

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { retryWhileBusy } from '../../api/retry-busy.ts';

export interface AnswerState<Answer> {
  /** Null until the answer arrives. */
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State<Answer> extends Pick<AnswerState<Answer>, 'answer' | 'problem'> {
  readonly key: string | null;
}

/** `asked` is a key that identifies the question; with null, nothing is asked. */
export function useAnswer<Answer>(
  question: string | null,
  ask: (signal: AbortSignal) => Promise<Answer>,
): AnswerState<Answer> {
  const [state, setState] = useState<State<Answer>>({ key: null, answer: null, problem: null });
  const [turn, setTurn] = useState(0);
  const key = question === null ? null : `${turn} ${question}`;
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    retryWhileBusy(() => ask(signal), signal).then(
      (answer) => {
        if (!signal.aborted) setState({ key, answer, problem: null });
      },
      (problem: unknown) => {
        if (!signal.aborted && problem instanceof ApiProblem) setState({ key, answer: null, problem });
      },
    );
    return () => controller.abort();
  }, [key]);
  const isOfNow = state.key === key;
  return {
    answer: isOfNow ? state.answer : null,
    problem: isOfNow ? state.problem : null,
    retry: () => setTurn(turn + 1),
  };
}
