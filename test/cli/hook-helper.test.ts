// The helper that has the key of an enforcement point, as real processes: it runs as one user, the agent as another. The
// agent gets its calls decided, and never the key, another session, another agent, or a budget back.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { socketFault } from '../../src/cli/hook/ask-helper.ts';
import { createHelper, listenOnSocket } from '../../src/cli/hook/serve-hook.ts';
import { addPoint } from '../../src/service/agents/points/change-point.ts';
import { listening } from '../service/http/listening.ts';
import { recordOf, type Service, shareService, temporaryDirectory } from '../service/http/service.ts';
import { usePolicies } from '../service/http/written-policies.ts';
import { everything } from '../service/store/rows.ts';
import type { Ran } from './writ.ts';

const isRoot = process.getuid?.() === 0;
const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** The users of the tests, who need no entry anywhere: the helper and the agent share a group. */
const [helperUser, agentUser, stranger] = isRoot
  ? [
      { uid: 64_101, gid: 64_100 },
      { uid: 64_102, gid: 64_100 },
      { uid: 64_103, gid: 64_103 },
    ]
  : [own, own, own];

const shared = shareService();
let service: Service;
let key = '';

beforeAll(async () => {
  service = shared();
  const made = await addPoint(
    { documents: service.store.documents, who: 'test', nowMs: Date.now() },
    { name: 'coding hooks', agents: [service.agent.id], mayRelease: false },
  );
  if (made.kind !== 'made') throw new Error(made.kind);
  key = made.apiKey;
  await usePolicies(
    service,
    `action claude_code.Pay { n: integer }
action claude_code.Fetch { }
action claude_code.Read { path: string } result { trusted: boolean }
meter paid = sum(payload.n) of claude_code.Pay per agent over 24h
meter tainted = count() of claude_code.Fetch per session over 8h
policy pay on claude_code.* {
  allow each when agent.name != "nobody"
  deny budget when paid > 1 because "the budget is spent"
  deny after_fetch when action.key == "claude_code.Pay" and tainted > 0 because "what was fetched may speak"
}`,
  );
  await service.takeMeters();
});

interface User {
  readonly uid: number;
  readonly gid: number;
}

function start({ uid, gid }: User, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const launcher = fileURLToPath(new URL('./as-user.ts', import.meta.url));
  return spawn(process.execPath, [launcher, String(uid), String(gid), ...args], {
    env: { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function run(user: User, args: readonly string[], stdin: string | object = ''): Promise<Ran> {
  const child = start(user, args);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(typeof stdin === 'string' ? stdin : JSON.stringify(stdin));
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (part: Buffer) => {
      texts[name] += part.toString();
    });
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, ...texts };
}

/** A folder that all users reach; the folders of other tests are for their own user. */
function reachableFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : '/tmp', 'writ-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

interface Helper {
  readonly socket: string;
  readonly keyFile: string;
  readonly pid: number;
}

/** Starts the helper as its user, in a folder that only root and the helper can write to. */
async function serve(): Promise<Helper> {
  const folder = reachableFolder();
  const [home, keyFile] = [join(folder, 'helper'), join(folder, 'hook.key')];
  mkdirSync(home, { mode: 0o755 });
  writeFileSync(keyFile, key, { mode: 0o600 });
  if (isRoot) for (const path of [home, keyFile]) chownSync(path, helperUser.uid, helperUser.gid);
  const socket = join(home, 'hook.sock');
  const args = ['serve', '--socket', socket, '--key-file', keyFile, '--agent', service.agent.name];
  const child = start(helperUser, ['hook', ...args, '--url', service.url, '--wait', '5']);
  onTestFinished(() => void child.kill());
  let said = '';
  child.stderr?.on('data', (part: Buffer) => {
    said += part.toString();
  });
  await expect.poll(() => said, { timeout: 60_000 }).toContain('listening on');
  return { socket, keyFile, pid: child.pid ?? 0 };
}

let calls = 0;

function event(tool: string, input: object = {}, session = 's-1'): object {
  calls += 1;
  return {
    session_id: session,
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: `toolu_${calls}`,
  };
}

const asking = (socket: string) => ['hook', '--dialect', 'claude', '--socket', socket, '--wait', '0'];

describe.runIf(isRoot)('as another user', () => {
  test('the calls of an agent are decided in one session, up to its budget', async () => {
    const { socket } = await serve();
    const ask = (given: object) => run(agentUser, asking(socket), given);
    expect(await ask(event('Pay', { n: 1 }))).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    const over = await ask(event('Pay', { n: 1 }, 's-2'));
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('the budget is spent')]);
    expect((await ask(event('Fetch'))).code).toBe(0);
    const after = await ask(event('Pay', { n: 0 }, 'another-session'));
    expect([after.code, after.stderr]).toEqual([2, expect.stringContaining('what was fetched may speak')]);
    const { items: found } = await service.store.requests.list({
      ...everything,
      nowMs: Date.now(),
      after: null,
      countMax: 10,
    });
    const records = await Promise.all(found.map(({ row }) => recordOf(service, row.id)));
    const sessions = new Set(records.map(({ request }) => (request as { readonly session: string }).session));
    expect([...sessions]).toEqual([expect.stringMatching(/^point:[\w-]+\/agent-/)]);
  });

  test('the agent cannot read the key, and other users cannot reach the socket', async () => {
    const { socket, keyFile, pid } = await serve();
    expect((await run(helperUser, ['read', keyFile])).stdout).toBe(key);
    for (const path of [keyFile, `/proc/${pid}/environ`, `/proc/${pid}/mem`, `/proc/${pid}/fd/0`]) {
      const { code, stdout } = await run(agentUser, ['read', path]);
      expect([path, code, stdout]).toEqual([path, 1, '']);
    }
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    const outside = await run(stranger, asking(socket), event('Fetch'));
    expect([outside.code, outside.stderr]).toEqual([2, expect.stringMatching(/EACCES/)]);
  });

  test('only hook events are answered, and no reply contains the key', async () => {
    const { socket } = await serve();
    const granted = await run(agentUser, asking(socket), event('Fetch'));
    expect(granted.code).toBe(0);
    const { items: found } = await service.store.requests.list({
      ...everything,
      nowMs: Date.now(),
      after: null,
      countMax: 1,
    });
    const id = found[0]?.row.id ?? '';
    const wishes: readonly (readonly [string, string])[] = [
      [`POST /v1/requests/${id}/outcome`, '{"executed":false}'],
      ['POST /v1/outcomes', `{"outcomes":[{"request_id":"${id}","executed":false}]}`],
      [`POST /v1/requests/${id}/withdraw`, ''],
      ['POST /v1/authorize', '{"action_key":"claude_code.Fetch","payload":{}}'],
      ['GET /v1/actions', ''],
      ['GET /hook/claude', JSON.stringify(event('Fetch'))],
      ['POST /hook/../v1/outcomes', '{}'],
      ['POST /hook/unheard-of', JSON.stringify(event('Fetch'))],
      ['POST /hook/claude', '{"session_id":'],
      ['POST /hook/claude', 'x'.repeat(300_000)],
    ];
    for (const [target, body] of wishes) {
      const { stdout } = await run(agentUser, ['connect', socket, target], body);
      const said = stdout === '' ? { code: 2 } : JSON.parse(stdout);
      expect([target, said.code, stdout.includes(key)]).toEqual([target, 2, false]);
    }
    expect((await service.store.requests.find(id))?.status).toBe('auto_approved');
  });

  test('an event after a tool reports the result of a granted call, and releases nothing', async () => {
    const { socket } = await serve();
    const after = (asked: object, tool_response: unknown) =>
      run(agentUser, [...asking(socket), '--after'], {
        ...asked,
        hook_event_name: 'PostToolUse',
        session_id: 'another',
        tool_response,
      });
    const pay = event('Read', { path: 'a' });
    expect((await run(agentUser, asking(socket), pay)).code).toBe(0);
    // The session of the event does not count, the id of the call does.
    const told = await after({ ...pay, session_id: 's-1' }, { bytes: 1, trusted: true });
    expect(told).toEqual({ code: 0, stdout: '{}\n', stderr: expect.stringContaining('there is no grant') });
    const own = await run(agentUser, [...asking(socket), '--after'], {
      ...pay,
      hook_event_name: 'PostToolUse',
      tool_response: { trusted: true },
    });
    expect(own).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    const { items } = await service.store.requests.list({
      ...everything,
      actionKey: 'claude_code.Read',
      nowMs: Date.now(),
      after: null,
      countMax: 1,
    });
    const { what, detail } = items[0]?.events.at(-1) ?? {};
    expect([what, detail]).toMatchObject(['consumed', { executed: true, result: { trusted: true } }]);
    expect(items[0]?.events.some((one) => one.what === 'released')).toBe(false);
    expect((await after(event('Pay', { n: 5 }), {})).code).toBe(0);
    const invented = await run(agentUser, ['connect', socket, 'POST /hook/claude?after'], '{"session_id":');
    expect(JSON.parse(invented.stdout).code).toBe(2);
  });

  test('a socket of the agent in place of the helper is refused', async () => {
    const folder = reachableFolder();
    const home = join(folder, 'agent');
    mkdirSync(home, { mode: 0o755 });
    const socket = join(home, 'hook.sock');
    const granting = createServer((_request, response) => {
      response.end(JSON.stringify({ code: 0, stdout: '{}', stderr: '', isDecided: true }));
    });
    await new Promise<void>((done) => granting.listen(socket, done));
    onTestFinished(() => void granting.close());
    const own = async (owner: User, mode: number): Promise<Ran> => {
      chownSync(socket, owner.uid, owner.gid);
      chmodSync(socket, mode);
      return run(agentUser, asking(socket), event('Fetch'));
    };
    // The answer of a socket of the helper's user counts; of the agent's own, or of everybody's, it does not.
    expect((await own(helperUser, 0o660)).code).toBe(0);
    expect(await own(agentUser, 0o660)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("belongs to the agent's user"),
    });
    expect(await own(helperUser, 0o666)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('every user'),
    });
    chownSync(home, agentUser.uid, agentUser.gid);
    expect(await own(helperUser, 0o660)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('can replace'),
    });
    chownSync(home, 0, agentUser.gid);
    chmodSync(home, 0o775);
    expect(await own(helperUser, 0o660)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('can replace'),
    });
  });
});

describe('in this process', () => {
  function helper() {
    const asked = { url: service.url, key, agent: service.agent.name };
    const options = { ...asked, session: 'agent-x', jsonText: [], waitMsMax: 0 };
    const server = createHelper(options);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return server;
  }

  function folder(mode: number): string {
    const made = join(temporaryDirectory(), 'run');
    mkdirSync(made);
    chmodSync(made, mode);
    return made;
  }

  test('a socket is not created where others can write, nor over another file', async () => {
    for (const mode of [0o777, 0o775, 0o1777])
      await expect(listenOnSocket(helper(), join(folder(mode), 's'))).rejects.toThrow(/others can write to/);
    const own = folder(0o755);
    writeFileSync(join(own, 'file'), '');
    await expect(listenOnSocket(helper(), join(own, 'file'))).rejects.toThrow(/is not a socket/);
    await expect(listenOnSocket(helper(), join(own, 'none', 's'))).rejects.toThrow(
      /the folder .* does not exist/,
    );
    await listenOnSocket(helper(), join(own, 's'));
    await expect(listenOnSocket(helper(), join(own, 's'))).rejects.toThrow(/another helper/);
  });

  test('the socket of an earlier helper is replaced, and only its group has access', async () => {
    const path = join(folder(0o755), 's');
    const left = createSocket();
    await new Promise<void>((done) => left.listen(path, done));
    // Ends the listener as a kill does: the socket stays.
    const fd = (left as unknown as { readonly _handle: { close: (done: () => void) => void } })._handle;
    const renamed = `${path}.kept`;
    const { renameSync } = await import('node:fs');
    renameSync(path, renamed);
    await new Promise<void>((done) => fd.close(done));
    if (existsSync(renamed)) renameSync(renamed, path);
    await listenOnSocket(helper(), path);
    expect(statSync(path).mode & 0o777).toBe(0o660);
  });

  test('a caller cannot wait for longer than its time limit', async () => {
    const path = join(folder(0o755), 's');
    const waits: string[] = [];
    const silent = createServer((request) => void waits.push(String(request.headers.prefer)));
    const url = await listening(silent);
    const server = createHelper({
      url,
      key,
      agent: 'coder',
      session: 'agent-x',
      jsonText: [],
      waitMsMax: 2_000,
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await listenOnSocket(server, path);
    for (const wait of ['1', '3000', '-1', 'x']) {
      const sent = request({ socketPath: path, method: 'POST', path: `/hook/claude?wait=${wait}` });
      sent.on('error', () => undefined);
      sent.end(JSON.stringify(event('Fetch')));
      onTestFinished(() => void sent.destroy());
      await expect.poll(() => waits.length).toBeGreaterThan(0);
      expect([wait, waits.splice(0)[0]]).toEqual([
        wait,
        { 1: 'attach, wait=1', 3000: 'attach, wait=2' }[wait] ?? 'attach, wait=0',
      ]);
      sent.destroy();
    }
  });

  test('the socket of the agent itself is refused', async () => {
    const path = join(folder(0o755), 's');
    await listenOnSocket(helper(), path);
    expect(socketFault(path)).toMatch(/belongs to the agent's user/);
    expect(socketFault(`${path}-none`)).toMatch(/cannot be reached/);
    writeFileSync(`${path}-file`, '');
    expect(socketFault(`${path}-file`)).toMatch(/is not a socket/);
  });
});

describe('the command', () => {
  const keyFile = (text: string, mode = 0o600): string => {
    const path = join(temporaryDirectory(), 'key');
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
    return path;
  };
  const serving = (path: string, ...more: readonly string[]) => {
    const args = [
      'serve',
      '--socket',
      join(temporaryDirectory(), 's'),
      '--key-file',
      path,
      '--agent',
      'coder',
    ];
    return run(own, ['hook', ...args, ...more]);
  };

  test.each([
    [
      'a key that others can read',
      () => serving(keyFile('writpep_x', 0o640), '--url', 'http://127.0.0.1:1'),
      /read by other users/,
    ],
    [
      'a key that all can read',
      () => serving(keyFile('writpep_x', 0o604), '--url', 'http://127.0.0.1:1'),
      /chmod 600/,
    ],
    ['no key', () => serving(keyFile(' '), '--url', 'http://127.0.0.1:1'), /is empty/],
    ['no file', () => serving('/no/such/key', '--url', 'http://127.0.0.1:1'), /no such file/],
    [
      'the key of an agent',
      () => serving(keyFile('writ_x'), '--url', 'http://127.0.0.1:1'),
      /does not contain an enforcement point's key/,
    ],
    ['no address', () => serving(keyFile('writpep_x')), /--url is missing/],
  ])('refuses %s', async (_what, ran, why) => {
    const { code, stderr } = await ran();
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
  });
});
