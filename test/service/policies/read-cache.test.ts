// Reading a directory again: unchanged files keep their identity, and no change is missed.

import { symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FoundFile } from '../../../src/service/policies/directory-listing.ts';
import { createReadCache } from '../../../src/service/policies/read-cache.ts';
import { readPolicies } from '../../../src/service/policies/read-policies.ts';
import { createFolder, writeFiles } from './folder.ts';

describe('reading with a cache', () => {
  it('reuses unchanged files, and reads changed ones', async () => {
    const folder = createFolder({ 'a.policy': '# a\n', 'b.policy': '# b\n', 'n.txt': '1\n' });
    const memory = createReadCache();
    const first = (await readPolicies(folder, memory)).sources;
    const firstList = first.readListFile('n.txt');
    writeFiles(folder, { 'b.policy': '# c\n' });
    const second = (await readPolicies(folder, memory)).sources;
    expect(second.files[0]).toBe(first.files[0]);
    expect(second.files[1]).toEqual({ path: 'b.policy', text: '# c\n' });
    expect(second.readListFile('n.txt')).toBe(firstList);
    expect(await readPolicies(folder)).toMatchObject({ sources: { files: second.files } });
  });

  it('sees a second change of the same length that leaves the mark as it was', async () => {
    const folder = createFolder({ 'a.policy': '# a\n' });
    const memory = createReadCache();
    const [file] = (await readPolicies(folder, memory)).files;
    const read = async () => (await readPolicies(folder, memory)).sources.files[0]?.text;
    for (const text of ['# b\n', '# c\n', '# d\n']) {
      writeFileSync(join(folder, 'a.policy'), text);
      utimesSync(join(folder, 'a.policy'), file!.stamp.writtenAtMs / 1_000, file!.stamp.writtenAtMs / 1_000);
      expect(await read()).toBe(text);
    }
  });

  it('does not read files again that have not changed for long, except on request', async () => {
    const memory = createReadCache();
    const reads: string[] = [];
    const read = () => async (file: FoundFile) => {
      reads.push(file.path);
      return { path: file.path, text: '# a\n' };
    };
    const stamp = { identity: '1:1', sizeBytes: 4, writtenAtMs: 0, changedAtMs: Date.now() - 60_000 };
    const found = [{ path: 'a.policy', realPath: '/p/a.policy', mark: 'one', stamp }];
    const [first] = await memory.files(found, read);
    const [second] = await memory.files(found, read);
    expect([reads.length, second === first]).toEqual([1, true]);
    memory.distrust();
    const [third] = await memory.files(found, read);
    expect([reads.length, third === first]).toEqual([2, true]);
    await memory.files([{ ...found[0]!, stamp: { ...stamp, changedAtMs: Date.now() }, mark: 'two' }], read);
    await memory.files([{ ...found[0]!, stamp: { ...stamp, changedAtMs: Date.now() }, mark: 'two' }], read);
    expect(reads.length).toBe(4);
  });

  it('tells two paths to one file apart', async () => {
    const folder = createFolder({ 'a.policy': '# a\n' });
    symlinkSync('a.policy', join(folder, 'b.policy'));
    const memory = createReadCache();
    for (let round = 0; round < 2; round += 1) {
      const { files } = (await readPolicies(folder, memory)).sources;
      expect(files.map(({ path }) => path)).toEqual(['a.policy', 'b.policy']);
    }
  });

  it('tries again what could not be read', async () => {
    const folder = createFolder({ 'a.policy': Uint8Array.of(255) });
    const memory = createReadCache();
    expect((await readPolicies(folder, memory)).diagnostics).toMatchObject([{ code: 'file-not-utf8' }]);
    writeFileSync(join(folder, 'a.policy'), '#');
    expect((await readPolicies(folder, memory)).sources.files).toEqual([{ path: 'a.policy', text: '#' }]);
  });
});
