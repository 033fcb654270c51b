// Turns the texts of a policy set into a file by which a program without a compiler can decide: the meaning of each
// declaration, as the digest of the set covers it, with the texts for people. INVARIANT: the meanings give the digest
// that the file is named after; texts that mean something else in this release are not exported.

import { findErrors } from '../../../pipeline.ts';
import type { BundledText } from '../compiled/bundle.ts';
import { digest, digestedSet } from '../digest.ts';
import { entriesOf, type SetTexts, textOfFile } from '../texts.ts';
import { sourcesOf } from './read-sources.ts';

/** Returns the file of the set with this digest, as JSON; null when the texts do not give this digest. */
export function exportedSet(texts: SetTexts, expected: string): string | null {
  const files = entriesOf(texts).map(
    (entry): BundledText => ({ path: entry.path, kind: entry.kind, text: textOfFile(texts, entry) }),
  );
  const { set } = findErrors(sourcesOf({ texts: files }).sources);
  if (set === null || digest(set) !== expected) return null;
  return `${JSON.stringify({ digest: expected, sections: digestedSet(set), texts: files })}\n`;
}
