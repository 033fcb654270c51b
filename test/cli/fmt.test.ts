// `writ fmt`: the files it writes, the files it leaves alone, and its messages.

import { chmodSync, globSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const untidy = `# The head.
action a.b {
    n:integer
  note?:   string   # beside
}
policy p on a.b { allow small when payload.n<10 }
`;

const canonical = `# The head.
action a.b {
  n:     integer
  note?: string # beside
}

policy p on a.b {
  allow small
    when payload.n < 10
}
`;

describe('writ fmt', () => {
  it('rewrites files in place, keeps modes, links and comments, and then has nothing to do', async () => {
    const folder = createFolder({ 'x/a.policy': untidy, 'b.policy': canonical.replaceAll('a.b', 'c.d') });
    chmodSync(join(folder, 'x/a.policy'), 0o640);
    symlinkSync(join(folder, 'x/a.policy'), join(folder, 'link.policy'));
    const first = await writ(['fmt', 'link.policy'], { cwd: folder });
    expect(first).toEqual({ code: 0, stdout: 'link.policy\n', stderr: '' });
    expect(readFileSync(join(folder, 'x/a.policy'), 'utf8')).toBe(canonical);
    expect(statSync(join(folder, 'x/a.policy')).mode & 0o777).toBe(0o640);
    expect(lstatSync(join(folder, 'link.policy')).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(folder, 'x'))).toEqual(['a.policy']);
    expect(await writ(['fmt', '.'], { cwd: folder })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('lists unformatted files with a diff, and writes nothing', async () => {
    const folder = createFolder({ 'p/a.policy': untidy });
    const { code, stdout, stderr } = await writ(['fmt', '--check', 'p'], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      '--- a/p/a.policy',
      '+++ b/p/a.policy',
      '@@ -1,6 +1,10 @@',
      ' # The head.',
      ' action a.b {',
    ]);
    expect(stderr).toMatch(/:\np\/a\.policy\n$/);
    expect(readFileSync(join(folder, 'p/a.policy'), 'utf8')).toBe(untidy);
  });

  it('names files with CR LF line ends, instead of a diff of equal lines', async () => {
    const folder = createFolder({
      'a.policy': canonical.replaceAll('\n', '\r\n'),
      'b.policy': untidy.replaceAll('\n', '\r\n').replaceAll('a.b', 'c.d'),
      'c.policy': canonical.replaceAll('a.b', 'e.f'),
    });
    const { code, stdout, stderr } = await writ(['fmt', '--check'], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout.match(/^--- .*$/gm)).toEqual(['--- a/b.policy']);
    expect(stderr.split('\n')).toEqual([
      'lines end with CR LF instead of LF (in Git, add `*.policy text eol=lf` to `.gitattributes`):',
      'a.policy',
      'b.policy',
      'not formatted; run `writ fmt`:',
      'a.policy',
      'b.policy',
      '',
    ]);
    expect(await writ(['fmt'], { cwd: folder })).toMatchObject({ code: 0, stdout: 'a.policy\nb.policy\n' });
    expect(readFileSync(join(folder, 'a.policy'), 'utf8')).toBe(canonical);
  });

  it('leaves a file with errors unchanged, reports it, and continues with the others', async () => {
    const broken = untidy.replace('allow small', 'allow');
    const folder = createFolder({ 'a.policy': broken, 'b.policy': untidy });
    const { code, stdout, stderr } = await writ(['fmt', '--json', 'a.policy', 'b.policy', 'x/c.policy'], {
      cwd: folder,
    });
    expect([code, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { path: 'a.policy', state: 'broken' },
        { path: 'b.policy', state: 'changed' },
      ],
      diagnostics: [
        { code: 'file-unreadable', file: 'x/c.policy' },
        { code: 'unexpected-token', file: 'a.policy', start: { line: 6 } },
      ],
    });
    expect(readFileSync(join(folder, 'a.policy'), 'utf8')).toBe(broken);
    expect(readFileSync(join(folder, 'b.policy'), 'utf8')).toBe(canonical);
  });

  it('formats standard input', async () => {
    const [good, checked, broken, usage] = await Promise.all([
      writ(['fmt', '--stdin'], { stdin: untidy }),
      writ(['fmt', '--stdin', '--check'], { stdin: canonical }),
      writ(['fmt', '--stdin'], { stdin: 'policy {' }),
      writ(['fmt', '--stdin', 'x']),
    ]);
    expect(good).toEqual({ code: 0, stdout: canonical, stderr: '' });
    expect(checked).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(broken).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('--> <stdin>:1:8'),
    });
    expect(usage.code).toBe(2);
  });
});

describe('the packs', () => {
  it.each(globSync('policies/**/*.policy'))('%s is in canonical form', (path) => {
    const text = readFileSync(path, 'utf8');
    expect(printFile(parse({ path, text }).file)).toBe(text);
  });
});
