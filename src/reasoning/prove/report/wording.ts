// What keeps a claim from being decided, in words.

import type { Why } from '../prove.ts';

export const whyUndecided: Readonly<Record<Why, string>> = {
  'guessed conditions': 'it turns on what is not followed through',
  'long lists': 'proved for short lists only; a longer one might decide otherwise',
  'many digits': 'numbers with so many digits that this has no exact answer might decide otherwise',
  'huge payloads': 'a payload so large that this is unknown might decide otherwise',
  'too much search': 'the search took too long',
};
