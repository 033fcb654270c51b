// The commit that is read from git's files, compared with git itself.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitOf, pathInRepository } from '../../../src/service/policies/git-commit.ts';
import { createFolder, writeFiles } from './folder.ts';

const first = 'a'.repeat(40);
const second = 'b'.repeat(40);

describe('commitOf', () => {
  it('is what git says, for a branch, packed references, a detached head and a worktree', async () => {
    const folder = createFolder({ 'policies/a.policy': '' });
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=writ', '-c', 'user.email=writ@example.com', ...args], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    git('init');
    expect(await commitOf(join(folder, 'policies'))).toBeNull();
    git('add', '.');
    git('commit', '-m', 'first');
    const commit = git('rev-parse', 'HEAD');
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(await commitOf(join(folder, 'policies'))).toBe(commit);
    git('pack-refs', '--all');
    expect(await commitOf(folder)).toBe(commit);
    expect(await pathInRepository(join(folder, 'policies'))).toBe('policies');
    expect(await pathInRepository(folder)).toBe('');
    git('worktree', 'add', '-b', 'other', join(folder, 'tree'));
    expect(await commitOf(join(folder, 'tree/policies'))).toBe(commit);
    expect(await pathInRepository(join(folder, 'tree/policies'))).toBe('policies');
    git('checkout', '--detach');
    expect(await commitOf(folder)).toBe(commit);
  });

  it('is the loose reference where a packed one is older', async () => {
    const folder = createFolder({
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/refs/heads/main': `${second}\n`,
      '.git/packed-refs': `# pack-refs with: peeled\n${first} refs/heads/main\n`,
    });
    expect(await commitOf(folder)).toBe(second);
  });

  it('is null without a commit', async () => {
    const folder = createFolder({ '.git/HEAD': 'ref: refs/heads/../../../secret\n', secret: first });
    expect(await commitOf(folder)).toBeNull();
    writeFiles(folder, { '.git/HEAD': 'nonsense' });
    expect(await commitOf(folder)).toBeNull();
    expect(await commitOf(join(folder, 'gone'))).toBeNull();
    mkdirSync(join(folder, 'sub'));
    writeFiles(folder, { 'sub/.git': 'gitdir: ../nowhere\n' });
    expect(await commitOf(join(folder, 'sub'))).toBeNull();
  });

  it('does not follow references in a circle', async () => {
    const folder = createFolder({
      '.git/HEAD': 'ref: refs/heads/a',
      '.git/refs/heads/a': 'ref: refs/heads/b',
      '.git/refs/heads/b': 'ref: refs/heads/a',
    });
    expect(await commitOf(folder)).toBeNull();
  });
});
