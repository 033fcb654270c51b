// Checks that the Rego and the Cedar of docs/COMING-FROM.md decide as the table of that page states. `npm ci
// --prefix bench` first, then `node bench/peers/same-policy.ts`.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { opaProgram } from '../rego.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/COMING-FROM.md'), 'utf8');
const others = JSON.parse(`{${/also has `(.*)`; for/.exec(text)?.[1] ?? ''}}`);
const folder = mkdtempSync(join(tmpdir(), 'same-policy-'));
const file = join(folder, 'refunds.rego');

function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? '';
}

function byRego(payload: object): string {
  const args = ['eval', '--format', 'raw', '--data', file, '--stdin-input', 'data.refunds.decision'];
  return execFileSync(opaProgram(), args, { input: JSON.stringify(payload), encoding: 'utf8' }).trim();
}

function byCedar(payload: object): string {
  const answer = isAuthorized({
    principal: { type: 'Agent', id: 'agent' },
    action: { type: 'Action', id: 'refund.create' },
    resource: { type: 'Refund', id: 'any' },
    context: Object.assign({ approved: false }, payload),
    policies: { staticPolicies: blockOf('cedar') },
    entities: [],
  });
  if (answer.type === 'failure') throw new Error(answer.errors[0]?.message);
  return answer.response.decision;
}

try {
  writeFileSync(file, blockOf('rego'));
  const rows = [...text.matchAll(/^\| `(\{.*\})` \| \w+ \| (\w+) \| (\w+) \|/gm)];
  if (rows.length === 0) throw new Error('the page has no table');
  for (const [, given = '', rego, cedar] of rows) {
    const payload = Object.assign({}, others, JSON.parse(given));
    const found = [byRego(payload), byCedar(payload)];
    const isSame = found[0] === rego && found[1] === cedar;
    if (!isSame) process.exitCode = 1;
    console.log(`${isSame ? 'as it says' : 'OTHERWISE '} ${given}: Rego ${found[0]}, Cedar ${found[1]}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
