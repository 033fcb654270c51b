// Follows docs/FIRST-POLICY.md: writes its files in their order, runs its commands at their places, and
// compares the output with the page. UPDATE_GOLDEN=1 writes the output into the page.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { writ } from '../cli/writ.ts';
import { createFolder } from '../service/policies/folder.ts';

const page = 'docs/FIRST-POLICY.md';
const step =
  /\*\*`(?<path>[\w./-]+)`\*\*\n\n```\w*\n(?<file>[\s\S]*?)```|```console\n(?<session>[\s\S]*?)```/g;

/** The arguments of a command line whose only quotes are single ones. */
function argsOf(line: string): readonly string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((arg) => arg.replace(/^'|'$/g, ''));
}

function withoutTimes(output: string): string {
  return output.replace(/\(\d+\.\d+ s\)/g, '(0.03 s)').trimEnd();
}

it('does what it says', async () => {
  const folder = createFolder();
  const text = readFileSync(page, 'utf8');
  let made = text;
  for (const { groups = {} } of text.matchAll(step)) {
    const { path, file = '', session = '' } = groups;
    if (path !== undefined) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), file);
      continue;
    }
    const printed: string[] = [];
    for (const line of session.split('\n').filter((one) => one.startsWith('$ '))) {
      const [command = '', tail] = line.split(' | tail -n ');
      const [, ...words] = argsOf(command);
      expect(words.slice(0, 3)).toEqual(['npx', '--no', 'writ']);
      const args = words.slice(3);
      const { stdout, stderr } = await writ(args, { cwd: folder });
      const lines = withoutTimes(`${stdout}${stderr}`).split('\n');
      printed.push(`${line}\n${lines.slice(tail === undefined ? 0 : -Number(tail)).join('\n')}\n`);
    }
    made = made.replace(session, () => printed.join('\n'));
  }
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
  expect(process.env.UPDATE_GOLDEN === '1' ? made : text).toBe(made);
});
