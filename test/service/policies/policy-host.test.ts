// A watched directory on a real disk, changed in all the ways in which editors, git and Kubernetes change
// one.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  BrokenPolicies,
  openPolicies,
  type PolicyHost,
  type PolicyState,
} from '../../../src/service/policies/policy-host.ts';
import { createFolder, pause, until, writeFiles } from './folder.ts';
import { allows, limit } from './limit-policy.ts';

const listed =
  'action a.b {\n  n: integer\n}\n\nlist numbers: integer from "n.yaml"\n\npolicy p on a.b {\n  allow listed\n    when payload.n in numbers\n}\n';

const broken = 'policy p on a.b { alow x }';

async function open(directory: string): Promise<PolicyHost> {
  const host = await openPolicies({ directory });
  onTestFinished(() => host.close());
  return host;
}

/** Replaces a file as editors do: written beside it, then renamed over it. */
function replace(folder: string, path: string, content: string): void {
  writeFileSync(join(folder, '.new'), content);
  renameSync(join(folder, '.new'), join(folder, path));
}

/** Points a link elsewhere in one step. */
function flip(link: string, target: string): void {
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
}

function codesOf(host: PolicyHost): readonly string[] {
  return host.state().failure?.diagnostics.map(({ code }) => code) ?? [];
}

describe('a policy directory that is active', () => {
  it('decides by what it says, and tells what it is', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    execFileSync('git', ['init'], { cwd: folder, stdio: 'ignore' });
    const host = await open(folder);
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    expect(host.current().trace).toBeTypeOf('function');
    expect(host.state()).toEqual({
      status: 'current',
      location: folder,
      directory: folder,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      commit: null,
      loadedAt: host.current().loadedAt,
      actions: 1,
      rules: 1,
      failure: null,
    });
  });

  it('changes well under a second after a file is written, replaced, added or taken away', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    writeFileSync(join(folder, 'a.policy'), limit(20));
    expect(await until(() => allows(host, 20))).toBeLessThan(900);
    replace(folder, 'a.policy', limit(30));
    expect(await until(() => allows(host, 30))).toBeLessThan(900);
    writeFiles(folder, {
      'sub/b.policy': 'policy q on a.b {\n  allow large\n    when payload.n in 500..600\n}\n',
    });
    expect(await until(() => allows(host, 500))).toBeLessThan(900);
    rmSync(join(folder, 'sub'), { recursive: true });
    expect(await until(() => !allows(host, 500))).toBeLessThan(900);
    expect(host.state().status).toBe('current');
  });

  it('keeps its guards when their file is emptied, and says so', async () => {
    const guard = 'policy guards on a.b {\n  deny large\n    when payload.n > 5\n}\n';
    const folder = createFolder({ 'a.policy': limit(10), 'guards.policy': guard });
    const host = await open(folder);
    writeFileSync(join(folder, 'guards.policy'), '');
    await until(() => host.state().status === 'stale');
    expect(codesOf(host)).toEqual(['file-empty']);
    expect([allows(host, 5), allows(host, 6)]).toEqual([true, false]);
    rmSync(join(folder, 'guards.policy'));
    await until(() => host.state().status === 'current');
    expect(allows(host, 6)).toBe(true);
  });

  it('does not start on a set with a file that declares nothing', async () => {
    const folder = createFolder({ 'a.policy': limit(10), 'guards.policy': '# nothing' });
    await expect(openPolicies({ directory: folder })).rejects.toThrow(BrokenPolicies);
  });

  it('logs the names that look like policy files and are not read', async () => {
    const folder = createFolder({ 'a.policy': limit(10), 'guards.policy.bak': '' });
    const logged: unknown[] = [];
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (...said: unknown[]) => void logged.push(said),
    };
    const host = await openPolicies({ directory: folder, log: log as never });
    onTestFinished(() => host.close());
    await until(() => logged.length > 0);
    expect(logged).toEqual([
      [{ paths: ['guards.policy.bak'] }, 'files named like policy files are not read'],
    ]);
  });

  it('replaces the set as a whole: it does not change during a request', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    const before = host.current();
    writeFileSync(join(folder, 'a.policy'), limit(20));
    await until(() => host.current() !== before);
    expect(host.current().digest).not.toBe(before.digest);
    const [action] = before.about().actions;
    const facts = { agent: {}, request: {}, nowMs: 0, meters: {}, satisfied: { escalate: [], reauth: [] } };
    expect(before.decide({ action: action!, payload: { n: 15 }, ...facts }).outcome).toBe('DENY');
  });

  it('follows list files, also ones that appear with a change', async () => {
    const folder = createFolder({ 'a.policy': listed, 'n.yaml': '[1]' });
    const host = await open(folder);
    replace(folder, 'n.yaml', '[1, 2]');
    await until(() => allows(host, 2));
    rmSync(join(folder, 'n.yaml'));
    await until(() => host.state().status === 'stale');
    expect(codesOf(host)).toEqual(['list-file-missing']);
    expect(allows(host, 2)).toBe(true);
    writeFiles(folder, { 'n.yaml': '[1, 2]' });
    await until(() => host.state().status === 'current');
    writeFiles(folder, { 'a.policy': listed.replace('n.yaml', 'lists/m.yaml'), 'lists/m.yaml': '[3]' });
    await until(() => allows(host, 3));
    writeFiles(folder, { 'lists/m.yaml': '[4]' });
    await until(() => allows(host, 4));
  });

  it('follows `owners.yaml`, and refuses a set that breaks it', async () => {
    const folder = createFolder({ 'a.policy': listed, 'n.yaml': '[1]' });
    const host = await open(folder);
    writeFiles(folder, { 'owners.yaml': 'owners: { platform/**: ["*"] }\n' });
    await until(() => host.state().status === 'stale');
    expect(codesOf(host)).toContain('action-not-owned');
    expect(allows(host, 1)).toBe(true);
    replace(folder, 'owners.yaml', 'owners: { "**": [a.*] }\n');
    await until(() => host.state().status === 'current');
    replace(folder, 'n.yaml', '[1, 2]');
    await until(() => allows(host, 2));
  });

  it('does nothing for a write that changes nothing, or for files that are not its own', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    const before = host.current();
    writeFiles(folder, { 'a.policy': limit(10), 'notes.txt': 'x' });
    await host.reload();
    await pause(150);
    expect(host.current()).toBe(before);
  });
});

describe('a broken set', () => {
  it('is a refusal to start, with the place of what is wrong', async () => {
    const folder = createFolder({ 'a.policy': broken });
    const failure = await openPolicies({ directory: folder }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenPolicies);
    expect((failure as BrokenPolicies).text).toContain('a.policy:1:');
    expect((failure as BrokenPolicies).diagnostics[0]).toMatchObject({ severity: 'error', file: 'a.policy' });
    await expect(openPolicies({ directory: createFolder() })).rejects.toMatchObject({
      diagnostics: [{ code: 'no-policy-files' }],
    });
    await expect(openPolicies({ directory: join(folder, 'gone') })).rejects.toMatchObject({
      diagnostics: [{ code: 'directory-unreadable' }],
    });
  });

  it('never becomes active, is reported to listeners, and is replaced when fixed', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    const states: PolicyState[] = [];
    host.onChange((state) => states.push(state));
    const before = host.current();
    writeFiles(folder, { 'b.policy': broken });
    await until(() => host.state().status === 'stale');
    expect(host.current()).toBe(before);
    expect(host.state().failure?.text).toContain('b.policy:1:');
    rmSync(join(folder, 'b.policy'));
    await until(() => host.state().status === 'current');
    expect(host.current()).toBe(before);
    expect(states.map(({ status }) => status)).toEqual(['stale', 'current']);
  });

  it('may be a file of which half is written: the rest fixes it', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    const text = limit(20);
    writeFileSync(join(folder, 'a.policy'), text.slice(0, 60));
    await until(() => host.state().status === 'stale');
    expect(allows(host, 10)).toBe(true);
    writeFileSync(join(folder, 'a.policy'), text);
    await until(() => host.state().status === 'current' && allows(host, 20));
  });

  it('is not seen when the rest follows at once', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    const states: PolicyState[] = [];
    host.onChange((state) => states.push(state));
    const text = limit(20);
    writeFileSync(join(folder, 'a.policy'), text.slice(0, 60));
    await pause(10);
    writeFileSync(join(folder, 'a.policy'), text);
    await until(() => allows(host, 20));
    expect(states.map(({ status }) => status)).toEqual(['current']);
  });
});

describe('a directory that moves', () => {
  it('may be deleted and made again', async () => {
    const parent = createFolder({ 'policies/a.policy': limit(10) });
    const folder = join(parent, 'policies');
    const host = await open(folder);
    rmSync(folder, { recursive: true });
    await until(() => host.state().status === 'stale');
    expect(codesOf(host)[0]).toBe('directory-unreadable');
    expect(allows(host, 10)).toBe(true);
    mkdirSync(folder);
    await until(() => codesOf(host)[0] === 'no-policy-files');
    writeFiles(folder, { 'a.policy': limit(20) });
    await until(() => host.state().status === 'current' && allows(host, 20));
    writeFiles(folder, { 'a.policy': limit(30) });
    expect(await until(() => allows(host, 30))).toBeLessThan(1_500);
  });

  it('may be swapped for another', async () => {
    const parent = createFolder({ 'policies/a.policy': limit(10), 'next/a.policy': limit(20) });
    const folder = join(parent, 'policies');
    const host = await open(folder);
    renameSync(folder, join(parent, 'old'));
    renameSync(join(parent, 'next'), folder);
    await until(() => allows(host, 20));
    writeFiles(join(parent, 'old'), { 'a.policy': broken });
    replace(folder, 'a.policy', limit(30));
    await until(() => allows(host, 30));
    expect(host.state().status).toBe('current');
  });

  it('may be a link that is flipped, once and again', async () => {
    const parent = createFolder({
      'v1/a.policy': limit(10),
      'v2/a.policy': limit(20),
      'v3/a.policy': limit(30),
    });
    const link = join(parent, 'current');
    symlinkSync('v1', link);
    const host = await open(link);
    flip(link, 'v2');
    await until(() => allows(host, 20));
    flip(link, 'v3');
    await until(() => allows(host, 30));
    writeFiles(parent, { 'v3/a.policy': limit(40) });
    await until(() => allows(host, 40));
  });

  it('may be a ConfigMap, whose data folder is swapped behind the links', async () => {
    const folder = createFolder({ '..one/a.policy': limit(10) });
    symlinkSync('..one', join(folder, '..data'));
    symlinkSync('..data/a.policy', join(folder, 'a.policy'));
    const host = await open(folder);
    writeFiles(folder, { '..two/a.policy': limit(20) });
    flip(join(folder, '..data'), '..two');
    rmSync(join(folder, '..one'), { recursive: true });
    await until(() => allows(host, 20));
    expect(host.state().status).toBe('current');
  });

  it('may be checked out by git, many files at once', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=writ', '-c', 'user.email=writ@example.com', ...args], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    const policy = (index: number, high: number): string =>
      `policy q${index} on a.b {\n  allow more\n    when payload.n in 100..${high}\n}\n`;
    for (let index = 0; index < 20; index++) writeFiles(folder, { [`q${index}.policy`]: policy(index, 200) });
    git('init');
    git('add', '.');
    git('commit', '-m', 'one');
    const first = git('rev-parse', 'HEAD');
    for (let index = 0; index < 20; index++) writeFiles(folder, { [`q${index}.policy`]: policy(index, 300) });
    git('commit', '-am', 'two');
    const host = await open(folder);
    expect([host.current().commit, allows(host, 300)]).toEqual([git('rev-parse', 'HEAD'), true]);
    git('checkout', first);
    await until(() => !allows(host, 300));
    await until(() => host.current().commit === first);
    expect(host.state().status).toBe('current');
    git('commit', '--allow-empty', '-m', 'three');
    await until(() => host.current().commit === git('rev-parse', 'HEAD'));
  });
});

describe('reload', () => {
  it('is done when the content of the directory is active', async () => {
    const parent = createFolder({ 'policies/a.policy': limit(10) });
    const host = await open(join(parent, 'policies'));
    cpSync(join(parent, 'policies/a.policy'), join(parent, 'policies/b.txt'));
    writeFiles(parent, { 'policies/a.policy': limit(20) });
    await host.reload();
    expect(allows(host, 20)).toBe(true);
  });

  it('may be asked for many times at once, and after the end', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const host = await open(folder);
    await Promise.all(Array.from({ length: 20 }, () => host.reload()));
    await host.close();
    writeFiles(folder, { 'a.policy': limit(20) });
    await host.reload();
    await pause(100);
    expect(allows(host, 20)).toBe(false);
  });
});
