// The entry point on a Node that is too old.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { type Ran, writProcess } from './writ.ts';

const repository = join(import.meta.dirname, '../..');

/**
 * Runs a package with only the entry point, beside a main.ts that reports how it was run. A preload makes
 * this Node look old, in the first process or in every process.
 */
async function runOnOldNode(options: {
  readonly bundled: boolean;
  readonly isOldEverywhere?: boolean;
}): Promise<Ran> {
  const folder = createFolder({
    'package.json': '{"type": "module"}',
    'src/cli/main.ts':
      "export async function main(args: readonly string[]): Promise<number> {\n  console.log(JSON.stringify([args, process.env['WRIT_NODE_CHOSEN'] ?? null]));\n  return 5;\n}\n",
    'old.cjs':
      "if (process.env.OLD === 'always' || !process.env.WRIT_NODE_CHOSEN) Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });\n",
  });
  cpSync(join(repository, 'src/cli/writ.js'), join(folder, 'src/cli/writ.js'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  if (options.bundled) symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
  writeFileSync(join(folder, 'empty'), '');
  return writProcess(['a', '--b'], {
    entry: join(folder, 'src/cli/writ.js'),
    env: {
      NODE_OPTIONS: `--require ${join(folder, 'old.cjs')}`,
      OLD: options.isOldEverywhere === true ? 'always' : 'first',
    },
  });
}

it('goes on with the bundled Node where this one is too old, and leaves no trace in its environment', async () => {
  const { code, stdout, stderr } = await runOnOldNode({ bundled: true });
  expect(stderr).toBe('');
  expect([code, JSON.parse(stdout)]).toEqual([5, [['a', '--b'], null]]);
});

it('says in one line what is needed where there is no other Node', async () => {
  const { code, stdout, stderr } = await runOnOldNode({ bundled: false });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^writ needs Node 22\.18 or later, this is 20\.1\.0 \(.+\)\n$/);
});

it('does not start itself again and again', async () => {
  const { code, stderr } = await runOnOldNode({ bundled: true, isOldEverywhere: true });
  expect(code).toBe(1);
  expect(stderr.match(/needs Node/g)).toHaveLength(1);
});
