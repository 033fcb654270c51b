// No page, message or file tells people to install or run a package by a name that nobody has published: whoever
// takes such a name runs code on their machines. Paths of tarballs and `npx --no` are safe.

import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const name = String.raw`(?:@writ/[\w-]+|writ(?:-service|-[a-z]+)*)(?:@[\w.]+)?(?=[\s"'\`,)\]]|$)`;
const unsafe = [
  // `npx writ`, also as the words of a configuration; `--no` keeps npx from downloading.
  new RegExp(
    String.raw`\b(?:npx|bunx|npm exec|pnpm dlx|yarn dlx)(?:["'\s,]+-(?!-no\b)[\w-]+)*["'\s,]+(?:--["'\s,]+)?${name}`,
  ),
  new RegExp(String.raw`\b(?:npm|pnpm|yarn|bun) (?:i|install|add)\b[^\n\`]*?\s${name}`),
  new RegExp(String.raw`\b(?:pip|pip3|pipx|uv pip|cargo|gem|brew) install\b[^\n\`]*?\s${name}`),
];

const files = globSync(
  '{README.md,docs/**/*,src/**/*,integrations/**/*,examples/**/*,policies/**/*,bench/**/*,.github/**/*}',
  {
    exclude: ['**/node_modules/**', 'src/dashboard/dist/**', '**/package-lock.json', '**/*.{png,svg,db}'],
    withFileTypes: true,
  },
).filter((entry) => entry.isFile());

function unsafeLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => unsafe.some((form) => form.test(line)));
}

it('is kept by every file', () => {
  expect(files.length).toBeGreaterThan(1_000);
  const found = files.flatMap(({ parentPath, name: file }) =>
    unsafeLines(readFileSync(`${parentPath}/${file}`, 'utf8')).map(
      (line) => `${parentPath}/${file}: ${line}`,
    ),
  );
  expect(found).toEqual([]);
});

it.each([
  'npx writ init',
  '["npx", "writ", "lsp"]',
  'npx -y writ check',
  'npx --yes -- writ check',
  'npm exec writ',
  'npm i -D writ',
  'npm install --ignore-scripts writ@0.1.0 pg',
  'npm install ./writ-0.1.0.tgz writ-service',
  'pip install writ',
])('notices %s', (line) => expect(unsafeLines(line)).toEqual([line]));

it.each([
  'npx --no writ init',
  "['npx', '--no', 'writ', 'lsp']",
  'npm i -D ./build/writ-0.1.0.tgz',
  'npm install /path/to/writ',
  'npm install -g ./writ',
  'npm run writ -- check',
])('lets %s pass', (line) => expect(unsafeLines(line)).toEqual([]));
