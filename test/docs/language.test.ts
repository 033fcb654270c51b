// Runs the contents of the language reference: its policies compile, its tests pass, its examples are true,
// and its table of functions matches the source. UPDATE_GOLDEN=1 rewrites the table.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtins } from '../../src/language/model/builtins.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import { compile } from '../../src/pipeline.ts';

const page = 'docs/LANGUAGE.md';
const text = readFileSync(page, 'utf8');

const fields = `
  note: string
  mail: email
  link: url
  file: path
  peer: ip
  extra?: string
  names: [string]
  lines: [{ sku: string, price: number }]`;

function blockAfter(heading: string): string {
  return /```\n([\s\S]*?)```/.exec(text.slice(text.indexOf(heading)))?.[1] ?? '';
}

const examples = [
  ...blockAfter('### Shell lines').trim().split('\n'),
  ...blockAfter('### Examples').trim().split('\n'),
  ...Object.values(builtins).map(({ example }) => example),
];
const payload = JSON.parse(/^`(\{"note".*\})`$/m.exec(text)?.[1] ?? '') as JsonObject;

function compileText(policies: string) {
  return compile({
    files: [{ path: 'docs.policy', text: policies }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
}

describe('the language reference', () => {
  it.each(examples)('%s', (example) => {
    const { engine, diagnostics } = compileText(
      `action doc.read {${fields}\n}\npolicy docs on doc.read {\n  allow example\n    when ${example}\n}`,
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const decision = engine?.decide({
      action: 'doc.read',
      payload,
      agent: {},
      request: {},
      nowMs: Date.parse('2026-03-02T10:00:00+01:00'),
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    });
    expect(decision?.outcome).toBe('ALLOW');
  });

  it('compiles its first policy', () => {
    expect(compileText(blockAfter('Three sentences')).diagnostics).toEqual([]);
  });

  it('shows the functions there are', () => {
    const rows = Object.values(builtins).map(
      ({ signature, meaning, example }) =>
        `| \`${signature.replaceAll('|', '\\|')}\` | ${meaning} | \`${example}\` |`,
    );
    const table = `| function | | true, for example |\n|---|---|---|\n${rows.join('\n')}\n`;
    const made = text.replace(
      /(<!-- functions: .*-->\n)[\s\S]*?(<!-- end -->)/,
      (_, start, end) => `${start}${table}${end}`,
    );
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
    expect(process.env.UPDATE_GOLDEN === '1' ? made : text).toBe(made);
  });
});
