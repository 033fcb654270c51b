// Measures what an editor waits for: the language server over its protocol, on 200 files with 10,000
// policies. First come the first diagnostics, then keystrokes in one file, each until its diagnostics, with
// features requested between them. Run it by hand, on a quiet machine: `node bench/lsp.ts`, or with another
// number of keystrokes: `node bench/lsp.ts 500`. `--write` puts the table into results/lsp.md.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';

const isWritten = process.argv.includes('--write');
const keystrokes = Number(process.argv.slice(2).find((one) => /^\d+$/.test(one)) ?? 200);
const [files, policiesPerFile] = [200, 50];

function textOf(file: number): string {
  const policies = Array.from({ length: policiesPerFile }, (_, at) => {
    const name = `p_${file}_${at}`;
    return `policy ${name} on area_${file}.verb {
  allow small_${at} when payload.vendor == "Vendor ${at}" and payload.amount <= ${at + 10}
  escalate large_${at} to finance within 4h when payload.vendor == "Vendor ${at}" and payload.amount > ${at + 5}
}
`;
  });
  const head = file === 0 ? 'approvers finance "Finance"\n' : '';
  return `${head}action area_${file}.verb { amount: number, vendor: string }

${policies.join('\n')}`;
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-lsp-')));
mkdirSync(join(folder, 'policies'));
for (let file = 0; file < files; file += 1)
  writeFileSync(join(folder, 'policies', `${file}.policy`), textOf(file));

const entry = join(import.meta.dirname, '../src/cli/writ.js');
const started = performance.now();
const server = spawn(process.execPath, [entry, 'lsp'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
const connection = createMessageConnection(
  new StreamMessageReader(server.stdout),
  new StreamMessageWriter(server.stdin),
);
const uri = pathToFileURL(join(folder, 'policies/7.policy')).href;
let heard: ((said: Said) => void) | null = null;
interface Said {
  readonly uri: string;
  readonly diagnostics: readonly unknown[];
}
connection.onNotification('textDocument/publishDiagnostics', (said: Said) => {
  if (said.uri === uri) heard?.(said);
});
connection.listen();
const diagnosed = () =>
  new Promise<Said>((resolve) => {
    heard = resolve;
  });

await connection.sendRequest('initialize', {
  processId: process.pid,
  workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'policies' }],
  capabilities: {},
});
await connection.sendNotification('initialized', {});
let text = textOf(7);
const first = diagnosed();
await connection.sendNotification('textDocument/didOpen', {
  textDocument: { uri, languageId: 'writ', version: 1, text },
});
const isWarned = (await first).diagnostics.length > 0;
const firstMs = performance.now() - started;
// The server publishes errors before warnings. These texts have no errors, so the first message may be empty;
// every policy has a warning.
if (!isWarned) await diagnosed();
const warnedMs = performance.now() - started;

const waits: number[] = [];
const features = new Map<string, number[]>();
for (let at = 0; at < keystrokes; at += 1) {
  // Changes one digit in a condition.
  text = at % 2 === 0 ? text.replace('<= 10\n', '<= 11\n') : text.replace('<= 11\n', '<= 10\n');
  const after = diagnosed();
  const typed = performance.now();
  await connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: at + 2 },
    contentChanges: [{ text }],
  });
  await after;
  waits.push(performance.now() - typed);
  if (at % 10 !== 0) continue;
  const position = { line: 5, character: 40 };
  for (const [name, more] of Object.entries({
    completion: {},
    hover: {},
    definition: {},
    documentSymbol: {},
  })) {
    const asked = performance.now();
    await connection.sendRequest(`textDocument/${name}`, { textDocument: { uri }, position, ...more });
    features.set(name, [...(features.get(name) ?? []), performance.now() - asked]);
  }
}
const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
connection.dispose();
server.kill();
rmSync(folder, { recursive: true, force: true });

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

const rows: readonly (readonly [string, string, string])[] = [
  ['first diagnostics, which are the errors, the start of Node included', seconds(firstMs), '3 s'],
  ['the warnings after them', seconds(warnedMs), ''],
  ['a keystroke to its diagnostics, median', `${quantile(waits, 0.5).toFixed(0)} ms`, '50 ms'],
  ['a keystroke to its diagnostics, p99', `${quantile(waits, 0.99).toFixed(0)} ms`, '200 ms'],
  ['memory', `${memory.toFixed(0)} MB`, '500 MB'],
  ...[...features].map(
    ([name, took]) => [`${name}, median`, `${quantile(took, 0.5).toFixed(1)} ms`, ''] as const,
  ),
];
const table = [
  '| 200 files, 10,000 policies | measured | at most |',
  '|---|---|---|',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
];
console.log(table.join('\n'));
if (isWritten) {
  const head = `# The language server

Measured by \`node bench/lsp.ts ${keystrokes} --write\` on Node ${process.versions.node} with ${availableParallelism()} cores: the command in a process of its own, over its protocol. A
keystroke changes a number in one file, and the next one follows at once. No text has an error, and every policy has one warning.
`;
  writeFileSync(join(import.meta.dirname, 'results/lsp.md'), `${head}\n${table.join('\n')}\n`);
}
