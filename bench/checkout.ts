// Checks out another revision of this repository into a temporary folder, which is removed after use.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ownRoot = new URL('..', import.meta.url).pathname;

interface Checkout {
  readonly folder: string;
  readonly commit: string;
}

/** Calls `use` with the checkout and returns its result. Throws when the revision does not exist. */
export async function withRevision<T>(revision: string, use: (checkout: Checkout) => Promise<T>): Promise<T> {
  const commit = commitOf(revision);
  const folder = join(mkdtempSync(join(tmpdir(), 'writ-revision-')), 'tree');
  const remove = (): void => removeWorktree(folder);
  const interrupted = (): void => {
    remove();
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  try {
    git('worktree', 'add', '--detach', folder, commit);
    return await use({ folder, commit });
  } finally {
    remove();
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  }
}

/** Links the installed packages of this checkout into the checkout in `folder`. */
export function linkPackages(folder: string): void {
  for (const packages of ['node_modules', 'bench/node_modules', 'test/node_modules']) {
    if (existsSync(join(ownRoot, packages))) symlinkSync(join(ownRoot, packages), join(folder, packages));
  }
}

function commitOf(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`);
  } catch {
    throw new Error(`there is no revision ${revision}`);
  }
}

function git(...args: readonly string[]): string {
  const said = execFileSync('git', args, {
    cwd: ownRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return said.trim();
}

function removeWorktree(folder: string): void {
  if (existsSync(folder)) git('worktree', 'remove', '--force', folder);
  rmSync(join(folder, '..'), { recursive: true, force: true });
  git('worktree', 'prune');
}
