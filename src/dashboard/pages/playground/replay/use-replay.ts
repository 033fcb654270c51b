// Lets the service try the copy on the recorded requests, on demand. INVARIANT: one run at a time, which ends
// with the page; an answer about another copy is marked as such.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../../api/operations.ts';
import { callLines } from '../../../api/client.ts';
import { ApiProblem, problemIn } from '../../../api/problem.ts';
import { retryWhileBusy } from '../../../api/retry-busy.ts';
import type { ChangedFiles } from '../../../parts/diff/use-diff.ts';

export type ReplayAnswer = NonNullable<Reply<'replayPolicies'>['answer']>;
export type ReplayResult = NonNullable<ReplayAnswer['replay']>;

export interface ReplayState {
  readonly days: number;
  readonly setDays: (days: number) => void;
  /** Share of the records that has been read, from 0 to 1; null when nothing is running. */
  readonly progress: number | null;
  /** The answer of the last run, whatever copy it was about. */
  readonly answer: ReplayAnswer | null;
  readonly problem: ApiProblem | null;
  /** Whether the answer is about this copy, these active policies and this number of days. */
  readonly isOfNow: boolean;
  readonly start: () => void;
  readonly cancel: () => void;
}

interface State extends Pick<ReplayState, 'progress' | 'answer' | 'problem'> {
  /** Identifies the days, the active policies and the copy of the run. */
  readonly key: string;
}

const nothing: State = { key: '', progress: null, answer: null, problem: null };

/** `version` identifies the active policies that the copy is laid over. */
export function useReplay(files: ChangedFiles, version: string): ReplayState {
  const [days, setDays] = useState(7);
  const [state, setState] = useState<State>(nothing);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const key = `${days} ${version} ${JSON.stringify(files)}`;
  const start = (): void => {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setState({ ...nothing, key, progress: 0 });
    const change = (to: Partial<State>): void => {
      if (!own.signal.aborted) setState((before) => ({ ...before, ...to }));
    };
    const body = { files, days };
    run(body, own.signal, change).catch((problem: unknown) => {
      change({ progress: null, problem: problem instanceof ApiProblem ? problem : null });
    });
  };
  return {
    days,
    setDays,
    ...state,
    isOfNow: state.key === key,
    start,
    cancel: () => {
      controller.current?.abort();
      setState(nothing);
    },
  };
}

interface ReplayBody {
  readonly files: ChangedFiles;
  readonly days: number;
}

async function run(
  body: ReplayBody,
  signal: AbortSignal,
  change: (to: Partial<State>) => void,
): Promise<void> {
  let isDone = false;
  const hear = ({ progress, answer, problem }: Reply<'replayPolicies'>): void => {
    if (progress !== undefined) change({ progress });
    if (problem !== undefined) throw problemIn(problem, problem.status);
    if (answer === undefined) return;
    isDone = true;
    change({ progress: null, answer });
  };
  await retryWhileBusy(() => callLines('replayPolicies', { body, signal }, hear), signal);
  // The reply was cut off before its last line.
  if (!isDone) throw problemIn(null, 502);
}
