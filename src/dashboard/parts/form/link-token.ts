// The secret of a link (`#token=...`): taken out of the address as soon as the page is there, so that it stays neither on
// the screen nor in the history. INVARIANT: it is held in memory alone.

import { useEffect, useState } from 'preact/hooks';
import { go, usePlace } from '../../navigation/navigation.ts';

/** Null where the address had none. */
export function useLinkToken(): string | null {
  const { path, hash } = usePlace();
  const found = new URLSearchParams(hash).get('token');
  const [token, setToken] = useState(found);
  useEffect(() => {
    if (found === null) return;
    setToken(found);
    go(path, { replace: true });
  }, [found, path]);
  return token;
}
