// The policies of a demo as they were when its week began, and the change that made them what they are: the history and the
// comparison of sets have something to show.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Edit {
  readonly before: string;
  readonly after: string;
}

/** Of the payments: one person was asked, and from 2,500 USD on. */
const edits: readonly Edit[] = [
  { before: 'to finance needs 2 within 4h', after: 'to finance within 4h' },
  { before: 'payload.amount > 1_000 USD', after: 'payload.amount > 2_500 USD' },
  {
    before: 'Payments over 1,000 USD need two people from finance',
    after: 'Payments over 2,500 USD need somebody from finance',
  },
];

/** Lays the earlier text over that of the directory. Returns what puts the later one back. */
export function layEarlierPolicies(directory: string): () => void {
  const file = join(directory, 'payments', 'payments.policy');
  const shipped = readFileSync(file, 'utf8');
  const earlier = edits.reduce((text, { before, after }) => {
    if (!text.includes(before)) throw new Error(`${file} does not say \`${before}\``);
    return text.replace(before, after);
  }, shipped);
  writeFileSync(file, earlier);
  return () => writeFileSync(file, shipped);
}
