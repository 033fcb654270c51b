// Gives the policies of a demo an earlier state at the start of its week, and the change to their present
// one, so that the history and the comparison of sets have something to show.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Edit {
  readonly before: string;
  readonly after: string;
}

/**
 * Edits that turn the shipped payments policy into the earlier one, which asked a single person, and only
 * from 2,500 USD on.
 */
const edits: readonly Edit[] = [
  { before: 'to finance needs 2 within 4h', after: 'to finance within 4h' },
  { before: 'payload.amount > small_limit', after: 'payload.amount > 2_500 USD' },
  {
    before: 'Payments over {small_limit} need two people from finance',
    after: 'Payments over 2,500 USD need somebody from finance',
  },
];

/**
 * Writes the earlier text into the directory. Returns a function that writes the present text back. Somebody who
 * tries the language may have edited the policies of a checkout: an edit that no longer fits is left out.
 */
export function writePreviousPolicies(directory: string): () => void {
  const file = join(directory, 'payments', 'payments.policy');
  const shipped = readFileSync(file, 'utf8');
  const earlier = edits.reduce((text, { before, after }) => text.replace(before, after), shipped);
  writeFileSync(file, earlier);
  return () => writeFileSync(file, shipped);
}
