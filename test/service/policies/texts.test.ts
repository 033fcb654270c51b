// The texts of a set come out unchanged, by the paths under which they were read, and nothing else comes out.

import { expect, it } from 'vitest';
import { entriesOf, packTexts, textOfFile } from '../../../src/service/policies/texts.ts';

const files = { 'b.policy': '# ü €\n', 'a/z.policy': '', 'c.policy': '\u{1f600}' };
const lists = { 'a/list.txt': 'x\u{feff}\n' } as Readonly<Record<string, string>>;

const texts = packTexts(
  {
    sources: {
      files: Object.entries(files).map(([path, text]) => ({ path, text })),
      readListFile: (path) =>
        lists[path] === undefined ? { code: 'list-file-missing', message: '' } : { text: lists[path] },
    },
  },
  ['a/list.txt', 'gone.txt'],
);

it('keeps every text that was read', () => {
  const found = entriesOf(texts).map((entry) => [entry.path, entry.kind, textOfFile(texts, entry)]);
  expect(found).toEqual([
    ['a/list.txt', 'list', lists['a/list.txt']],
    ['a/z.policy', 'policy', ''],
    ['b.policy', 'policy', files['b.policy']],
    ['c.policy', 'policy', files['c.policy']],
  ]);
});

it('cuts between characters', () => {
  const entry = entriesOf(texts).find(({ path }) => path === 'b.policy')!;
  expect([1, 2, 3, 4, 5].map((bytes) => textOfFile(texts, entry, bytes))).toEqual([
    '#',
    '# ',
    '# ',
    '# ü',
    '# ü ',
  ]);
});
