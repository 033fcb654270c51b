// The pages under docs/diagnostics as data: the text of a page about its code, and its examples as policy
// sets that can be checked. INVARIANT: a page in any other form is not read, and fails its test.

import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ListFile } from '../../../src/language/check/messages/list-files.ts';
import { applySilences } from '../../../src/language/check/silences.ts';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import { checkSources } from '../../../src/pipeline.ts';
import { readTestFile } from '../../../src/testing/read-test-file.ts';

const folder = 'docs/diagnostics';

export interface Page {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly summary: string;
  /** How the examples become policy sets, or what the examples need that a page cannot hold. */
  readonly setting: Setting | { readonly needs: string };
  readonly avoid: string;
  readonly prefer: string;
  readonly why: string;
}

type Setting = 'rules' | 'declarations' | 'whole' | 'test-file';

/** The sentence in which a page states what its examples are. */
const settings: Readonly<Record<string, Setting>> = {
  'The examples are rules of `policy orders` in the [prelude](README.md#the-prelude).': 'rules',
  'The examples are declarations, added to those of the [prelude](README.md#the-prelude).': 'declarations',
  'Each example is a whole policy set.': 'whole',
  'Each example is a test file.': 'test-file',
};

const form = new RegExp(
  [
    '^# (?<title>[a-z0-9-]+)\n\n\\*\\*(?<severity>Error|Warning):\\*\\* (?<summary>[^\n]+)\\.\n',
    '(?<setting>[^\n]+)\n',
    '## Avoid\n\n```(?:writ|yaml|text)\n(?<avoid>.*?)\n```\n',
    '## Prefer\n\n```(?:writ|yaml|text)\n(?<prefer>.*?)\n```\n',
    '## Why\n\n(?<why>.*)\n$',
  ].join('\n'),
  's',
);

/** The names of all pages about codes, sorted. */
export function pageNames(): readonly string[] {
  const others = ['README', 'silences'];
  return globSync(`${folder}/*.md`)
    .map((path) => basename(path, '.md'))
    .filter((name) => !others.includes(name))
    .sort();
}

/** Reads a page; throws when the page is not in the one form. */
export function readPage(name: string): Page {
  const groups = form.exec(readFileSync(`${folder}/${name}.md`, 'utf8'))?.groups;
  const [, needs] = /^<!-- not executed: needs (.+) -->$/.exec(groups?.setting ?? '') ?? [];
  const setting = needs === undefined ? settings[groups?.setting ?? ''] : { needs };
  if (groups === undefined || setting === undefined)
    throw new Error(`${name}.md is not of the form of pages`);
  const { title: code = '', severity, summary = '', avoid = '', prefer = '', why = '' } = groups;
  return { code, severity: severity === 'Error' ? 'error' : 'warning', summary, setting, avoid, prefer, why };
}

/** The diagnostics of an example before any proof, with silences applied. */
export function diagnose(example: string, setting: Setting): readonly Diagnostic[] {
  if (setting === 'test-file') return readTestFile({ path: 'example.test.yaml', text: example }).diagnostics;
  const source = { path: 'example.policy', text: wrapped(example, setting) };
  const { files, diagnostics, silenced } = checkSources({ files: [source], readListFile });
  return applySilences(files, [source], [...diagnostics, ...silenced]).diagnostics;
}

/** The list files beside the prelude. */
function readListFile(path: string): ListFile {
  if (path === 'lists/blocked.txt') return { text: 'Acme\nBolt\n' };
  if (path === 'tables/orders.csv') return { text: 'id,owner\no-1,ann\n' };
  return { code: 'list-file-missing', message: `there is no ${path}` };
}

export const prelude = readFileSync(`${folder}/prelude.policy`, 'utf8');

/** An example as a whole policy set. */
export function wrapped(example: string, setting: Exclude<Setting, 'test-file'>): string {
  switch (setting) {
    case 'rules':
      return `${prelude}\npolicy orders on order.place {\n${example}\n}\n`;
    case 'declarations':
      return `${prelude}\n${example}\n`;
    case 'whole':
      return `${example}\n`;
  }
}
