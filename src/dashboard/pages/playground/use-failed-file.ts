// Loads the text of a file that failed to become active into the playground, when the address asks for it.
// INVARIANT: a copy that the playground already has is not changed.

import { useEffect } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { showToast } from '../../parts/layout/toast.tsx';
import type { Change } from './draft-files.ts';

export function useFailedFile(changes: readonly Change[], onText: (change: Change) => void): void {
  const { query } = useAddress();
  const path = query.get('take') === 'failed' ? query.get('file') : null;
  useEffect(() => {
    if (path === null) return;
    const done = (word: string): void => {
      setQuery({ take: null }, { replace: true });
      showToast(word);
    };
    if (changes.some((change) => change.path === path))
      return done('Your own copy of this file stays; discard it to fix the failed one');
    const controller = new AbortController();
    call('getPolicyFile', { query: { path, set: 'failed' }, signal: controller.signal }).then(
      ({ text }) => {
        onText({ path, text });
        done('This is the text that failed to load');
      },
      () => {
        if (!controller.signal.aborted) done('The text that failed to load no longer exists');
      },
    );
    return () => controller.abort();
  }, [path]);
}
