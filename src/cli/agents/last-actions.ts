// The actions of the policies that became active last, from the texts in the history: for commands on the store, which
// work while no service runs.

import { parse } from '../../language/syntax/parse.ts';
import { lastTexts } from '../../service/policies/policy-history.ts';
import { entriesOf, textOfFile } from '../../service/policies/texts.ts';
import type { DocumentStore } from '../../service/store/contract/documents.ts';

/** The keys of the actions; null when the texts are not kept. */
export async function lastActions(documents: DocumentStore): Promise<readonly string[] | null> {
  const texts = await lastTexts(documents);
  if (texts === null) return null;
  return entriesOf(texts)
    .filter(({ kind }) => kind === 'policy')
    .flatMap((entry) => parse({ path: entry.path, text: textOfFile(texts, entry) }).file.declarations)
    .flatMap((declaration) => (declaration.kind === 'action' ? declaration.keys : []))
    .map(({ text }) => text);
}
