// Turns a compiled set into the texts, program and facts that a bundle holds.

import type { CompiledProgram } from '../../../pipeline.ts';
import type { Bundle } from '../compiled/bundle.ts';
import type { ReadSources } from '../read-policies.ts';
import { servingFacts } from '../set-compiler.ts';
import { entriesOf, packTexts, textOfFile } from '../texts.ts';
import { sourcesOf } from './read-sources.ts';

export type BundleContents = Pick<Bundle, 'texts' | 'program' | 'facts'>;

/** Returns null for a set that has errors. */
export function bundleContents(
  read: ReadSources,
  { set, packed, listFiles }: Pick<CompiledProgram, 'set' | 'packed' | 'listFiles'>,
): BundleContents | null {
  if (set === null || packed === null) return null;
  const packedTexts = packTexts(read, listFiles);
  const texts = entriesOf(packedTexts).map((entry) => ({
    path: entry.path,
    kind: entry.kind,
    text: textOfFile(packedTexts, entry),
  }));
  const { titles, ...facts } = servingFacts(set);
  const content = { hash: sourcesOf({ texts }).contentHash(listFiles), listFiles };
  return { texts, program: packed, facts: { content, ...facts, titles: [...titles] } };
}
