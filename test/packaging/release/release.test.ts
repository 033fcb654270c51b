// What a release states about itself: its parts, their licences, its origin, and checksums that hold.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { describeRelease, isCarried, notesOf } from '../../../src/packaging/release/describe.ts';
import { dashboardPackages, readLock, shippedPackages } from '../../../src/packaging/release/shipped.ts';
import { release as bundleRelease } from '../../../src/service/policies/compiled/bundle.ts';
import { keptNames } from '../../e2e/upgrades/kept-store.ts';
import { temporaryFolder } from '../../service/store/rows.ts';

const shipped = shippedPackages(readLock());
const source = { version: manifest.version, commit: 'ab'.repeat(20), at: '2026-03-02T10:00:00.000Z' };

describe('licences', () => {
  test.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT AND GPL-3.0-only)', false],
    ['MIT AND (BSD-3-Clause OR AGPL-3.0-only)', true],
    ['(MIT AND Zlib) OR (GPL-2.0-only AND MIT)', true],
    ['(GPL-2.0-only) OR (LGPL-2.1-only)', false],
    ['GPL-3.0-only', false],
    ['MPL-2.0', false],
    ['BUSL-1.1', false],
    ['SEE LICENSE IN LICENSE', false],
    [null, false],
  ])('%s: %j', (expression, expected) => expect(isCarried(expression)).toBe(expected));

  test('of what is shipped are carried', () => {
    expect(shipped.filter(({ license }) => !isCarried(license))).toEqual([]);
  });
});

test('what is shipped is what the manifest brings, and no tool that builds', () => {
  const names = new Set(shipped.map(({ name }) => name));
  for (const name of ['fastify', 'pino', 'chevrotain', '@chevrotain/gast', 'preact'])
    expect(names).toContain(name);
  for (const name of ['vite', 'tsx', 'typescript', 'vitest', 'rolldown']) expect(names).not.toContain(name);
  const tools = ['markdown-it', 'tsx', 'vite'];
  const own = Object.keys(manifest.dependencies).filter((name) => !tools.includes(name));
  expect(own.filter((name) => !names.has(name))).toEqual([]);
  const imports = new Set(
    readdirSync('src/dashboard', { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(?!dist).*\.tsx?$/.test(path))
      .flatMap((path) => [
        ...readFileSync(join('src/dashboard', path), 'utf8').matchAll(/from '(@[\w-]+\/[\w-]+|[\w-]+)/g),
      ])
      .map(([, name]) => name!),
  );
  imports.delete('vite');
  // Lines that the dashboard shows for programs.
  imports.delete('writ');
  const known: readonly string[] = dashboardPackages;
  expect([...imports].filter((name) => !known.includes(name) && !name.startsWith('node'))).toEqual([]);
});

test('what is installed beside ours is no more than it was: to be audited are 19 packages to check, and 81 to serve', () => {
  // For a package with a binary for each platform, npm installs only one.
  const isElsewhere = /^@node-rs\/argon2-(?!linux-x64-gnu)/;
  const installed = (...owners: readonly string[]) =>
    shipped.filter(({ name, by }) => !isElsewhere.test(name) && by.some((own) => owners.includes(own)))
      .length;
  expect(installed('writ')).toBeLessThanOrEqual(19);
  expect(installed('writ', 'writ-service')).toBeLessThanOrEqual(81);
});

test('the version is the same everywhere, has notes, and a store is kept of it', () => {
  expect(bundleRelease).toBe(manifest.version);
  expect(notesOf(manifest.version)).toMatch(/^## /);
  expect(() => notesOf('99.0.0')).toThrow('CHANGELOG.md has no section');
  expect(keptNames).toContain(manifest.version);
});

test('a release is described, the same each time, and its checksums hold', () => {
  const describeIn = () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'writ-0.1.0.tgz'), 'a tarball');
    describeRelease(folder, source);
    return folder;
  };
  const folder = describeIn();
  const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');
  const lines = textOf('SHA256SUMS').trimEnd().split('\n');
  for (const line of lines) {
    const [digest, name = ''] = line.split('  ');
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ).toBe(digest);
  }
  expect(lines.map((line) => line.split('  ')[1])).toEqual(
    readdirSync(folder)
      .filter((name) => name !== 'SHA256SUMS')
      .toSorted(),
  );
  const bom = JSON.parse(textOf(`writ-${manifest.version}.cdx.json`));
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  expect(bom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(bom.components).toHaveLength(shipped.length);
  expect(new Set(bom.components.map((one: { readonly purl: string }) => one.purl)).size).toBe(shipped.length);
  for (const { hashes } of bom.components) expect(hashes[0].content).toMatch(/^[0-9a-f]{128}$/);
  const { subject, predicate } = JSON.parse(textOf('provenance.json'));
  expect(subject.map(({ name }: { readonly name: string }) => name)).toContain('writ-0.1.0.tgz');
  expect(predicate.buildDefinition.externalParameters).toEqual({ commit: source.commit });
  const again = describeIn();
  expect(readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(textOf('SHA256SUMS'));
});

test.each(['package/build', 'package/debian', 'package/wheel', 'release/release'])(
  '%s shows its help, and takes no unknown option for a folder',
  (tool) => {
    const script = join(import.meta.dirname, `../../../src/packaging/${tool}.ts`);
    const cwd = temporaryFolder();
    const run = (...args: readonly string[]) => {
      // A cache at a relative path would end up in this folder.
      const { NODE_COMPILE_CACHE: _, ...env } = process.env;
      const options = { cwd, env, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options);
      return { status, said: stdout + stderr };
    };
    expect(run('--help')).toEqual({ status: 0, said: expect.stringMatching(/^Usage: npm run \w+ -- /) });
    expect(run('--quickly')).toMatchObject({
      status: 1,
      said: expect.stringContaining("unknown option '--quickly'"),
    });
    expect(run('one', 'two')).toMatchObject({ status: 1 });
    expect(readdirSync(cwd)).toEqual([]);
  },
);
