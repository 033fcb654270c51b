// docs/integrations/failures.md shows measured results: its rows for the adapters match those of the tests,
// and this test counts its rows for the frameworks' own hooks. UPDATE_GOLDEN=1 rewrites the rows for the
// hooks.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faults } from './faults.ts';
import { frameworks } from './frameworks.ts';
import { type OwnHook, ownHooks } from './own-hooks.ts';

const page = new URL('../../../docs/integrations/failures.md', import.meta.url);
const { dependencies } = JSON.parse(
  readFileSync(new URL('../../../examples/frameworks/package.json', import.meta.url), 'utf8'),
) as { readonly dependencies: Readonly<Record<string, string>> };

async function rowOf({ package: name, hook, says, run }: OwnHook): Promise<string> {
  let runs = 0;
  const pay = () => {
    runs += 1;
    return 'paid';
  };
  await run(pay).catch(() => undefined);
  const found = runs === 0 ? 'does not run' : runs === 1 ? '**runs**' : `**runs ${runs} times**`;
  return `| \`${name}\` ${dependencies[name]} | ${hook} | ${says} | ${found} |`;
}

/** The page with these rows filled in. */
function filled(name: string, rows: readonly string[]): string {
  const form = new RegExp(`(<!-- ${name} -->\\n.*\\n.*\\n)[\\s\\S]*?(<!-- end -->)`);
  const now = readFileSync(page, 'utf8');
  expect(now).toMatch(form);
  const made = now.replace(form, (_, start, end) => `${start}${rows.join('\n')}\n${end}`);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
  return made;
}

const isAsCounted = (name: string, rows: readonly string[]) =>
  expect(filled(name, rows)).toBe(readFileSync(page, 'utf8'));

test('the rows of the adapters are the tested faults of each', () => {
  const rows = Object.keys(faults).map((name) => `| ${name} | 0 |`);
  isAsCounted('faults', rows);
});

test('and the ways in which a framework runs a tool without asking', () => {
  const rows = frameworks.flatMap(({ name, evasions }) =>
    Object.keys(evasions).map((way) => `| ${name} | ${way} | 0 |`),
  );
  isAsCounted('evasions', rows);
});

test('the behaviour of each framework on an error is as documented', async () => {
  const rows = await Promise.all(ownHooks.map(rowOf));
  isAsCounted('own hooks', rows);
});
