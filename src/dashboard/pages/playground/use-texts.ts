// Loads the texts of the active policies that the playground needs, one after the other. Old texts stay until
// those of a new set arrive.

import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';

export interface FileText {
  readonly text: string;
  /** False for a long list of which only the beginning is known; such a list cannot be edited. */
  readonly isWhole: boolean;
  readonly digest: string;
}

export interface Texts {
  readonly byPath: ReadonlyMap<string, FileText>;
  readonly problem: ApiProblem | null;
  readonly retry: () => void;
}

export function useTexts(digest: string | null, paths: readonly string[]): Texts {
  const [byPath, setTexts] = useState<ReadonlyMap<string, FileText>>(new Map());
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [turn, setTurn] = useState(0);
  const missing = digest === null ? [] : paths.filter((path) => byPath.get(path)?.digest !== digest);
  const [next = null] = missing;
  useEffect(() => {
    if (next === null || digest === null) return;
    const controller = new AbortController();
    call('getPolicyFile', { query: { path: next }, signal: controller.signal }).then(
      ({ text, is_complete: isWhole }) => {
        setProblem(null);
        setTexts((before) => new Map(before).set(next, { text, isWhole, digest }));
      },
      (error: ApiProblem) => {
        if (!controller.signal.aborted) setProblem(error);
      },
    );
    return () => controller.abort();
  }, [next, digest, turn]);
  return { byPath, problem, retry: () => setTurn(turn + 1) };
}
