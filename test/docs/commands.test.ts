// Everything that the pages tell people to type exists: each `writ` command with its options, compared with
// the completion script for shells; each script of `npm run`; each error code in the pages.

import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { completionTable } from '../cli/help-walk.ts';
import { writ } from '../cli/writ.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('{docs,policies,examples,bench}/**/*.md', { exclude: ['**/node_modules/**'] }),
].filter((page) => !page.includes('node_modules') && !page.startsWith('docs/diagnostics/'));

/**
 * The words after `writ` wherever somebody would type it: in fenced blocks of commands, and between
 * backticks.
 */
function commandLines(text: string): readonly string[] {
  const fenced = [...text.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => line.replace(/^\$ /, '').replace(/ # .*/, '').split(' && '))
      .filter((line) => !line.startsWith(' ')),
  );
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code = '']) => code,
  );
  const typed = /^(?:(?:npx --no|npm run(?: -s)?) )?writ (?:-- )?(.+)$/;
  return [...fenced, ...inline].flatMap((line) => typed.exec(line)?.[1] ?? []);
}

it('are commands and options that there are', async () => {
  const { stdout } = await writ(['completion', 'bash']);
  const [commands, options] = [
    completionTable(stdout, '_writ_commands'),
    completionTable(stdout, '_writ_options'),
  ];
  const unknown: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const line of commandLines(readFileSync(page, 'utf8'))) {
      const [typedWords = ''] = line.split(' -- ');
      const before = typedWords.replace(/'[^']*'|"[^"]*"/g, 'TEXT');
      const words = before.split(' ');
      let path = 'writ';
      for (const word of words) if (commands.get(path)?.includes(word)) path += ` ${word}`;
      const first = (words[0] ?? '').split('|')[0] ?? '';
      const isKnown = path !== 'writ' || first.startsWith('-') || !/^[a-z]/.test(first);
      const given = before.match(/(?<=^|\s|\[)--[\w-]+/g) ?? [];
      // `writ mcp` is short for `writ mcp run`.
      const there = [path, `${path} run`].flatMap((one) => options.get(one) ?? []);
      const strange = given.filter((one) => !there.includes(one));
      count += 1;
      if (!isKnown || strange.length > 0) unknown.push(`${page}: writ ${line}`);
    }
  }
  expect(unknown).toEqual([]);
  expect(count).toBeGreaterThan(150);
});

it('are scripts of the package', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  const named = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => [
      page,
      name,
    ]),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(([, name = '']) => !Object.hasOwn(scripts, name))).toEqual([]);
});

it('are scripts that CONTRIBUTING.md explains, all of them', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  const rows = readFileSync('CONTRIBUTING.md', 'utf8').matchAll(
    /^\| `npm (?:run )?([\w:-]+)` \| .{10,} \|$/gm,
  );
  expect([...rows].map(([, name = '']) => name).toSorted()).toEqual(Object.keys(scripts).toSorted());
});

it('are codes that have a page', () => {
  const known = new Set(globSync('docs/errors/*.md').map((path) => basename(path, '.md')));
  const text = readFileSync('docs/TROUBLESHOOTING.md', 'utf8');
  const named = [...text.matchAll(/`(?:\d{3} )?([a-z]+(?:_[a-z]+)+)`/g)].map(([, code = '']) => code);
  const notCodes = ['default_deny', 'invalid_payload', 'undeclared_action', 'public_url', 'trusted_proxies'];
  expect(named.length).toBeGreaterThan(10);
  expect(
    named.filter((code) => !known.has(code) && !notCodes.includes(code) && !code.startsWith('writ_')),
  ).toEqual([]);
});
