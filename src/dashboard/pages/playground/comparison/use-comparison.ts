// The copy compared with the set in force by the service, once for each copy. INVARIANT: an answer about another copy is
// never shown as one about this.

import { useEffect, useState } from 'preact/hooks';
import { type CallOptions, call, type Reply } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { askUntilFree } from '../../../api/until-free.ts';

export type ComparedFiles = CallOptions<'comparePolicies'>['body']['files'];
export type Compared = Reply<'comparePolicies'>;

export interface Comparing {
  /** Null until it is there. */
  readonly compared: Compared | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

interface State extends Pick<Comparing, 'compared' | 'problem'> {
  /** What was compared. */
  readonly key: string;
}

/** `version` says what the copy is compared with: the set in force. */
export function useComparison(files: ComparedFiles, version: string): Comparing {
  const [state, setState] = useState<State>({ key: '', compared: null, problem: null });
  const [turn, setTurn] = useState(0);
  const key = `${turn} ${version} ${JSON.stringify(files)}`;
  useEffect(() => {
    if (files.length === 0) return;
    const controller = new AbortController();
    const { signal } = controller;
    askUntilFree(() => call('comparePolicies', { body: { files }, signal }), signal).then(
      (compared) => {
        if (!signal.aborted) setState({ key, compared, problem: null });
      },
      (problem: unknown) => {
        if (!signal.aborted && problem instanceof ApiProblem) setState({ key, compared: null, problem });
      },
    );
    return () => controller.abort();
    // The key says all that is sent.
  }, [key]);
  const isOfNow = state.key === key;
  return {
    compared: isOfNow ? state.compared : null,
    problem: isOfNow ? state.problem : null,
    retry: () => setTurn(turn + 1),
  };
}
