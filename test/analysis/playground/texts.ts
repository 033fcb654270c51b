// The texts of a set as the compiler would send them, for tests.

import { packTexts, type SetTexts } from '../../../src/service/policies/texts.ts';

/** Packs files, given by path; a file that is no policy is a list file. */
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
