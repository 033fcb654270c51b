// The parts that all pages share: tables, lists of the service and forms for new passwords are each made in one place,
// so that names, heads, keyboards and narrow screens are right everywhere.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../src/dashboard');
const sources = globSync('**/*.tsx', { cwd: folder, exclude: ['dist', '.dist-*'] });

function filesWith(pattern: RegExp): readonly string[] {
  return sources.filter((file) => pattern.test(readFileSync(join(folder, file), 'utf8'))).sort();
}

it('a table is a DataTable', () => {
  expect(filesWith(/<(table|thead|tbody|tr|th|td)\b/)).toEqual(['parts/layout/data-table.tsx']);
  expect(filesWith(/<DataTable\b/).length).toBeGreaterThan(15);
});

it('a list with pages is a ListSection, but for the deliveries within a webhook', () => {
  expect(filesWith(/<Pager\b/)).toEqual(['pages/alerts/deliveries.tsx', 'parts/layout/list-section.tsx']);
  expect(filesWith(/<ListSection\b/).length).toBeGreaterThan(8);
});

it('a new password is typed in one form, or with a proof of identity', () => {
  expect(filesWith(/<NewPassword\b/)).toEqual([
    'pages/account/account.tsx',
    'parts/form/new-password-form.tsx',
  ]);
  expect(filesWith(/autoComplete[=:] ?['"]new-password/)).toEqual(['parts/form/new-password-form.tsx']);
});
