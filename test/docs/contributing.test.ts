// The example of CONTRIBUTING.md imports only what its files export.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const rules = join(root, 'src/language/check/warnings/rules');

it('shows a rule whose imports exist', () => {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const imports = [...page.matchAll(/import (?:type )?\{ (\w+) \} from '(.+)';/g)];
  expect(imports).toHaveLength(2);
  for (const [, name, path = ''] of imports)
    expect(readFileSync(join(rules, path), 'utf8')).toMatch(new RegExp(`^export \\w+ ${name}\\b`, 'm'));
});
