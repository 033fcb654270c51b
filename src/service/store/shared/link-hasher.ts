// Computes the hash of a record fast. INVARIANT: the hash equals that of `linkHash`, the definition, for every entry; a
// law holds them equal.

import { hash } from 'node:crypto';
import { type ChainEntry, longText } from '../contract/chain.ts';
import { createEntryText } from '../contract/entry-text.ts';

export function createLinkHasher(): (previousHash: string, entry: ChainEntry) => string {
  const textOf = createEntryText({ hasRecordJson: false });
  return (previousHash, entry) => hash('sha256', previousHash + textOf(entry) + longText(entry), 'hex');
}
