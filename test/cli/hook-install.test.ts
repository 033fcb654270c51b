// `writ hook install`: what it writes into settings as people have them, and what it says about them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { HostName } from '../../src/cli/hook/install-hook.ts';
import { shareService, temporaryDirectory, wrongKey } from '../service/http/service.ts';
import { usePolicies } from '../service/http/written-policies.ts';
import { type Ran, writ } from './writ.ts';

const shared = shareService();

beforeAll(() => usePolicies(shared(), 'action files.read { }\npolicy p on files.read { allow all }'));

interface Place {
  readonly folder: string;
  readonly home: string;
}

function place(): Place {
  const folder = temporaryDirectory();
  const home = join(folder, 'home');
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(join(home, 'bin/writ'), '#!/bin/sh\n', { mode: 0o755 });
  return { folder, home };
}

function install(
  { folder, home }: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  return writ(['hook', 'install', ...args], {
    cwd: folder,
    env: {
      WRIT_URL: shared().url,
      WRIT_API_KEY: shared().apiKey,
      HOME: home,
      PATH: join(home, 'bin'),
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CODEX_HOME: join(home, '.codex'),
      ...env,
    },
  });
}

function put({ folder }: Place, file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const paths: Readonly<Record<HostName, string>> = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/hooks.json',
};
const hosts = Object.entries(paths) as [HostName, string][];

describe.each(hosts)('%s', (host, path) => {
  test('asks from then on, is tested, and lists the tools that are not covered', async () => {
    const here = place();
    const { code, stdout } = await install(here, [host]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`asks ${shared().url} before `)]);
    expect(stdout).toContain('Tested with a tool that does not exist: it was refused');
    expect(stdout.split('\n').length).toBeGreaterThan(4);
    const text = readFileSync(join(here.folder, path), 'utf8');
    expect(text).not.toContain(shared().apiKey);
    expect((await install(here, [host])).code).toBe(0);
    expect(readFileSync(join(here.folder, path), 'utf8')).toBe(text);
  });

  test('keeps a byte order mark and comments of settings', async () => {
    const here = place();
    const file = put(here, path, '\ufeff{\n  // mine\n  "model": "m", /* too */\n  "hooks": {},\n}\n');
    expect((await install(here, [host])).code).toBe(0);
    const text = readFileSync(file, 'utf8');
    for (const part of ['\ufeff{', '// mine', '/* too */', '"model": "m"']) expect(text).toContain(part);
    expect(text).toMatch(/hooks\/claude-code|writ hook --dialect/);
  });

  test.each(['{"hooks": 7}', '[]', '{"hooks": {}', '{"a": 1, "a": 2}'])(
    'leaves %j as it is',
    async (text) => {
      const here = place();
      const file = put(here, path, text);
      expect((await install(here, [host])).code).toBe(2);
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  test('does not report success where hooks are turned off', async () => {
    for (const file of [path, `home/${path}`]) {
      const here = place();
      put(here, file, '{"disableAllHooks": true}');
      const { code, stdout } = await install(here, [host]);
      expect([file, code, stdout]).toEqual([file, 1, expect.stringContaining('does not work in')]);
      expect(stdout).toContain('"disableAllHooks": true');
      expect(stdout).not.toContain(' before ');
    }
  });

  test('reports a way that does not work', async () => {
    for (const env of [{ WRIT_API_KEY: wrongKey(shared().apiKey) }, { WRIT_URL: 'http://127.0.0.1:1' }]) {
      const { code, stdout } = await install(place(), [host], env);
      expect([code, stdout]).toEqual([1, expect.stringContaining('it does not work: Not')]);
    }
    const untried = await install(place(), [host], { WRIT_API_KEY: '' });
    expect([untried.code, untried.stdout]).toEqual([0, expect.stringContaining('Not tested')]);
    const gone = await install(place(), [host, '--socket', '/no/such/hook.sock']);
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('cannot be reached')]);
  });

  test('does not take the key of an enforcement point from the environment', async () => {
    const { code, stderr } = await install(place(), [host], { WRIT_API_KEY: 'writpep_x' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('writ hook serve')]);
  });

  test('with a socket writes no address and no key', async () => {
    const here = place();
    await install(here, [host, '--socket', '/run/writ/hook.sock', '--wait', '300']);
    const text = readFileSync(join(here.folder, path), 'utf8');
    expect(text).toContain("--socket '/run/writ/hook.sock' --wait 300");
    expect(text).toContain('|| exit 2');
    expect(text).not.toMatch(/WRIT_API_KEY|WRIT_AGENT|http/);
  });
});

test.each<[HostName, string, string, RegExp]>([
  ['claude-code', '.claude/settings.local.json', '{"disableAllHooks": true}', /settings.local.json/],
  ['claude-code', 'home/.claude/settings.json', '{"allowManagedHooksOnly": true}', /allowManagedHooksOnly/],
  [
    'claude-code',
    'home/.claude/settings.json',
    '{"allowedHttpHookUrls": ["https://other.example/*"]}',
    /allowedHttpHookUrls/,
  ],
  [
    'claude-code',
    'home/.claude/settings.json',
    '{"httpHookAllowedEnvVars": ["OTHER"]}',
    /httpHookAllowedEnvVars/,
  ],
  ['codex', 'home/.codex/config.toml', '[features]\nhooks = false\n', /config.toml/],
  ['codex', '.codex/config.toml', '[features]\ncodex_hooks = false\n', /config.toml/],
  ['gemini', 'home/.gemini/settings.json', '{"hooksConfig": {"enabled": false}}', /"enabled": false/],
  ['gemini', '.gemini/settings.json', '{"hooksConfig": {"disabled": ["writ"]}}', /hooksConfig.disabled/],
  ['gemini', 'home/.gemini/settings.json', '{"tools": {"enableHooks": false}}', /enableHooks/],
])('%s with %s of %s is said not to ask', async (host, file, text, why) => {
  const here = place();
  put(here, file, text);
  const { code, stdout } = await install(here, [host]);
  expect([code, stdout]).toEqual([1, expect.stringMatching(why)]);
});

test('addresses and variables that are already permitted do not prevent it', async () => {
  const here = place();
  const allowed = { allowedHttpHookUrls: ['http://127.0.0.1:*'], httpHookAllowedEnvVars: ['WRIT_API_KEY'] };
  put(here, 'home/.claude/settings.json', JSON.stringify({ ...allowed, disableAllHooks: false }));
  expect((await install(here, ['claude-code'])).code).toBe(0);
});

test('a host that runs `writ` finds it', async () => {
  const { code, stdout } = await install(place(), ['cursor'], { PATH: '/nowhere' });
  expect([code, stdout]).toEqual([1, expect.stringContaining('`writ` is not on the PATH')]);
  expect((await install(place(), ['claude-code'], { PATH: '/nowhere' })).code).toBe(0);
});

test('Cursor asks before writes, MCP tools and all others', async () => {
  const here = place();
  await install(here, ['cursor']);
  const { version, hooks } = JSON.parse(readFileSync(join(here.folder, paths.cursor), 'utf8'));
  expect([version, Object.keys(hooks)]).toEqual([
    1,
    [
      'beforeShellExecution',
      'beforeMCPExecution',
      'beforeReadFile',
      'preToolUse',
      'afterShellExecution',
      'afterMCPExecution',
      'postToolUse',
    ],
  ]);
  for (const [event, groups] of Object.entries<{ readonly command: string }[]>(hooks)) {
    expect(groups).toEqual([
      /^(before|pre)/.test(event)
        ? { command: expect.stringMatching(/ \|\| exit 2$/), failClosed: true, timeout: 60 }
        : { command: expect.stringMatching(/ --after( --apart)?$/), timeout: 10 },
    ]);
    expect(groups[0]?.command.includes('--apart')).toBe(/ToolUse$/.test(event));
  }
});

describe('the settings', () => {
  test('keep their entries, and get the hook once', async () => {
    const here = place();
    const kept = { model: 'm', hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [] }] } };
    const file = put(here, 'settings.json', JSON.stringify(kept));
    for (let times = 0; times < 2; times += 1)
      expect((await install(here, ['claude-code', '--file', file])).code).toBe(0);
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    expect([settings.model, settings.hooks.PreToolUse[0]]).toEqual(['m', kept.hooks.PreToolUse[0]]);
    expect(settings.hooks.PreToolUse).toHaveLength(2);
    expect(settings.hooks.PreToolUse[1].hooks[0]).toMatchObject({
      url: `${shared().url}/v1/hooks/claude-code`,
      onFailure: 'block',
    });
  });

  test.each<[HostName, readonly string[]]>([
    ['claude-code', ['PostToolUse', 'PostToolUseFailure']],
    ['codex', ['PostToolUse']],
    ['gemini', ['AfterTool']],
    ['cursor', ['afterShellExecution', 'afterMCPExecution', 'postToolUse']],
  ])('%s reports after a tool, once, beside the hooks of others', async (host, events) => {
    const here = place();
    const old = { command: 'writ hook --dialect cursor --url http://127.0.0.1:1 --after' };
    const others = { command: 'mine' };
    const hooks = Object.fromEntries(events.map((event) => [event, [others, old]]));
    const file = put(here, 'settings.json', JSON.stringify({ hooks }));
    const shown = await install(here, [host, '--file', file, '--dry-run']);
    expect(readFileSync(file, 'utf8')).toBe(JSON.stringify({ hooks }));
    const { code, stdout } = await install(here, [host, '--file', file]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('It reports the results of ')]);
    expect(readFileSync(file, 'utf8')).toBe(shown.stdout);
    for (const event of events) {
      const groups = JSON.parse(shown.stdout).hooks[event];
      expect([groups.length, groups[0]]).toEqual([2, others]);
      expect(JSON.stringify(groups[1])).toMatch(/--after|"url":"[^"]*\/v1\/hooks\/claude-code"/);
      expect(JSON.stringify(groups[1])).not.toMatch(/exit 2|onFailure/);
    }
  });

  test('name the tools that answer with JSON text', async () => {
    const named = ['--json-text', 'web.fetch', 'db.query', '--dry-run'];
    const { stdout } = await install(place(), ['gemini', ...named]);
    const command = JSON.parse(stdout).hooks.AfterTool[0].hooks[0].command;
    expect(command).toMatch(/ --after --json-text web.fetch --json-text db.query$/);
    for (const args of [
      ['gemini', '--socket', '/run/s', ...named],
      ['claude-code', ...named],
    ])
      expect((await install(place(), args)).code).toBe(2);
    expect((await install(place(), ['gemini', '--json-text', 'a; rm', '--dry-run'])).code).toBe(2);
  });

  test('contain the time to wait for people, and a longer time limit for the hook', async () => {
    const shown = async (...args: readonly string[]) => {
      const { code, stdout } = await install(place(), [...args, '--dry-run']);
      return code === 0 ? JSON.parse(stdout).hooks : code;
    };
    const codex = await shown('codex', '--wait', '300');
    expect(codex.PreToolUse[0].hooks[0]).toMatchObject({
      command: expect.stringMatching(/ --wait 300 \|\| exit 2$/),
      timeout: 310,
    });
    const gemini = await shown('gemini', '--wait', '300');
    expect(gemini.BeforeTool[0].hooks[0]).toMatchObject({ timeout: 310_000 });
    const claude = await shown('claude-code', '--wait', '20', '--escalate', 'defer');
    expect(claude.PreToolUse[0].hooks[0]).toMatchObject({
      url: `${shared().url}/v1/hooks/claude-code?wait=20&escalate=defer`,
      timeout: 30,
    });
    const apart = await shown('claude-code', '--wait', '300', '--escalate', 'defer', '--socket', '/run/s');
    expect(apart.PreToolUse[0].hooks[0].command).toContain(' --wait 300 --escalate defer || exit 2');
    expect(await shown('claude-code', '--wait', '56')).toBe(2);
    expect(await shown('codex', '--escalate', 'defer')).toBe(2);
  });
});
