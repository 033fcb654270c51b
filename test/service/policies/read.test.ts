// Reading policy directories from real folders: which files are read, which are refused, and that none is
// silently ignored.

import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileToProgram, createCompileCache, findErrors } from '../../../src/pipeline.ts';
import {
  listBytesMax,
  policyBytesMax,
  readPaths,
  readPolicies,
  scanDirectory,
} from '../../../src/service/policies/read-policies.ts';
import { createFolder, writeFiles } from './folder.ts';

async function codesOf(folder: string): Promise<readonly string[]> {
  return (await readPolicies(folder)).diagnostics.map(({ code, span }) => `${code} ${span.file}`);
}

async function pathsOf(folder: string): Promise<readonly string[]> {
  const { sources, diagnostics } = await readPolicies(folder);
  expect(diagnostics).toEqual([]);
  return sources.files.map(({ path }) => path);
}

describe('readPolicies', () => {
  it('tells of names that look like those of policy files and are not read', async () => {
    const folder = createFolder({
      'a.policy': 'group g',
      'a.policy~': '',
      'b.Policy': '',
      'c.POLICY': '',
      'd.policy.txt': '',
      'sub/e.policy.bak': '',
      '.f.policy': '',
      '#g.policy#': '',
      'h.policy ': '',
      'j.policy.disabled': '',
      'no.txt': '',
      'policy.md': '',
      'a.policy.md': '',
      'a.policy.test.yaml': '',
      'k.policyholder': '',
      '.a.policy.swp': '',
      policy: '',
      '.hidden/x.policy': '',
    });
    symlinkSync('nowhere', join(folder, '.#a.policy'));
    const { notRead, sources, diagnostics } = await readPolicies(folder);
    const likely = ['#g.policy#', '.f.policy', 'a.policy~', 'b.Policy', 'c.POLICY', 'd.policy.txt'];
    expect(notRead.map(({ span }) => span.file)).toEqual([
      ...likely,
      ...['h.policy ', 'j.policy.disabled', 'sub/e.policy.bak'],
    ]);
    expect(new Set(notRead.map(({ code, severity }) => `${severity} ${code}`))).toEqual(
      new Set(['warning file-not-read']),
    );
    expect(sources.files.map(({ path }) => path)).toEqual(['a.policy']);
    expect(diagnostics).toEqual([]);
    expect((await readPaths([folder])).notRead).toEqual(notRead);
  });

  it('notices when such a name comes or goes', async () => {
    const folder = createFolder({ 'a.policy': 'group g' });
    const before = (await scanDirectory(folder, [])).mark;
    writeFiles(folder, { 'a.policy.bak': '' });
    expect((await scanDirectory(folder, [])).mark).not.toBe(before);
  });

  it('tells of a loop of links that is named like a policy file', async () => {
    const folder = createFolder({ 'a.policy': 'group g' });
    symlinkSync('loop.policy', join(folder, 'loop.policy'));
    expect(await codesOf(folder)).toEqual(['file-unreadable loop.policy']);
  });

  it.each(['', '\n', '# the guards stood here\n', '\ufeff'])(
    'takes no set with a file that declares nothing: %j',
    async (text) => {
      const folder = createFolder({ 'a.policy': 'action a.b {}\n', 'guards.policy': text });
      for (const read of [await readPolicies(folder), await readPaths([folder])]) {
        const { set, diagnostics } = compileToProgram(read.sources, createCompileCache(), findErrors);
        expect(set).toBeNull();
        expect(diagnostics.map(({ code, span }) => `${code} ${span.file}`)).toEqual([
          'file-empty guards.policy',
        ]);
      }
    },
  );

  it('reads every policy file under the directory, sorted, and no other file', async () => {
    const folder = createFolder({
      'b.policy': '# b',
      'sub/deep/a.policy': '# a',
      'a.test.yaml': '',
      '.hidden/x.policy': '',
      '.x.policy': '',
      'node_modules/x.policy': '',
      'lists/x.txt': '',
    });
    const { sources } = await readPolicies(folder);
    expect(sources.files).toEqual([
      { path: 'b.policy', text: '# b' },
      { path: 'sub/deep/a.policy', text: '# a' },
    ]);
  });

  it('follows links inside the directory, as a ConfigMap lays them', async () => {
    const folder = createFolder({ '..2026_01/a.policy': '# one', '..2026_01/sub/b.policy': '# two' });
    symlinkSync('..2026_01', join(folder, '..data'));
    symlinkSync('..data/a.policy', join(folder, 'a.policy'));
    symlinkSync('..data/sub', join(folder, 'sub'));
    expect(await pathsOf(folder)).toEqual(['a.policy', 'sub/b.policy']);
  });

  it('may itself be reached through a link', async () => {
    const folder = createFolder({ 'v1/a.policy': '' });
    symlinkSync('v1', join(folder, 'current'));
    expect(await pathsOf(join(folder, 'current'))).toEqual(['a.policy']);
  });

  it('does not run round in circles', async () => {
    const folder = createFolder({ 'sub/a.policy': '' });
    symlinkSync('..', join(folder, 'sub/up'));
    expect(await pathsOf(folder)).toEqual(['sub/a.policy']);
  });

  it('refuses links that lead out of the directory, of files and of folders', async () => {
    const outside = createFolder({ 'a.policy': '', 'sub/b.policy': '' });
    const folder = createFolder({ 'c.policy': '' });
    symlinkSync(join(outside, 'a.policy'), join(folder, 'a.policy'));
    symlinkSync(join(outside, 'sub'), join(folder, 'sub'));
    expect(await codesOf(folder)).toEqual(['file-outside a.policy', 'file-outside sub']);
  });

  it('reports unreadable files with the reason', async () => {
    const folder = createFolder({ 'latin.policy': Buffer.from([0x23, 0xe9]), 'fine.policy': '' });
    symlinkSync('gone', join(folder, 'dangling.policy'));
    symlinkSync('gone', join(folder, 'irrelevant'));
    mkdirSync(join(folder, 'folder.policy'));
    writeFileSync(join(folder, 'large.policy'), '');
    truncateSync(join(folder, 'large.policy'), policyBytesMax + 1);
    expect(await codesOf(folder)).toEqual([
      'file-unreadable dangling.policy',
      'file-too-large large.policy',
      'file-not-utf8 latin.policy',
    ]);
  });

  it('never passes over a folder that stays closed: it may hide guards', async () => {
    const folder = createFolder({ 'a.policy': '' });
    symlinkSync('closed', join(folder, 'closed'));
    expect(await codesOf(folder)).toEqual(['file-unreadable closed']);
  });

  it('accepts a file of exactly the maximum size', async () => {
    const folder = createFolder({ 'a.policy': '#'.repeat(policyBytesMax) });
    expect(await pathsOf(folder)).toEqual(['a.policy']);
  });

  it('has a diagnostic for a directory without policies, one that is not there, and one that is a file', async () => {
    const folder = createFolder({ file: '' });
    expect(await codesOf(folder)).toEqual(['no-policy-files ']);
    expect(await codesOf(join(folder, 'gone'))).toEqual(['directory-unreadable ']);
    expect(await codesOf(join(folder, 'file'))).toEqual(['directory-unreadable ']);
  });

  it('drops a byte order mark', async () => {
    const { sources } = await readPolicies(createFolder({ 'a.policy': '\ufeff# a' }));
    expect(sources.files[0]?.text).toBe('# a');
  });
});

describe('list files', () => {
  async function readList(folder: string, path: string): Promise<string> {
    const { sources } = await readPolicies(folder);
    const list = sources.readListFile(path);
    return 'text' in list ? `text ${list.text}` : list.code;
  }

  it('are read by their path in the directory, through links that stay inside', async () => {
    const folder = createFolder({ 'a.policy': '', 'lists/x.txt': 'one\ntwo\n' });
    symlinkSync('x.txt', join(folder, 'lists/y.txt'));
    expect(await readList(folder, 'lists/x.txt')).toBe('text one\ntwo\n');
    expect(await readList(folder, 'lists/y.txt')).toBe('text one\ntwo\n');
  });

  it('may not lie outside, whatever way leads there', async () => {
    const outside = createFolder({ 'secret.txt': 'secret' });
    const folder = createFolder({ 'a.policy': '' });
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'));
    symlinkSync(outside, join(folder, 'lists'));
    expect(await readList(folder, 'link.txt')).toBe('list-file-outside');
    expect(await readList(folder, 'lists/secret.txt')).toBe('list-file-outside');
    expect(await readList(folder, '../secret.txt')).toBe('list-file-outside');
    expect(await readList(folder, join(outside, 'secret.txt'))).toBe('list-file-outside');
  });

  it('say why they cannot be read', async () => {
    const folder = createFolder({
      'a.policy': '',
      'large.txt': '',
      'latin.txt': Buffer.from([0xe9]),
      'd/x': '',
    });
    truncateSync(join(folder, 'large.txt'), listBytesMax + 1);
    expect(await readList(folder, 'gone.txt')).toBe('list-file-missing');
    expect(await readList(folder, 'a.policy/x.txt')).toBe('list-file-missing');
    expect(await readList(folder, 'large.txt')).toBe('list-file-too-large');
    expect(await readList(folder, 'latin.txt')).toBe('list-file-unreadable');
    expect(await readList(folder, 'd')).toBe('list-file-unreadable');
  });

  it('are read once, so that all stages see the same', async () => {
    const folder = createFolder({ 'a.policy': '', 'x.txt': 'before' });
    const { sources } = await readPolicies(folder);
    expect(sources.readListFile('x.txt')).toEqual({ text: 'before' });
    writeFiles(folder, { 'x.txt': 'after' });
    expect(sources.readListFile('x.txt')).toEqual({ text: 'before' });
  });
});

describe('readPaths', () => {
  it('accepts files and directories, and names them from their common folder', async () => {
    const folder = createFolder({
      'one/a.policy': '',
      'one/b.policy': '',
      'two/c.policy': '',
      'three/d.policy': '',
    });
    const { sources, diagnostics } = await readPaths([join(folder, 'one/a.policy'), join(folder, 'two')]);
    expect(diagnostics).toEqual([]);
    expect(sources.files.map(({ path }) => path)).toEqual(['one/a.policy', 'two/c.policy']);
  });

  it('accepts a single file with the lists beside it', async () => {
    const folder = createFolder({ 'a.policy': '', 'b.policy': '', 'lists/x.txt': 'x' });
    const { sources } = await readPaths([join(folder, 'a.policy'), join(folder, 'a.policy')]);
    expect(sources.files.map(({ path }) => path)).toEqual(['a.policy']);
    expect(sources.readListFile('lists/x.txt')).toEqual({ text: 'x' });
  });

  it('reports missing paths', async () => {
    const path = join(createFolder(), 'gone.policy');
    const { diagnostics } = await readPaths([path]);
    expect(diagnostics.map(({ code, span }) => [code, span.file])).toEqual([['file-unreadable', path]]);
  });
});

describe('contentHash and look', () => {
  it('tell every change of content, and only that', async () => {
    const folder = createFolder({ 'a.policy': '# a', 'x.txt': 'x' });
    const hash = async (): Promise<string> => (await readPolicies(folder)).contentHash(['x.txt']);
    const first = await hash();
    writeFiles(folder, { 'a.policy': '# a' });
    expect(await hash()).toBe(first);
    const seen = new Set([first]);
    const changes = [
      () => writeFiles(folder, { 'a.policy': '# b' }),
      () => writeFiles(folder, { 'x.txt': 'y' }),
      () => rmSync(join(folder, 'x.txt')),
      () => renameSync(join(folder, 'a.policy'), join(folder, 'b.policy')),
      () => rmSync(folder, { recursive: true }),
    ];
    for (const change of changes) {
      change();
      seen.add(await hash());
    }
    expect(seen.size).toBe(changes.length + 1);
  });

  it('has another mark after each write, replacement and flip of a link', async () => {
    const folder = createFolder({ 'v1/a.policy': '# 1', 'v2/a.policy': '# 1', 'v1/x.txt': '' });
    symlinkSync('v1', join(folder, 'current'));
    const current = join(folder, 'current');
    const markOf = async (folder: string) => (await scanDirectory(folder, ['x.txt'])).mark;
    const seen = new Set([await markOf(current)]);
    expect(await markOf(current)).toBe([...seen][0]);
    const changes = [
      () => writeFiles(current, { 'a.policy': '# 2' }),
      () => writeFiles(current, { 'x.txt': '1' }),
      () => {
        symlinkSync('v2', join(folder, 'next'));
        renameSync(join(folder, 'next'), current);
      },
      () => rmSync(current),
    ];
    for (const change of changes) {
      change();
      seen.add(await markOf(current));
    }
    expect(seen.size).toBe(changes.length + 1);
  });
});
