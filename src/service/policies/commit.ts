// Finds the git commit that is checked out around a directory. Reads git's own files and starts no process.
// Returns null when there is no repository or no commit yet; never throws.

import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Returns 40 hexadecimal digits, or 64 in a repository that uses SHA-256. */
export async function commitOf(directory: string): Promise<string | null> {
  try {
    const gitFolder = await findGitFolder(await realpath(directory));
    return gitFolder === null ? null : await readHead(gitFolder);
  } catch {
    return null;
  }
}

const hashForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** The most symbolic references that are followed one after the other; git itself follows no more. */
const referencesMax = 5;

/**
 * Finds `.git` of the nearest enclosing folder that has one. In a worktree or submodule `.git` is a file that
 * names the folder.
 */
async function findGitFolder(folder: string): Promise<string | null> {
  const candidate = join(folder, '.git');
  const stats = await stat(candidate).catch(() => null);
  if (stats?.isDirectory()) return candidate;
  if (stats?.isFile()) {
    const target = /^gitdir: (.+)$/m.exec(await readFile(candidate, 'utf8'))?.[1]?.trim();
    return target === undefined ? null : resolve(folder, target);
  }
  const parent = dirname(folder);
  return parent === folder ? null : findGitFolder(parent);
}

async function readHead(gitFolder: string): Promise<string | null> {
  let content = (await readLine(join(gitFolder, 'HEAD'))) ?? '';
  for (let step = 0; step < referencesMax && !hashForm.test(content); step += 1) {
    const reference = /^ref: (refs\/\S+)$/.exec(content)?.[1];
    // Git never writes a name that climbs out of the folder.
    if (reference === undefined || reference.split('/').includes('..')) return null;
    content = (await readReference(gitFolder, reference)) ?? '';
  }
  return hashForm.test(content) ? content : null;
}

/**
 * A worktree's references lie in the repository that the worktree belongs to, which its `commondir` names.
 */
async function readReference(gitFolder: string, reference: string): Promise<string | null> {
  const common = await readLine(join(gitFolder, 'commondir'));
  const folders = common === null ? [gitFolder] : [gitFolder, resolve(gitFolder, common)];
  for (const folder of folders) {
    const loose = await readLine(join(folder, reference));
    if (loose !== null) return loose;
  }
  for (const folder of folders) {
    const packed = await readFile(join(folder, 'packed-refs'), 'utf8').catch(() => '');
    const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${reference}`));
    if (line !== undefined) return line.slice(0, line.indexOf(' '));
  }
  return null;
}

async function readLine(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : text.trim();
}
