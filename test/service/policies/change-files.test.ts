// A change of several files happens as a whole. The disk fails, or the process ends, before each single step of a
// change: afterwards the directory has the old files or the new ones, or no set is read from it.

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  changeFiles,
  type Disk,
  type FileChange,
  FileChangeRefusal,
  finishFileChange,
} from '../../../src/service/policies/change-files.ts';
import { openPolicies } from '../../../src/service/policies/policy-host.ts';
import { readPolicies } from '../../../src/service/policies/read-policies.ts';
import { temporaryFolder } from '../store/rows.ts';

const action = 'action pay.make { amount: number 0.01.. }\n';
const policy = (name: string, limit: number): string =>
  `policy ${name} on pay.make { allow small when payload.amount <= ${limit} }\n`;

const old = {
  'a.policy': action + policy('a', 10),
  'b.policy': policy('b', 20),
  'c.policy': policy('c', 30),
};
const fresh = {
  'a.policy': action + policy('a', 11),
  'b.policy': policy('b', 21),
  'd/d.policy': policy('d', 40),
};

type Files = Readonly<Record<string, string>>;

const changes: readonly FileChange[] = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].map(
  (path) => ({
    path,
    before: (old as Files)[path] ?? null,
    after: (fresh as Files)[path] ?? null,
  }),
);

function folderWith(files: Files): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

/** All files, hidden ones included, by path. */
function filesIn(folder: string): Files {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(folder.length + 1));
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

class Crash extends Error {}

/** A disk that works for some steps. Then each step fails: once (a full disk) or for ever (the process has ended). */
function failingAfter(
  steps: number,
  lasts: 'once' | 'for ever',
): { readonly disk: Disk; readonly hasFailed: () => boolean } {
  let left = steps;
  let hasFailed = false;
  const step = (): void => {
    left -= 1;
    if (left >= 0 || (hasFailed && lasts === 'once')) return;
    hasFailed = true;
    throw new Crash('no more');
  };
  const disk = {
    mkdir: async (...args: Parameters<typeof fs.mkdir>) => {
      step();
      return fs.mkdir(...args);
    },
    open: async (...args: Parameters<typeof fs.open>) => {
      step();
      return fs.open(...args);
    },
    rename: async (...args: Parameters<typeof fs.rename>) => {
      step();
      return fs.rename(...args);
    },
    rm: async (...args: Parameters<typeof fs.rm>) => {
      step();
      return fs.rm(...args);
    },
  } as Disk;
  return { disk, hasFailed: () => hasFailed };
}

/** Calls `run` with disks that fail one step later each time, until the change no longer fails. */
async function eachStep(
  lasts: 'once' | 'for ever',
  check: (folder: string, hasEnded: boolean) => Promise<void>,
) {
  for (let steps = 0; steps < 100; steps += 1) {
    const folder = folderWith(old);
    const { disk, hasFailed } = failingAfter(steps, lasts);
    await changeFiles(folder, changes, disk).catch(() => undefined);
    await check(folder, !hasFailed());
    if (!hasFailed()) return steps;
  }
  throw new Error('the change never ended');
}

test('a change writes, replaces and deletes files, and leaves nothing else', async () => {
  const folder = folderWith(old);
  await changeFiles(folder, changes);
  expect(filesIn(folder)).toEqual(fresh);
});

test('whenever the process ends, a half-changed directory is not read, and the next start finishes the change', async () => {
  const seen = new Set<string>();
  const steps = await eachStep('for ever', async (folder, hasEnded) => {
    const { sources, diagnostics } = await readPolicies(folder);
    const texts = Object.fromEntries(sources.files.map(({ path, text }) => [path, text]));
    const isWhole = [old, fresh].some((files) => JSON.stringify(texts) === JSON.stringify(files));
    const codes = diagnostics.map(({ code }) => code);
    if (!isWhole) expect(codes).toEqual(['change-unfinished']);
    seen.add(`${isWhole ? 'whole' : 'half'} ${codes.join()}`);
    expect(await finishFileChange(folder)).toBe(codes.length > 0);
    const visible = Object.keys(filesIn(folder)).filter((path) => !path.endsWith('.new'));
    expect(visible).toEqual(Object.keys(codes.length > 0 || hasEnded ? fresh : old));
  });
  expect(steps).toBeGreaterThan(10);
  expect([...seen].toSorted()).toEqual(
    expect.arrayContaining(['half change-unfinished', 'whole ', 'whole change-unfinished']),
  );
});

test('the policy host finishes a change before it reads', async () => {
  const folder = folderWith({ ...old, 'a.policy': fresh['a.policy'] });
  writeFileSync(join(folder, '.writ-change.json'), JSON.stringify(changes));
  const host = await openPolicies({ directory: folder });
  onTestFinished(() => host.close());
  expect(filesIn(folder)).toEqual(fresh);
  expect(
    host
      .current()
      .about()
      .policies.map(({ name }) => name),
  ).toEqual(['a', 'b', 'd']);
});

test('when the disk fails once, the files are as they were and nothing is left over', async () => {
  await eachStep('once', async (folder, hasEnded) => {
    const files = filesIn(folder);
    // Removing the journal is the last step: before it, the change is complete on disk and is finished later.
    const isLast = Object.hasOwn(files, '.writ-change.json');
    if (isLast) await finishFileChange(folder);
    expect(filesIn(folder)).toEqual(hasEnded || isLast ? fresh : old);
  });
});

describe('a change is refused before anything is written', () => {
  test.each<readonly [string, (folder: string) => void, string]>([
    [
      'a file has changed',
      (folder) => writeFileSync(join(folder, 'b.policy'), policy('b', 1)),
      'has changed since it was read',
    ],
    [
      'a new file is there',
      (folder) => {
        mkdirSync(join(folder, 'd'));
        writeFileSync(join(folder, 'd/d.policy'), '');
      },
      'is there and belongs to no set',
    ],
    [
      'a folder is a link',
      (folder) => symlinkSync(temporaryFolder(), join(folder, 'd')),
      'is a symbolic link',
    ],
    [
      'another change is not finished',
      (folder) => writeFileSync(join(folder, '.writ-change.json'), '[]'),
      'is not finished',
    ],
  ])('%s', async (_name, arrange, why) => {
    const folder = folderWith(old);
    arrange(folder);
    const before = filesIn(folder);
    await expect(changeFiles(folder, changes)).rejects.toThrow(FileChangeRefusal);
    await expect(changeFiles(folder, changes)).rejects.toThrow(why);
    expect(filesIn(folder)).toEqual(before);
  });
});

test('a change that people have meanwhile made impossible is not finished, and no set is read', async () => {
  const folder = folderWith({ ...old, 'b.policy': policy('b', 1) });
  writeFileSync(join(folder, '.writ-change.json'), JSON.stringify(changes));
  await expect(finishFileChange(folder)).rejects.toThrow('`b.policy` has changed');
  await expect(openPolicies({ directory: folder })).rejects.toThrow('cannot be used');
});

test.each([
  'no json',
  '[{"path":"../up.policy","before":null,"after":"x"}]',
  '[{"path":".git/x","before":null,"after":"x"}]',
])('a journal that the service did not write changes nothing: %s', async (text) => {
  const folder = folderWith(old);
  writeFileSync(join(folder, '.writ-change.json'), text);
  await expect(finishFileChange(folder)).rejects.toThrow('cannot be read');
  expect(existsSync(join(folder, '../up.policy'))).toBe(false);
  expect(filesIn(folder)).toEqual({ ...old, '.writ-change.json': text });
});
