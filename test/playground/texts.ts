// Texts of a set as the compiler would send them, for tests.

import { packTexts, type SetTexts } from '../../src/service/policies/texts.ts';

/** Files by path; those that are no policies are list files. */
export function textsOf(files: Readonly<Record<string, string>>): SetTexts {
  const entries = Object.entries(files);
  const policies = entries.filter(([path]) => path.endsWith('.policy'));
  const lists = entries.flatMap(([path]) => (path.endsWith('.policy') ? [] : [path]));
  return packTexts(
    {
      sources: {
        files: policies.map(([path, text]) => ({ path, text })),
        readListFile: (path) => ({ text: files[path] ?? '' }),
      },
    },
    lists,
  );
}
