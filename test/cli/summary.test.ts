// `writ summary`: the sentences about the packs, all confirmed, in every format.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { third } from '../support/tries.ts';
import { writ } from './writ.ts';

const root = join(import.meta.dirname, '../..');
const packs = ['policies', 'examples/packs'].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`),
);

describe('writ summary', () => {
  it.each(third(packs))('proves each sentence about %s', async (pack) => {
    const { code, stdout } = await writ(['summary', '--strict', '--json', pack], { cwd: root });
    expect(code).toBe(0);
    const { actions } = JSON.parse(stdout);
    expect(actions.length).toBeGreaterThan(0);
    for (const { sentences } of actions)
      for (const sentence of sentences) expect(sentence).toMatchObject({ confirmed: true });
  });

  it('describes what payments can do, each sentence with its line, and explains the names', async () => {
    const { stdout } = await writ(['summary', 'policies/payments'], { cwd: root });
    expect(stdout).toContain(
      [
        'payment.create: Pay [amount] to [vendor]',
        '  ✓ Passes at once if the vendor is one of ‘known vendors’ and the amount is at most 10,000 USD, unless it waits or is refused by what follows. The grant is valid for 10m. payments.policy:34',
      ].join('\n'),
    );
    expect(stdout).toContain(
      '  ✓ Is refused if the vendor is one of ‘blocked vendors’. It also adds 70 to the risk. payments.policy:56\n',
    );
    expect(stdout).toContain('  known vendors: "Staples", "Uline" and "Grainger"\n');
  });

  it('links to lines in Markdown, where signs of Markdown stand for themselves', async () => {
    const text =
      'action a.b { file_name: string ..9 }\npolicy p on a.b {\n  allow some_files when payload.file_name like "*_[a]"\n}\n';
    const cwd = createFolder({ 'policies/a.policy': text });
    const { stdout } = await writ(['summary', '--format', 'markdown'], { cwd });
    expect(stdout).toContain(
      '### `a.b`\n\n- Passes at once if the file name has the form "\\*\\_\\[a\\]". [a.policy:3](policies/a.policy#L3)\n',
    );
  });

  it('shows errors of policies instead of sentences', async () => {
    const cwd = createFolder({
      'policies/a.policy': 'action a.b { n: integer }\npolicy p on a.c { allow all }\n',
    });
    const { code, stdout, stderr } = await writ(['summary'], { cwd });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('a.c');
  });
});
