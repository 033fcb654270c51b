// For a set that has not been checked yet, the server reports the errors first, and everything once the check
// is complete.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { inOneList } from '../../src/language/diagnostic/by-file.ts';
import { createOpenSets, type SetSnapshot } from '../../src/lsp/set/workspace.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-errors-first-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const action = 'action order.place { count: integer }\n';

test('those of open files are there before all others', async () => {
  const root = join(folder, 'several');
  mkdirSync(root);
  const asking = (field: string) =>
    `policy ${field} on order.place { allow all when payload.${field} > 1 }\n`;
  for (const [name, text] of [
    ['actions', action],
    ['one', asking('one')],
    ['two', asking('two')],
  ] as const)
    writeFileSync(join(root, `${name}.policy`), text);
  const workspace = createOpenSets();
  workspace.setFolders([root], null);
  workspace.put(pathToFileURL(join(root, 'two.policy')).href, asking('other'));
  const filesOf = (snapshots: readonly SetSnapshot[]) => snapshots.map(({ byFile }) => [...byFile.keys()]);
  expect(filesOf(await workspace.openErrorsFirst())).toEqual([['two.policy']]);
  expect(filesOf(await workspace.errorsFirst())).toEqual([['one.policy', 'two.policy']]);
});

async function told(name: string, text: string): Promise<readonly (readonly string[])[]> {
  const root = join(folder, name);
  mkdirSync(root);
  writeFileSync(join(root, 'orders.policy'), `${action}${text}`);
  const workspace = createOpenSets();
  workspace.setFolders([root], null);
  const rounds = [
    await workspace.errorsFirst(),
    await workspace.snapshots(),
    // The set has been checked by now.
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
