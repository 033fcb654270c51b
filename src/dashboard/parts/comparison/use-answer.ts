// The answer to a question that the service takes a while for, asked once for each key. INVARIANT: the answer to another
// question is never shown as the one to this.

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { askUntilFree } from '../../api/until-free.ts';

export interface Answering<Answer> {
  /** Null until it is there. */
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State<Answer> extends Pick<Answering<Answer>, 'answer' | 'problem'> {
  readonly key: string | null;
}

/** The key says all that is asked; with null nothing is. */
export function useAnswer<Answer>(
  asked: string | null,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Answering<Answer> {
  const [state, setState] = useState<State<Answer>>({ key: null, answer: null, problem: null });
  const [turn, setTurn] = useState(0);
  const key = asked === null ? null : `${turn} ${asked}`;
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    askUntilFree(() => ask(signal), signal).then(
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
