// Of a set that has not been checked yet the server tells the errors first, and everything once it is known.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inOneList } from '../../src/language/diagnostic/by-file.ts';
import { createOpenSets } from '../../src/tools/lsp/set/workspace.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-errors-first-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const action = 'action order.place { count: integer }\n';

async function told(name: string, text: string): Promise<readonly (readonly string[])[]> {
  const root = join(folder, name);
  mkdirSync(root);
  writeFileSync(join(root, 'orders.policy'), `${action}${text}`);
  const workspace = createOpenSets();
  workspace.setFolders([root], null);
  const rounds = [
    await workspace.errorsFirst(),
    await workspace.snapshots(),
    // Now the set is known.
    await workspace.errorsFirst(),
  ];
  return rounds.map((snapshots) =>
    snapshots.flatMap(({ byFile }) => inOneList(byFile).map(({ code }) => code)),
  );
}

test('warnings come after', async () => {
  expect(await told('warned', 'policy orders on order.place { allow all }\n')).toEqual([
    [],
    ['allow-unconditional'],
    [],
  ]);
});

test('errors are there at once', async () => {
  expect(await told('broken', 'policy orders on order.place { allow all when payload.size > 1 }\n')).toEqual([
    ['unknown-field'],
    ['unknown-field'],
    [],
  ]);
});
