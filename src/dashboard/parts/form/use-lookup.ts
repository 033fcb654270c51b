// Looks up the object of a secret link once. Only the component keeps the secret.

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';

export interface Lookup<Data> {
  /** Null until the answer arrives. */
  readonly data: Data | null;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

/** Looks once, and again when `retry` is called. */
export function useLookup<Data>(find: () => Promise<Data>): Lookup<Data> {
  const [state, setState] = useState<Pick<Lookup<Data>, 'data' | 'problem'>>(nothingYet);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    setState(nothingYet);
    find().then(
      (data) => isWanted && setState({ data, problem: null }),
      (problem: unknown) => {
        if (isWanted && problem instanceof ApiProblem) setState({ data: null, problem });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [tries]);
  return { ...state, retry: () => setTries(tries + 1) };
}

const nothingYet = { data: null, problem: null };
