// The editor's worker for questions about policies, supplied with the files and the vocabulary of the
// playground.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PolicyAnswers } from '../../editor/editor.ts';
import { openPolicyWorker, type PolicyWorker } from '../../editor/policy-worker.ts';
import type { PlaygroundState } from './use-playground.ts';

/** Null until the worker is ready; a new object when other files or words are known. */
export function usePolicyWorker(playground: PlaygroundState, path: string): PolicyAnswers | null {
  const [worker, setWorker] = useState<PolicyWorker | null>(null);
  useEffect(() => {
    const opened = openPolicyWorker();
    setWorker(opened);
    return opened.close;
  }, []);
  const { vocabulary, changes, texts, paths, textOf } = playground;
  // Each question carries the text of the open file, so its changes need not be sent.
  const others = JSON.stringify(changes.filter((change) => change.path !== path));
  return useMemo(() => {
    if (worker === null || vocabulary === null) return null;
    const files = paths
      .filter((one) => one.endsWith('.policy'))
      .flatMap((one) => {
        const text = textOf(one);
        return text === null ? [] : [{ path: one, text }];
      });
    worker.take({ words: vocabulary, files });
    return {
      complete: (text, at, isAsked) => worker.ask('complete', { path, text, at, isAsked }),
      colours: (text) => worker.ask('colours', { path, text }),
      hover: (text, at) => worker.ask('hover', { path, text, at }),
      format: (text) => worker.ask('format', { path, text }),
    };
  }, [worker, vocabulary, path, others, texts.byPath]);
}
