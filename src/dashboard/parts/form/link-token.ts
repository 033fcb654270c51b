// Takes the secret of a link (`#token=...`) out of the address as soon as the page opens, so that it stays
// neither on the screen nor in the history. INVARIANT: the secret is held in memory alone.

import { useEffect, useState } from 'preact/hooks';
import { go, useAddress } from '../../navigation/navigation.ts';

/** Returns null when the address has no token. */
export function useLinkToken(): string | null {
  const { path, hash } = useAddress();
  const tokenInLink = new URLSearchParams(hash).get('token');
  const [token, setToken] = useState(tokenInLink);
  useEffect(() => {
    if (tokenInLink === null) return;
    setToken(tokenInLink);
    go(path, { replace: true });
  }, [tokenInLink, path]);
  return token;
}
