// The table of settings in docs/service/configuration.md is made from the rows of the settings: `UPDATE_GOLDEN=1` writes it.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  environmentVariableOf,
  type Setting,
  settingNames,
  settings,
  standardVariables,
} from '../../src/service/settings/table.ts';

const page = 'docs/service/configuration.md';
const head = '| `writ.yaml` | Environment | Default | Meaning |\n|---|---|---|---|\n';

const rows = settingNames.map((name) => {
  const { default: preset, defaultText, help, more }: Setting = settings[name];
  const others = standardVariables
    .filter(
      ({ setting, read }) => setting === name && (setting !== 'otel.service_name' || read === undefined),
    )
    .map(({ variable }) => variable);
  const variables = [environmentVariableOf(name), ...others].map((variable) => `\`${variable}\``).join(', ');
  const shown = defaultText ?? (preset === null ? '' : String(preset));
  return `| \`${name}\` | ${variables} | ${shown} | ${more === undefined ? help : `${help}; ${more}`} |\n`;
});

test('the page lists every setting as its row says', () => {
  const text = readFileSync(page, 'utf8');
  const start = text.indexOf(head);
  expect(start).toBeGreaterThan(0);
  const end = text.indexOf('\n\n', start) + 1;
  const made = `${head}${rows.join('')}`;
  if (process.env.UPDATE_GOLDEN === '1')
    writeFileSync(page, `${text.slice(0, start)}${made}${text.slice(end)}`);
  else expect(text.slice(start, end)).toBe(made);
});
