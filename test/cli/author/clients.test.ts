// Real clients of both eras and the official inspector list everything that the author server has; the clients call
// every tool.

import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client as LaterClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as LaterStdio } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { makeHistory, policyText } from '../../analysis/replay/history.ts';
import { tries } from '../../support/tries.ts';
import { writ } from '../writ.ts';
import { commit, emptyFolder, type Got, put, startAuthor } from './server.ts';

const info = { name: 'test', version: '1' };

/** A workspace with policies, a test file, and an export of requests that the policies decided. */
async function reviewed(): Promise<{ readonly folder: string; readonly id: string }> {
  const folder = emptyFolder();
  const data = mkdtempSync(join(tmpdir(), 'writ-author-data-'));
  await makeHistory(21, 30, { folder: data });
  const { stdout } = await writ(['audit', 'export', '--data', data]);
  put(folder, 'policies/pay.policy', policyText);
  put(
    folder,
    'policies/pay.test.yaml',
    'tests:\n  - { name: unknown, action: nothing.known, expect: DENY }\n',
  );
  put(folder, 'log.jsonl', stdout);
  commit(folder);
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const { id } = lines.find(({ entry }) => entry.kind === 'request').entry;
  return { folder, id };
}

/** A call of each tool that has an answer. */
const callsOf = (id: string): Readonly<Record<string, object>> => ({
  reference: { topic: 'language/rules' },
  check: {},
  format: {},
  test: {},
  decide: { action: 'nothing.known' },
  explain: { export: 'log.jsonl', id },
  suggest: { export: 'log.jsonl', id },
  prove: { on: '*', claim: 'never allow when agent.risk_tier == "low"' },
  diff: {},
  replay: { export: 'log.jsonl' },
  summary: {},
});

test('the official clients list and call every tool', async () => {
  const { folder, id } = await reviewed();
  const calls = callsOf(id);
  const { client, tools, call } = await startAuthor(folder);
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls));
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    expect([name, annotations]).toEqual([name, expect.objectContaining({ readOnlyHint: true })]);
    expect([name, inputSchema.type, outputSchema.type]).toEqual([name, 'object', 'object']);
    expect(description.length, name).toBeLessThan(600);
    for (const [field, schema] of Object.entries<Got>(inputSchema.properties))
      expect([name, field, schema.description]).toEqual([name, field, expect.stringMatching(/\w/)]);
    expect([name, (await call(name, calls[name])).isError]).toEqual([name, false]);
  }
  // The later client asks for the stateless era first.
  const later = new LaterClient(info, { versionNegotiation: { mode: 'auto' } } as Got);
  const args = [resolve('src/cli/writ.js'), 'author', folder];
  await later.connect(new LaterStdio({ command: process.execPath, args }));
  for (const [name, given] of Object.entries(calls)) {
    const result: Got = await later.callTool({ name, arguments: { ...given } });
    expect([name, result.isError, result.structuredContent]).toEqual([name, undefined, expect.any(Object)]);
  }
  expect((await later.listPrompts()).prompts).toHaveLength(3);
  await later.close();
  await client.close();
});

test('resources have every section, diagnostic and pack, and each can be read', async () => {
  const { client } = await startAuthor(emptyFolder());
  const resources: Got[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    resources.push(...page.resources);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const uris = resources.map(({ uri }) => uri);
  expect(new Set(uris).size).toBe(uris.length);
  for (const uri of [
    'language/overview',
    'language/rules',
    'language/ebnf',
    'tests/the-format-of-tests',
    'diagnostics/always-true',
    'packs/payments/payments.policy',
    'packs/mail/mail.test.yaml',
    'cookbook/four-eyes',
    'workflow',
  ])
    expect(uris).toContain(`writ://${uri}`);
  expect(uris.filter((uri) => uri.startsWith('writ://diagnostics/')).length).toBeGreaterThan(190);
  for (const { uri, mimeType } of resources) {
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType, text: expect.stringMatching(/\w/) }]);
    const [{ text }]: Got = contents;
    if (mimeType === 'text/markdown' && !uri.startsWith('writ://packs/'))
      expect(text).not.toMatch(/\]\((?!https?:)/);
  }
});

test('each prompt contains the arguments of the person', async () => {
  const { client } = await startAuthor(emptyFolder());
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual([
    'policy-from-requirements',
    'narrow-this-policy',
    'explain-this-decision',
  ]);
  for (const { name, arguments: fields = [] } of prompts) {
    const given = Object.fromEntries(fields.map((field) => [field.name, `given ${field.name}`]));
    const { messages } = await client.getPrompt({ name, arguments: given });
    const [{ content }]: Got = messages;
    for (const value of Object.values(given)) expect(content.text).toContain(value);
  }
  await expect(client.getPrompt({ name: 'narrow-this-policy', arguments: {} })).rejects.toThrow(
    '`concern` is missing',
  );
});

/** Each call starts the inspector and the server. `npm run inspector` calls every tool. */
const inspectedCalls = tries(2);

test('the inspector lists every tool and calls the first', async () => {
  const { folder, id } = await reviewed();
  const calls = callsOf(id);
  const launcher = resolve(
    'test/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  );
  const inspect = async (...args: readonly string[]): Promise<Got> => {
    const server = [process.execPath, resolve('src/cli/writ.js'), 'author', folder];
    const { stdout } = await promisify(execFile)(process.execPath, [launcher, '--cli', ...server, ...args], {
      env: { ...process.env, HOME: mkdtempSync(join(tmpdir(), 'inspector-')) },
    });
    return JSON.parse(stdout.slice(stdout.indexOf('{')));
  };
  const { tools } = await inspect('--method', 'tools/list');
  expect(tools.map(({ name }: Got) => name)).toEqual(Object.keys(calls));
  for (const [name, given] of Object.entries(calls).slice(0, inspectedCalls)) {
    const values = Object.entries(given).flatMap(([field, value]) => ['--tool-arg', `${field}=${value}`]);
    const result = await inspect('--method', 'tools/call', '--tool-name', name, ...values);
    expect([name, result.isError, result.structuredContent]).toEqual([name, undefined, expect.any(Object)]);
  }
}, 400_000);
