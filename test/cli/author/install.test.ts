// `writ author install`: what it writes into the configuration of each client, beside what is there.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { writ } from '../writ.ts';
import { emptyFolder, type Got, put } from './server.ts';

const files = {
  'claude-code': '.mcp.json',
  cursor: '.cursor/mcp.json',
  vscode: '.vscode/mcp.json',
  codex: '.codex/config.toml',
};
const sections: Readonly<Record<string, string>> = { vscode: 'servers' };
const jsonClients = ['claude-code', 'cursor', 'vscode'] as const;

const install = (folder: string, ...args: readonly string[]) =>
  writ(['author', 'install', ...args], { cwd: folder });
const textIn = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8');

describe.each(jsonClients)('%s', (client) => {
  const file = files[client];
  const section = sections[client] ?? 'mcpServers';

  test('starts the server with the written configuration', async () => {
    const folder = emptyFolder();
    const { code, stdout, stderr } = await install(folder, client);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${file}:`)]);
    expect(stderr).toContain('names the writ of this machine');
    const { command, args, type } = JSON.parse(textIn(folder, file))[section].writ;
    expect(type).toBe('stdio');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
    const given = args.map((one: string) => one.replace('${workspaceFolder}', folder));
    const started = new Client({ name: 'test', version: '1' });
    await started.connect(new StdioClientTransport({ command, args: given, cwd: folder }));
    expect((await started.listTools()).tools.map(({ name }) => name)).toContain('check');
    await started.close();
  });

  test('keeps the other servers, fields and comments, and changes nothing the second time', async () => {
    const folder = emptyFolder();
    const own = '{ "command": "old", "env": { "A": "b" } }';
    put(
      folder,
      file,
      `{\n  // mine\n  "${section}": {\n    "other": { "command": "x" },\n    "writ": ${own}\n  },\n  "inputs": []\n}\n`,
    );
    expect((await install(folder, client, '--workspace', 'agents')).code).toBe(0);
    const text = textIn(folder, file);
    for (const part of ['// mine', '"other": { "command": "x" }', '"inputs": []', '"A": "b"'])
      expect(text).toContain(part);
    expect(text).toMatch(/\/agents"/);
    expect(text).not.toContain('"old"');
    await install(folder, client, '--workspace', 'agents');
    expect(textIn(folder, file)).toBe(text);
  });

  test.each(['[]', '{"a": 1, "a": 2}', `{"${section}": 7}`, '{'])('leaves %j as it is', async (text) => {
    const folder = emptyFolder();
    put(folder, file, text);
    expect((await install(folder, client)).code).toBe(2);
    expect(textIn(folder, file)).toBe(text);
  });
});

describe('codex', () => {
  const file = files.codex;
  const table = /\[mcp_servers\.writ\]\ncommand = ".+"\nargs = \[".+", "author", "\."\]\n/;

  test('gets a table, once', async () => {
    const folder = emptyFolder();
    put(folder, file, 'model = "m" # mine\n\n[mcp_servers.other]\ncommand = "x"\n');
    expect((await install(folder, 'codex')).stdout).toMatch(table);
    const text = textIn(folder, file);
    expect(text).toMatch(
      /^model = "m" # mine\n\n\[mcp_servers.other\]\ncommand = "x"\n\n\[mcp_servers\.writ\]\n/,
    );
    await install(folder, 'codex');
    expect(textIn(folder, file)).toBe(text);
  });

  test('keeps the other lines of its own table', async () => {
    const folder = emptyFolder();
    put(
      folder,
      file,
      '[mcp_servers.writ]\ncommand = "old"\nstartup_timeout_sec = 20\n\n[mcp_servers.writ.env]\nA = "b"\n',
    );
    expect((await install(folder, 'codex')).code).toBe(0);
    const text = textIn(folder, file);
    expect(text).toMatch(table);
    expect(text).toMatch(/startup_timeout_sec = 20\n\n\[mcp_servers\.writ\.env\]\nA = "b"\n$/);
    expect(text).not.toContain('"old"');
  });

  test.each([
    'mcp_servers = { other = { command = "x" } }\n',
    '[mcp_servers]\nother = { command = "x" }\n',
    'mcp_servers.other.command = "x"\n',
    '[mcp_servers.writ]\nargs = [\n  "a",\n]\n',
    'text = """\n[mcp_servers.writ]\n"""\n',
  ])('leaves %j as it is, and shows the lines', async (text) => {
    const folder = emptyFolder();
    put(folder, file, text);
    const { code, stderr } = await install(folder, 'codex');
    expect([code, stderr]).toEqual([2, expect.stringMatching(table)]);
    expect(textIn(folder, file)).toBe(text);
  });
});

test.each(Object.entries(files))('%s: prints without writing', async (client, file) => {
  for (const option of ['--dry-run', '--print']) {
    const folder = emptyFolder();
    const { code, stdout } = await install(folder, client, option, '--skill');
    expect([code, stdout]).toEqual([0, expect.stringContaining('author')]);
    expect(existsSync(join(folder, file))).toBe(false);
  }
});

test('names the package where it is installed, and writes the skill', async () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'node_modules/writ'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/writ/package.json'), '{}');
  const { code, stdout, stderr } = await install(folder, 'claude-code', '--skill');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('.claude/skills/writ/SKILL.md');
  const servers: Got = JSON.parse(textIn(folder, '.mcp.json')).mcpServers;
  expect(servers.writ).toEqual({ type: 'stdio', command: 'npx', args: ['--no', 'writ', 'author', '.'] });
  expect(textIn(folder, '.claude/skills/writ/SKILL.md')).toMatch(
    /^---\nname: writ\ndescription: .{40,1000}\n---\n/,
  );
});

test('refuses a workspace outside, and a client that it does not know', async () => {
  const folder = emptyFolder();
  expect((await install(folder, 'codex', '--workspace', '..')).code).toBe(2);
  expect((await install(folder, 'emacs')).stderr).toContain('claude-code');
});
