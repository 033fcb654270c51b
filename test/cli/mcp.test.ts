// `writ mcp` from the command line: the options before the server's command, and the errors for wrong
// options.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serverTarget } from '../../src/cli/mcp/server-options.ts';
import { countingServer, tool } from '../integrations/mcp/rig.ts';
import { writ } from './writ.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'mcp-cli-'));

test('declares the tools of a server, stores their review, and shows the changes since', async () => {
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

test('adds the proxy to each server of a configuration once, and hides secrets', async () => {
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

test('writes a configuration for every machine where the package is installed beside it', async () => {
  const project = folder();
  const file = join(project, '.mcp.json');
  const wrapped = async () => {
    writeFileSync(file, JSON.stringify({ mcpServers: { files: { command: 'node', args: ['server.js'] } } }));
    const options = ['--key-file', join(project, 'var/key'), '--lock', join(project, 'mcp.lock')];
    const { code, stderr } = await writ(['mcp', 'wrap', file, ...options]);
    expect(code).toBe(0);
    return { stderr, files: JSON.parse(readFileSync(file, 'utf8')).mcpServers.files };
  };
  const alone = await wrapped();
  expect(alone.files.command).toBe(process.execPath);
  expect(alone.stderr).toContain('before you share the file, install the package writ in its folder');
  mkdirSync(join(project, 'node_modules/writ'), { recursive: true });
  writeFileSync(join(project, 'node_modules/writ/package.json'), '{}');
  const shared = await wrapped();
  expect(shared.files).toEqual({
    command: 'npx',
    args: [
      '--no',
      'writ',
      'mcp',
      '--as',
      'files',
      '--key-file',
      'var/key',
      '--lock',
      'mcp.lock',
      '--',
      'node',
      'server.js',
    ],
  });
  expect(shared.stderr).not.toContain('this machine');
  const text = readFileSync(file, 'utf8');
  await writ(['mcp', 'wrap', file, '--key-file', 'key']);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('keeps comments of a configuration, and hides the key of an enforcement point from the client', async () => {
  const [file, key] = [join(folder(), 'mcp.json'), join(folder(), 'key')];
  writeFileSync(file, '\ufeff{\n  // mine\n  "servers": { "a": { "command": "x" }, },\n}\n');
  writeFileSync(key, 'writpep_x');
  const refused = await writ(['mcp', 'wrap', file, '--key-file', key]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('`writ mcp --listen` as another user'),
  ]);
  writeFileSync(key, 'writ_x');
  expect((await writ(['mcp', 'wrap', file, '--key-file', key])).code).toBe(0);
  const text = readFileSync(file, 'utf8');
  for (const part of ['\ufeff{', '// mine', '"--key-file"']) expect(text).toContain(part);
});

test('refuses a key file that others can read, and over stdio the key of an enforcement point in the environment', async () => {
  const key = join(folder(), 'key');
  const args = ['mcp', '--as', 'a', '--service', 'http://127.0.0.1:1'];
  writeFileSync(key, 'writ_x', { mode: 0o644 });
  const open = await writ([...args, '--key-file', key, '--', 'x']);
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('can be read by other users')]);
  const named = await writ([...args, '--', 'x'], { env: { WRIT_API_KEY: 'writpep_x' } });
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('--key-file')]);
  for (const option of ['--sessions', '--sessions-of-caller']) {
    const none = await writ([...args, '--listen', '0', option, '0', '--', 'x']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('is not a number')]);
  }
});

test.each([
  [['--as', 'files'], 'name the server'],
  [['--as', 'a.b', '--', 'x'], '`a.b` is not a name'],
  [['--as', 'a', '--url', 'ftp://x'], 'is not an address'],
  [['--as', 'a', '--lock', 'no-such-file', '--', 'x'], 'cannot be read'],
  [['--as', 'a', '--hold', 'long', '--', 'x'], 'is not a number of seconds'],
  [['--as', 'a', '--prefix', 'io.mcp/', '--', 'x'], 'is not a prefix'],
  [['--as', 'a', '--inspect', ' ', '--', 'x'], '--inspect is empty'],
  [['--as', 'a', '--inspect', 'http://u:p@x', '--', 'x'], 'is not an address'],
  [['--as', 'a', '--inspect', 'x', '--inspect-timeout', '0', '--', 'x'], 'from 1 to 60'],
])('refuses %j', async (args, why) => {
  const { code, stderr } = await writ(['mcp', ...args], { env: { WRIT_API_KEY: 'writ_x' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});

test('the server gets the environment without the secrets of the proxy', () => {
  vi.stubEnv('WRIT_API_KEY', 'writ_x');
  vi.stubEnv('WRIT_TOKEN', 'writp_x');
  vi.stubEnv('OF_THE_SERVER', 'kept');
  onTestFinished(() => void vi.unstubAllEnvs());
  const place = serverTarget(['x'], { as: 'a' });
  const { environment = {} } = 'environment' in place ? place : {};
  expect(environment.OF_THE_SERVER).toBe('kept');
  expect(Object.keys(environment)).not.toContain('WRIT_API_KEY');
  expect(Object.keys(environment)).not.toContain('WRIT_TOKEN');
});
