// `writ mcp` from the command line: the options before the server's command, and the errors for wrong
// options.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countingServer, tool } from '../integrations/mcp/rig.ts';
import { writ } from './writ.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'mcp-cli-'));

test('declares the tools of a server, keeps their review, and says what has changed since', async () => {
  const server = countingServer(tool('read'), tool('write'));
  const { server: place } = server.settings;
  const command = ['--', ...('command' in place ? place.command : [])];
  const lock = join(folder(), 'mcp.lock');
  const actions = await writ(['mcp', 'actions', '--as', 'files', ...command]);
  expect([actions.code, actions.stdout]).toEqual([0, expect.stringContaining('action files.write {')]);
  expect((await writ(['mcp', 'lock', '--as', 'files', '--lock', lock, ...command])).code).toBe(0);
  const diff = () => writ(['mcp', 'diff', '--as', 'files', '--lock', lock, ...command]);
  expect(await diff()).toMatchObject({ code: 0, stdout: 'files: as reviewed\n' });
  server.tell([tool('read', { description: 'Otherwise' })]);
  const { code, stdout } = await diff();
  expect([code, stdout.split('\n').map((line) => line.split(':')[0])]).toEqual([1, ['read', 'write', '']]);
});

test('puts the proxy in front of the servers of a configuration, once, and keeps secrets out of sight', async () => {
  const file = join(folder(), 'mcp.json');
  const headers = { Authorization: 'Bearer secret' };
  const servers = {
    'My Files': { command: 'npx', args: ['-y', 's'] },
    crm: { url: 'https://crm.example.com/mcp', headers },
  };
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  const wrap = () => writ(['mcp', 'wrap', file, '--key-file', 'key']);
  expect((await wrap()).code).toBe(0);
  const text = readFileSync(file, 'utf8');
  const { mcpServers } = JSON.parse(text);
  expect(mcpServers['My Files'].args.slice(1, 4)).toEqual(['mcp', '--as', 'my_files']);
  expect(mcpServers['My Files'].args.slice(-4)).toEqual(['--', 'npx', '-y', 's']);
  expect(JSON.stringify(mcpServers.crm.args)).not.toContain('secret');
  expect(mcpServers.crm.env).toEqual({ WRIT_HEADER_1: 'Bearer secret' });
  await wrap();
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test.each([
  [['--as', 'files'], 'name the server'],
  [['--as', 'a.b', '--', 'x'], '`a.b` is not a name'],
  [['--as', 'a', '--url', 'ftp://x'], 'is not an address'],
  [['--as', 'a', '--lock', 'no-such-file', '--', 'x'], 'cannot be read'],
  [['--as', 'a', '--hold', 'long', '--', 'x'], 'is not a number of seconds'],
  [['--as', 'a', '--prefix', 'io.mcp/', '--', 'x'], 'is not a prefix'],
])('refuses %j', async (args, why) => {
  const { code, stderr } = await writ(['mcp', ...args], { env: { WRIT_API_KEY: 'writ_x' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});
