// The published packages, installed from their tarballs into empty folders by a user with an empty home: once
// for checking, testing and embedding policies, and once for serving.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createQuestionThread } from '../../../src/lsp/thread/ask.ts';
import { walkHelp } from '../../cli/help-walk.ts';
import { keptWrit, type RunWrit } from '../../cli/writ.ts';
import { documentedLines, isOfPolicies, runLines } from './documented-lines.ts';
import { checkPullRequest } from './workflow.ts';

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

let tarballs: readonly string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'writ-published-'));

beforeAll(async () => {
  const built = await run(process.execPath, ['src/packaging/package/build.ts', join(folder, 'build')], {
    cwd: root,
  });
  tarballs = built.stdout.trimEnd().split('\n').slice(-2);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with the packages, a home of its own, and the payments pack. */
class Installed {
  readonly place: string;
  readonly env: NodeJS.ProcessEnv;

  constructor(name: string) {
    this.place = join(folder, name);
    mkdirSync(join(this.place, 'home'), { recursive: true });
    this.env = { ...process.env, HOME: join(this.place, 'home') };
    delete this.env.NODE_COMPILE_CACHE;
    cpSync(join(root, 'policies/payments'), join(this.place, 'policies'), { recursive: true });
    writeFileSync(join(this.place, 'package.json'), '{"type": "module", "private": true}');
  }

  async install(files: readonly string[]): Promise<void> {
    const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock'];
    await run('npm', ['install', ...flags, ...files], { cwd: this.place, env: this.env });
  }

  async node(...args: readonly string[]): Promise<Ran> {
    try {
      return { code: 0, ...(await run(process.execPath, [...args], { cwd: this.place, env: this.env })) };
    } catch (error) {
      return error as Ran;
    }
  }

  writ(...args: readonly string[]): Promise<Ran> {
    return this.node(join(this.place, 'node_modules/.bin/writ'), ...args);
  }

  /** Runs many commands in one process. */
  kept(): RunWrit {
    const script = readFileSync(join(root, 'test/cli/kept-writ.ts'), 'utf8');
    const entry = pathToFileURL(join(this.place, 'node_modules/writ/src/cli/main.js')).href;
    writeFileSync(join(this.place, 'kept-writ.ts'), script.replace('../../src/cli/main.ts', entry));
    return keptWrit(pathToFileURL(join(this.place, 'kept-writ.ts')));
  }

  start(...args: readonly string[]): ChildProcess {
    const command = join(this.place, 'node_modules/.bin/writ');
    return spawn(process.execPath, [command, ...args], { cwd: this.place, env: this.env });
  }
}

/** The first request to a language server, which ends after its answer. */
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { capabilities: {} } };

/**
 * The server's output after a message, until it contains `awaited`. Then its input is closed, and the server
 * ends by itself.
 */
async function answer(server: ChildProcess, message: object, awaited: string): Promise<string> {
  const body = JSON.stringify(message);
  server.stdin?.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  let said = '';
  for await (const chunk of server.stdout ?? []) {
    said += String(chunk);
    if (said.includes(awaited)) server.stdin?.end();
  }
  return said;
}

describe('the package for checking, testing and embedding', () => {
  const installed = new Installed('checks');
  beforeAll(() => installed.install(tarballs.slice(0, 1)), 120_000);

  test('is small, has few dependencies, and nothing of the tests or of what runs in browsers', () => {
    const files = globSync('node_modules/**', { cwd: installed.place, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes / 2 ** 20).toBeLessThan(34);
    const isPage = /\/dist\/docs\//;
    const own = files.filter((file) => file.includes('/node_modules/writ/') && !isPage.test(file));
    expect(own.filter((file) => /\.tsx$|(?<!\.d)\.ts$|\.test\.[jt]s|\/bench\//.test(file))).toEqual([]);
    expect(existsSync(join(installed.place, 'node_modules/better-sqlite3'))).toBe(false);
  });

  test('checks, tests, compares and formats policies', async () => {
    const check = await installed.writ('check', '--strict', 'policies');
    expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('1 action, 2 policies')]);
    expect((await installed.writ('test', 'policies')).stdout).toMatch(/\d+ passed/);
    expect((await installed.writ('fmt', '--check', 'policies')).code).toBe(0);
    cpSync(join(installed.place, 'policies'), join(installed.place, 'next'), { recursive: true });
    const changed = join(installed.place, 'next/payments.policy');
    writeFileSync(changed, readFileSync(changed, 'utf8').replace('<= 10_000 USD', '<= 9_000 USD'));
    expect((await installed.writ('init', 'operations', '--pack', 'devops')).code).toBe(0);
    expect((await installed.writ('test', 'operations', '--coverage-min', '100')).code).toBe(0);
    const diff = await installed.writ('diff', '--old', 'policies', '--new', 'next');
    expect(diff.stdout).toContain('REAUTH_REQUIRED → DENY');
  });

  test('starts `check` from few files, and a hook without what policies are compiled with', async () => {
    const listing = `
      import { registerHooks } from 'node:module';
      const found = [];
      registerHooks({ load: (url, context, next) => (found.push(url), next(url, context)) });
      process.on('exit', () => console.log(JSON.stringify(found.filter((url) => url.startsWith('file:')))));`;
    writeFileSync(join(installed.place, 'listing.mjs'), listing);
    const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
      const command = join(installed.place, 'node_modules/.bin/writ');
      const { stdout } = await installed.node('--import', './listing.mjs', command, ...args);
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
    };
    const check = await loadedBy('check', 'policies');
    expect(check.length).toBeLessThan(60);
    expect(check.filter((url) => url.includes('/node_modules/yaml/'))).toEqual([]);
    const hook = await loadedBy('hook', '--help');
    expect(hook.filter((url) => /\/lib\/policies-|chevrotain/.test(url))).toEqual([]);
  });

  test('carries out the steps of the workflow that checks pull requests', async () => {
    const checked = await checkPullRequest(join(installed.place, 'node_modules/writ'));
    expect(checked.codes).toEqual({
      format: 0,
      check: 0,
      test: 0,
      matrix: 0,
      'code scanning': 0,
      base: 0,
      'what changes': 0,
      summary: 0,
      loosened: 1,
    });
    expect(checked.summary).toMatch(/payment\.create[\s\S]*DENY[\s\S]*ALLOW/);
    expect(JSON.parse(checked.sarif)).toMatchObject({ version: '2.1.0' });
    expect(checked.said).toContain('title=decision-loosened');
  });

  test('makes a first policy that passes its tests', async () => {
    expect((await installed.writ('init', 'first')).code).toBe(0);
    expect((await installed.writ('test', 'first')).stdout).toMatch(/\d+ passed/);
  });

  test('shows the help of every command', async () => {
    const { count, faults } = await walkHelp(installed.kept());
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(80);
  });

  test('runs every line about policies that the pages show', async () => {
    const lines = documentedLines().filter(isOfPolicies);
    expect(lines.length).toBeGreaterThan(10);
    expect(await runLines(installed, lines, null)).toEqual([]);
  });

  test('says what a command of the service needs', async () => {
    const { code, stderr } = await installed.writ('serve');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: .* npm install --ignore-scripts \.\/writ-service-[\d.]+\.tgz\n$/),
    ]);
  });

  test('brings the language server', async () => {
    expect(await answer(installed.start('lsp'), initialize, 'serverInfo')).toContain('"name":"writ"');
  });

  test('brings the server with which agents write policies, and its documentation', async () => {
    const server = installed.start('author', '.');
    const call = (id: number, name: string, args: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`;
    const topics = [
      'workflow',
      'language/rules',
      'tests/the-format-of-tests',
      'cookbook/four-eyes',
      'always-true',
    ];
    const looked = topics.map((topic, at) => call(at, 'reference', { topic })).join('');
    server.stdin?.end(`${looked}${call(9, 'check', { path: 'policies' })}`);
    const { stdout } = server;
    if (stdout === null) throw new Error('the server has no output');
    const lines = (await stdout.toArray()).join('').trimEnd().split('\n');
    const answers = lines.map((line) => JSON.parse(line));
    expect(answers.map(({ result }) => result.isError)).toEqual(Array(6).fill(undefined));
    expect(answers.at(-1).result.structuredContent).toMatchObject({ ok: true, errors: 0 });
    expect((await installed.writ('author', 'install', 'vscode', '--print')).stdout).toContain('"npx"');
  });

  test('explains a diagnostic', async () => {
    writeFileSync(
      join(installed.place, 'wrong.policy'),
      'action a.b { n: integer }\npolicy p on a.b { allow x when n > 1 }',
    );
    const { code, stdout, stderr } = await installed.writ('check', 'wrong.policy');
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('payload.n')]);
  });

  test('is an engine for programs, with types', async () => {
    const program = `
      import { loadPolicies } from 'writ';
      import { connect } from 'writ/client';
      import { createReceiptCheck } from 'writ/receipt';
      import { runTestFiles } from 'writ/testing';
      const policies = await loadPolicies('policies');
      const payload = { amount: 120, currency: 'USD', vendor: 'Staples' };
      const meters = { vendor_24h: 0, agent_24h: 0 };
      const { decision, matchedPolicy } = policies.decide({ action: 'payment.create', payload, agent: { risk_tier: 'low' }, meters });
      const run = await runTestFiles(['policies']);
      console.log(decision, matchedPolicy, run.files.length, typeof connect, typeof createReceiptCheck);`;
    writeFileSync(join(installed.place, 'program.mts'), program);
    const { stdout, stderr } = await installed.node('program.mts');
    expect([stdout, stderr]).toEqual(['ALLOW vendor_payments 1 function function\n', '']);

    const actions = await installed.writ('types', 'policies');
    writeFileSync(join(installed.place, 'actions.ts'), actions.stdout);
    const call = (payload: string) => `import { connect } from 'writ/client';
      import type { Actions } from './actions.ts';
      await connect<Actions>({ url: '', key: '' }).authorize('payment.create', ${payload});`;
    writeFileSync(join(installed.place, 'right.ts'), call("{ amount: 1, currency: 'USD', vendor: 'x' }"));
    writeFileSync(join(installed.place, 'wrong.ts'), call("{ amount: 1, currency: 'USD' }"));
    const types = (file: string) => {
      const flags = [
        '--module',
        'nodenext',
        '--strict',
        '--allowImportingTsExtensions',
        '--target',
        'es2024',
      ];
      return installed.node(join(root, 'node_modules/.bin/tsc'), '--noEmit', ...flags, file);
    };
    expect(await types('right.ts')).toMatchObject({ code: 0, stdout: '' });
    expect((await types('wrong.ts')).stdout).toContain("Property 'vendor' is missing");
  });
});

describe('the extension for VS Code', () => {
  const place = join(folder, 'extension');
  beforeAll(() => {
    const archive = unzipSync(readFileSync(tarballs[0]!.replace(/[^/]*$/, 'writ-0.1.0.vsix')));
    for (const [name, bytes] of Object.entries(archive)) {
      mkdirSync(dirname(join(place, name)), { recursive: true });
      writeFileSync(join(place, name), bytes);
    }
  });

  test('has a manifest that names what is in it', () => {
    const manifest = JSON.parse(readFileSync(join(place, 'extension/package.json'), 'utf8'));
    const { languages, grammars, commands } = manifest.contributes;
    const named = [manifest.main, manifest.icon, languages[0].configuration, grammars[0].path];
    expect(named.filter((path: string) => !existsSync(join(place, 'extension', path)))).toEqual([]);
    expect(grammars[0].language).toBe(languages[0].id);
    expect(grammars[0].scopeName).toBe(
      JSON.parse(readFileSync(join(place, 'extension', grammars[0].path), 'utf8')).scopeName,
    );
    const code = readFileSync(join(place, 'extension', manifest.main), 'utf8');
    expect(commands.filter(({ command }: { command: string }) => !code.includes(command))).toEqual([]);
    const vsix = readFileSync(join(place, 'extension.vsixmanifest'), 'utf8');
    const assets = [...vsix.matchAll(/ Path="([^"]+)"/g)].map(([, path = '']) => path);
    expect(assets.filter((path) => !existsSync(join(place, path)))).toEqual([]);
    for (const part of ['Content.Details', 'Content.Changelog', 'Icons.Default'])
      expect(vsix).toContain(`Type="Microsoft.VisualStudio.Services.${part}"`);
    expect(vsix).toContain(`Publisher="${manifest.publisher}"`);
  });

  test('starts its language server as the editor does', async () => {
    const server = spawn(process.execPath, [join(place, 'extension/server.mjs'), '--stdio']);
    expect(await answer(server, initialize, 'serverInfo')).toContain('"name":"writ"');
  });

  test('brings its debugger', async () => {
    const server = spawn(process.execPath, [join(place, 'extension/debugger.mjs')]);
    const exited = once(server, 'exit');
    const request = { seq: 1, type: 'request', command: 'initialize', arguments: {} };
    expect(await answer(server, request, 'supports')).toContain('"supportsStepBack":true');
    expect(await exited).toEqual([0, null]);
  });

  test('brings the thread that proves and runs tests', async () => {
    const root = join(folder, 'policies-of-editor');
    mkdirSync(root);
    writeFileSync(
      join(root, 'a.policy'),
      'action a.b {}\npolicy p on a.b { deny all }\nguarantee g on a.b { never allow }\n',
    );
    const thread = createQuestionThread(pathToFileURL(join(place, 'extension/thread.mjs')));
    expect(await thread.ask('claims', { root, open: [] })).toMatchObject([{ result: 'proved' }]);
    await thread.close();
  });
});

describe('the package for serving', () => {
  const installed = new Installed('serves');
  let service: ChildProcess;
  let said = '';
  beforeAll(async () => {
    await installed.install(tarballs);
    service = installed.start('serve', '--port', '0');
    await new Promise<void>((done, fail) => {
      service.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      service.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('curl')) done();
      });
      service.on('exit', () => fail(new Error(said)));
    });
  }, 120_000);
  afterAll(() => void service?.kill());

  test('decides over HTTP, and brings the dashboard', async () => {
    const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
    const key = /writ_[\w-]{20,}/.exec(said)?.[0] ?? '';
    const reply = await fetch(`${url}/v1/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
      body: JSON.stringify({
        action_key: 'payment.create',
        payload: { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' },
      }),
    });
    expect(await reply.json()).toMatchObject({ decision: 'ALLOW', matched_policy: 'vendor_payments' });
    const page = await (await fetch(url)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
    expect((await fetch(new URL(script, url))).status).toBe(200);
    expect(said).not.toContain('npm run');
  });

  test('says what records in PostgreSQL need', async () => {
    const { code, stderr } = await installed.writ('serve', '--store', 'postgres://writ@127.0.0.1:1/writ');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .* npm install .* pg\n$/m)]);
  });

  test('takes up a change of the policies, in a thread of its own', async () => {
    const file = join(installed.place, 'policies/payments.policy');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('small_limit = 1_000 USD', 'small_limit = 100 USD'),
    );
    const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
    const key = /writ_[\w-]{20,}/.exec(said)?.[0] ?? '';
    const ask = async () => {
      const reply = await fetch(`${url}/v1/authorize`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
        body: JSON.stringify({
          action_key: 'payment.create',
          payload: { amount: 120, currency: 'USD', vendor: 'Staples' },
        }),
      });
      return ((await reply.json()) as { readonly decision: string }).decision;
    };
    await expect.poll(ask).toBe('ESCALATE');
  });

  test('shows the help of every command', async () => {
    const { count, faults } = await walkHelp(installed.kept());
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(80);
  });

  test('runs every line that the pages show, until an incident has stopped everything', async () => {
    const lines = documentedLines();
    const running = {
      url: /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '',
      key: /writ_[\w-]{20,}/.exec(said)?.[0] ?? '',
      setUpToken: /(?<=\/setup#token=)\S+/.exec(said)?.[0] ?? '',
    };
    expect(lines.length).toBeGreaterThan(40);
    expect(await runLines(installed, lines, running)).toEqual([]);
  });
});
