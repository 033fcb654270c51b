// The packs as `writ init --pack` hands them out: in canonical form, without a warning, with every guarantee
// proved. Their tests see every rule both hold and not hold; `npm run mutations` shows that they notice nearly every
// change of the packs.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

/** Minutes of work, so `npm test` leaves it out. */
const mutationArgs = process.env.WRIT_MUTATIONS === undefined ? [] : ['--mutate-min', '90'];
const root = join(import.meta.dirname, '../..');
const packs = ['policies', 'examples/packs'].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder })),
);

describe.each(packs)('the pack $name', ({ name, folder }) => {
  it('passes its checks where it is installed', async () => {
    const cwd = createFolder();
    expect(await writ(['init', 'rules', '--pack', name], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await writ(['fmt', '--check', 'rules'], { cwd })).toMatchObject({ code: 0 });
    const checked = await writ(['check', '--strict', 'rules'], { cwd });
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    const verdicts = checked.stdout.split('\n').filter((line) => / never | always | only /.test(line));
    expect(verdicts.length).toBeGreaterThan(0);
    expect(verdicts.filter((line) => !line.endsWith('proved for all requests'))).toEqual([]);
    const tested = await writ(['test', 'rules', '--coverage-min', '100', ...mutationArgs], { cwd });
    expect(tested).toMatchObject({ code: 0, stderr: '' });
  });

  it('has a page with valid links and commands, and a row in the list of packs', async () => {
    const cwd = createFolder();
    await writ(['init', 'rules', '--pack', name], { cwd });
    const page = readFileSync(join(cwd, 'rules/README.md'), 'utf8');
    expect(page).not.toMatch(/\]\(\.\.|npm run writ|examples\/packs|policies\//);
    expect(page).toContain('writ test rules');
    for (const part of ['stops', 'lets through', 'cannot know'])
      expect(page).toContain(`**What it ${part}.**`);
    expect(page).toMatch(/\*\*Fit it in ten minutes\.\*\*\n\n1\. /);
    const [tests = ''] = readdirSync(join(cwd, 'rules')).filter((file) => file.endsWith('.test.yaml'));
    expect(readFileSync(join(cwd, 'rules', tests), 'utf8')).toContain('\n    sequence:\n');
    expect(readFileSync(join(root, folder, 'README.md'), 'utf8')).toContain(`](${name}/README.md)`);
  });
});

it('names the packs after an unknown name', async () => {
  const cwd = createFolder();
  const [near, far] = await Promise.all([
    writ(['init', '--pack', 'devop'], { cwd }),
    writ(['init', '--pack', '../packs'], { cwd }),
  ]);
  expect(near).toEqual({
    code: 2,
    stdout: '',
    stderr: 'error: there is no pack `devop`: did you mean `devops`?\n',
  });
  expect(far.stderr).toBe(
    `error: there is no pack \`../packs\`: choose one of ${packs
      .map((pack) => pack.name)
      .toSorted()
      .join(', ')}\n`,
  );
  expect(readdirSync(cwd)).toEqual([]);
});
