// Finds the git repository around a directory: the commit that is checked out, and where the directory lies in it.
// Reads git's own files and starts no process. Returns null when there is none; never throws.

import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Returns 40 hexadecimal digits, or 64 in a repository that uses SHA-256. */
export async function commitOf(directory: string): Promise<string | null> {
  try {
    const repository = await findRepository(await realpath(directory));
    return repository === null ? null : await readHead(repository.gitFolder);
  } catch {
    return null;
  }
}

/** The path of the directory from the top of its repository, with forward slashes; empty for the top itself. */
export async function pathInRepository(directory: string): Promise<string | null> {
  try {
    const real = await realpath(directory);
    const repository = await findRepository(real);
    return repository === null ? null : relative(repository.top, real).split(sep).join('/');
  } catch {
    return null;
  }
}

const hashForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** The most symbolic references that are followed one after the other; git itself follows no more. */
const referencesMax = 5;

interface Repository {
  /** The top folder of the work tree. */
  readonly top: string;
  readonly gitFolder: string;
}

/**
 * Finds `.git` of the nearest enclosing folder that has one. In a worktree or submodule `.git` is a file that
 * names the folder.
 */
async function findRepository(folder: string): Promise<Repository | null> {
  const candidate = join(folder, '.git');
  const stats = await stat(candidate).catch(() => null);
  if (stats?.isDirectory()) return { top: folder, gitFolder: candidate };
  if (stats?.isFile()) {
    const target = /^gitdir: (.+)$/m.exec(await readFile(candidate, 'utf8'))?.[1]?.trim();
    return target === undefined ? null : { top: folder, gitFolder: resolve(folder, target) };
  }
  const parent = dirname(folder);
  return parent === folder ? null : findRepository(parent);
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
