// The vote that an address asks for.

import { useEffect } from 'preact/hooks';
import { useAddress } from '../../navigation/navigation.ts';
import type { VoteKind } from './draft.ts';

/**
 * Opens the vote of the address: the inbox and mails link to `#approve` and `#reject`, also while the page is
 * open.
 */
export function useVoteOfAddress(ask: (vote: VoteKind) => void): void {
  const { hash } = useAddress();
  useEffect(() => {
    if (hash === 'approve' || hash === 'reject') ask(hash);
  }, [hash]);
}
