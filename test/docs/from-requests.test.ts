// Follows docs/FROM-REQUESTS.md: makes its log, runs its command, and compares the output and the shown policy with
// the page. UPDATE_GOLDEN=1 writes both into the page.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentDynLog } from '../analysis/infer/logs.ts';
import { writ } from '../cli/writ.ts';
import { createFolder } from '../service/policies/folder.ts';

const page = 'docs/FROM-REQUESTS.md';

it('does what it says', async () => {
  const folder = createFolder();
  const lines = agentDynLog().map(({ facts: { action, payload, agent } }) =>
    JSON.stringify({ action_key: action, payload, agent }),
  );
  writeFileSync(join(folder, 'calls.jsonl'), lines.join('\n'));
  const text = readFileSync(page, 'utf8');
  const [session = '', command = '', count = ''] =
    /^\$ npx --no writ (.*) \| head -n (\d+)\n[\s\S]*?(?=^```)/m.exec(text) ?? [];
  const { code, stdout } = await writ(command.split(' '), { cwd: folder });
  expect(code).toBe(0);
  const printed = stdout.split('\n').slice(0, Number(count)).join('\n');
  const file = readFileSync(join(folder, 'shop/shopping.policy'), 'utf8');
  const [policy = ''] = /^policy inferred_shopping_get_invoice [\s\S]*?^}\n/m.exec(file) ?? [];
  const made = text
    .replace(session, () => `$ npx --no writ ${command} | head -n ${count}\n${printed}\n`)
    .replace(/^policy inferred_shopping_get_invoice [\s\S]*?^}\n/m, () => policy);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
  expect(process.env.UPDATE_GOLDEN === '1' ? made : text).toBe(made);
  expect((await writ(['check', '--strict', 'shop'], { cwd: folder })).code).toBe(0);
});
