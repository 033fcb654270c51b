// `writ hook` in four dialects: the tool may run only when the service has granted exactly this call,
// whatever breaks.

import { createServer, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { answerHook, type HookAnswer } from '../../src/cli/hook/answer-hook.ts';
import { type DialectName, dialectNames, dialects } from '../../src/cli/hook/dialects.ts';
import { listening } from '../service/http/listening.ts';
import { shareService, wrongKey } from '../service/http/service.ts';
import { usePolicies } from '../service/http/written-policies.ts';
import { writProcess } from './writ.ts';

const shared = shareService();

const claudeEvent = (tool: string) => ({
  session_id: 's-1',
  transcript_path: '/tmp/t',
  cwd: '/work',
  hook_event_name: 'PreToolUse',
  tool_name: tool,
  tool_input: { path: 'a' },
  tool_use_id: `toolu_${tool}`,
});

/** A call of a tool of the server `files`, in the format of each host. */
const events: Readonly<Record<DialectName, (tool: string) => object>> = {
  claude: (tool) => claudeEvent(`mcp__files__${tool}`),
  codex: (tool) => claudeEvent(`mcp__files__${tool}`),
  gemini: (tool) => ({
    session_id: 's-1',
    hook_event_name: 'BeforeTool',
    tool_name: `mcp_files_${tool}`,
    tool_input: { path: 'a' },
    mcp_context: { server_name: 'files', tool_name: tool },
  }),
  cursor: (tool) => ({
    conversation_id: 's-1',
    hook_event_name: 'beforeMCPExecution',
    tool_name: tool,
    tool_input: '{"path":"a"}',
    mcp_server_name: 'files',
  }),
};

interface Given {
  readonly url?: string;
  readonly key?: string;
  readonly input?: string;
  readonly stream?: Readable;
  readonly withinMs?: number;
  readonly isDeferring?: boolean;
  readonly isApart?: boolean;
}

function answer(name: DialectName, given: Given = {}): Promise<HookAnswer> {
  const service = shared();
  const { url = service.url, key = service.apiKey, input = JSON.stringify(events[name]('read')) } = given;
  return answerHook(
    {
      dialect: dialects[name],
      url,
      key,
      agent: undefined,
      waitMs: 0,
      withinMs: given.withinMs ?? 20_000,
      isDeferring: given.isDeferring ?? false,
      isApart: given.isApart ?? false,
      session: null,
      isAfter: false,
      jsonText: [],
    },
    given.stream ?? Readable.from([input]),
  );
}

const policies = `
approvers finance "Finance"
action files.read, files.write, files.remove { path: string }
action claude_code.Bash, cursor.Shell { command: string, ... }
policy files on files.*, claude_code.*, cursor.* {
  allow reads when action.key != "files.write" because "reading is allowed"
  deny writes when action.key == "files.write" because "nothing is written"
  escalate removal to finance when action.key == "files.remove"
}
`;

test('names the dialects when none is given, and blocks the tool', async () => {
  const { code, stdout, stderr } = await writProcess(['hook'], { stdin: '{}' });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: nothing was granted: --dialect is missing: claude, codex/);
});

describe.each(dialectNames)('%s', (name) => {
  test('exit code 0 for a grant, 2 with the reason for a refusal or a pending request', async () => {
    await usePolicies(shared(), policies);
    const [granted, refused, waiting] = await Promise.all(
      ['read', 'write', 'remove'].map((tool) => answer(name, { input: JSON.stringify(events[name](tool)) })),
    );
    expect(granted).toEqual({ code: 0, stdout: dialects[name].allowed, stderr: '', isDecided: true });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused?.stderr).toContain('policy files: nothing is written. This is a decision');
    expect(waiting).toMatchObject({ code: 2, stdout: '' });
    expect(waiting?.stderr).toMatch(
      /needs 1 approval by finance before .* See http.*\/requests\/.* Make the same call again/,
    );
  });

  test('exit code 2 on any error', async () => {
    const whole = JSON.stringify(events[name]('read'));
    const twice = whole.replace('{', '{"hook_event_name":"PreToolUse",');
    const inputs = ['', '[]', 'null', whole.slice(0, -1), `${whole}x`, '{}', twice];
    inputs.push(whole.replace(/"(PreToolUse|BeforeTool|beforeMCPExecution)"/, '"Other"'));
    inputs.push(whole.replace(/"tool_input":("[^}]*}"|\{[^}]*\})/, '"tool_input":7'));
    const grant = {
      request_id: '019a0000-0000-7000-8000-000000000000',
      decision: 'ALLOW',
      reason: 'r',
      matched_policy: 'p',
      risk_score: 1,
      status: 'auto_approved',
      message: 'm',
      expires_at: '2030-01-01T00:00:00.000Z',
    };
    const bodies = [
      { ...grant, decision: 'MAYBE' },
      { ...grant, status: 'unheard_of' },
      { ...grant, status: 'pending' },
      { ...grant, expires_at: 'soon' },
      { ...grant, request_id: undefined },
      {},
    ].map((body) => JSON.stringify(body));
    const urls = await Promise.all([
      ...bodies.map((body) => fakeService((reply) => reply.end(body))),
      fakeService((reply) => reply.end('<html>')),
      fakeService((reply) => reply.writeHead(500).end(JSON.stringify(grant))),
      fakeService((reply) => reply.writeHead(302, { location: shared().url }).end()),
      fakeService((reply) => {
        reply.writeHead(200, { 'content-length': '1000' }).write(JSON.stringify(grant));
        setImmediate(() => reply.destroy());
      }),
      fakeService((reply) => reply.destroy()),
    ]);
    const never = new Readable({ read: () => undefined });
    const key = wrongKey(shared().apiKey);
    const answers = await Promise.all([
      ...inputs.map((input) => answer(name, { input })),
      ...urls.map((url) => answer(name, { url })),
      // Nothing listens; no answer ever comes; the input never ends; the key is wrong, or does not fit into a
      // header.
      answer(name, { url: 'http://127.0.0.1:1' }),
      answer(name, { url: await fakeService(() => undefined), withinMs: 300 }),
      answer(name, { stream: never, withinMs: 300 }),
      answer(name, { key }),
      answer(name, { key: 'a\nb' }),
      answer(name, { url: 'no address' }),
    ]);
    for (const [i, { code, stdout, stderr, isDecided }] of answers.entries())
      expect([i, code, stdout, stderr === '', isDecided]).toEqual([i, 2, '', false, false]);
    // A complete grant from the fake service is accepted.
    const good = await fakeService((reply) => reply.end(JSON.stringify(grant)));
    expect((await answer(name, { url: good })).code).toBe(0);
  });
});

/** A service that answers every request in the same way. */
async function fakeService(answerWith: (reply: ServerResponse) => void): Promise<string> {
  return await listening(createServer((_request, reply) => answerWith(reply)));
}

test('defers a run of Claude Code only with that option', async () => {
  const input = JSON.stringify(events.claude('remove'));
  const { code, stdout } = await answer('claude', { input, isDeferring: true });
  expect([code, JSON.parse(stdout).hookSpecificOutput.permissionDecision]).toEqual([0, 'defer']);
  for (const name of ['codex', 'gemini', 'cursor'] as const)
    expect(
      (await answer(name, { input: JSON.stringify(events[name]('remove')), isDeferring: true })).code,
    ).toBe(2);
});

test('tools of the hosts have areas of their own, which no server can use', async () => {
  const bash = { ...claudeEvent('Bash'), tool_input: { command: 'ls' } };
  expect(dialects.claude.read(bash)).toMatchObject({ actionKey: 'claude_code.Bash' });
  expect(dialects.codex.read(bash)).toMatchObject({ actionKey: 'codex.Bash' });
  const shell = { conversation_id: 's', hook_event_name: 'beforeShellExecution', command: 'ls', cwd: '/' };
  expect(dialects.cursor.read(shell)).toMatchObject({
    actionKey: 'cursor.Shell',
    payload: { command: 'ls', cwd: '/' },
  });
  const file = { conversation_id: 's', hook_event_name: 'beforeReadFile', file_path: 'a', content: 'secret' };
  expect(dialects.cursor.read(file)?.payload).toEqual({ file_path: 'a' });
  for (const taken of ['mcp__claude_code__Bash', 'mcp__a.b__c', 'mcp__cursor__Shell'])
    expect(dialects.claude.read(claudeEvent(taken))).toBeNull();
});

test('byte order marks before an event, as PowerShell writes them, are ignored', async () => {
  await usePolicies(shared(), policies);
  for (const name of dialectNames)
    for (const marks of ['\ufeff', '\ufeff\ufeff'])
      expect((await answer(name, { input: marks + JSON.stringify(events[name]('read')) })).code).toBe(0);
  const within = JSON.stringify(events.cursor('read')).replace('{', '{\ufeff');
  expect((await answer('cursor', { input: within })).code).toBe(2);
  expect((await answer('cursor', { input: '\ufeff' })).code).toBe(2);
});

describe('a tool of an MCP server', () => {
  const gemini = (more: object) => ({ ...events.gemini('read'), ...more }) as never;
  test.each([
    null,
    'files',
    [],
    {},
    7,
    { server_name: 'files' },
    { tool_name: 'read' },
    { server_name: '', tool_name: 'read' },
    { server_name: 'files', tool_name: '' },
    { server_name: 7, tool_name: 'read' },
    { server_name: 'gemini', tool_name: 'read' },
    undefined,
  ])('of Gemini CLI with the context %j is no tool of the host', (context) => {
    const { mcp_context: _, ...event } = gemini({}) as { readonly mcp_context: unknown };
    const given = context === undefined ? event : { ...event, mcp_context: context };
    expect(dialects.gemini.read(given as never)).toBeNull();
  });

  const cursor = (more: object) =>
    ({ ...events.cursor('read'), ...more }) as Parameters<typeof dialects.cursor.read>[0];
  test.each<[object, string | null]>([
    [{}, 'files.read'],
    [{ mcp_server_name: 'others' }, 'others.read'],
    [{ tool_name: 'MCP:read' }, 'files.read'],
    [{ tool_name: 'MCP:files:read' }, 'files.read'],
    [{ tool_name: 'MCP:files:read', mcp_server_name: undefined }, 'files.read'],
    [{ tool_name: 'MCP:others:read' }, null],
    [{ mcp_server_name: undefined }, null],
    [{ mcp_server_name: null }, null],
    [{ mcp_server_name: '' }, null],
    [{ mcp_server_name: 7 }, null],
    [{ mcp_server_name: 'cursor' }, null],
    [{ mcp_server_name: 'a.b' }, null],
    [{ tool_input: '[]' }, null],
  ])('of Cursor with %j has the key %j', (more, key) => {
    const event = JSON.parse(JSON.stringify(cursor(more)));
    expect(dialects.cursor.read(event)?.actionKey ?? null).toBe(key);
  });

  test('of Cursor before any tool is an action without the name of a server', () => {
    const event = cursor({ hook_event_name: 'preToolUse', tool_name: 'MCP:read', tool_input: { path: 'a' } });
    expect(dialects.cursor.read(event)).toMatchObject({
      actionKey: 'cursor.MCP',
      payload: { tool: 'read', input: { path: 'a' } },
    });
  });
});

describe('`preToolUse` of Cursor', () => {
  const event = (tool: string) => ({
    conversation_id: 's-1',
    hook_event_name: 'preToolUse',
    tool_name: tool,
    tool_input: { file_path: 'a', content: 'b' },
  });
  const rules = `action cursor.Write { file_path: string, content: string }
action cursor.Delete { ... }
policy cursor on cursor.* { allow writes when action.key == "cursor.Write" }`;

  test('asks about writes, and about all tools without an event of their own', async () => {
    await usePolicies(shared(), rules);
    const codes = async (isApart: boolean) =>
      Promise.all(
        ['Write', 'Delete', 'Shell', 'Read', 'MCP:read', 'Task'].map(
          async (tool) => (await answer('cursor', { input: JSON.stringify(event(tool)), isApart })).code,
        ),
      );
    expect(await codes(true)).toEqual([0, 2, 0, 0, 2, 2]);
    expect(await codes(false)).toEqual([0, 2, 2, 2, 2, 2]);
    const shell = { conversation_id: 's', hook_event_name: 'beforeShellExecution', command: 'ls' };
    expect((await answer('cursor', { input: JSON.stringify(shell), isApart: true })).code).toBe(2);
    for (const other of ['claude', 'codex', 'gemini'] as const) {
      const input = JSON.stringify({ ...events[other]('read'), tool_name: 'Shell', mcp_context: undefined });
      expect((await answer(other, { input, isApart: true })).code).toBe(2);
    }
  });
});

describe('the command', () => {
  const run = (args: readonly string[], input: object | string, env: Record<string, string> = {}) =>
    writProcess(['hook', ...args], {
      stdin: typeof input === 'string' ? input : JSON.stringify(input),
      env: { WRIT_URL: shared().url, WRIT_API_KEY: shared().apiKey, ...env },
    });

  test('exits with 0 or 2', async () => {
    await usePolicies(shared(), policies);
    const event = events.gemini('read');
    const [granted, away, wrong, unset, none] = await Promise.all([
      run(['--dialect', 'gemini'], event),
      run(['--dialect', 'gemini'], event, { WRIT_URL: 'http://127.0.0.1:1' }),
      run(['--dialect', 'unheard-of'], event),
      run(['--dialect', 'gemini'], event, { WRIT_API_KEY: '' }),
      run([], event),
    ]);
    // The agent can read its environment, so the key of an enforcement point does not belong there.
    const open = await run(['--dialect', 'gemini'], event, { WRIT_API_KEY: 'writpep_x' });
    expect([open.code, open.stdout, open.stderr]).toEqual([
      2,
      '',
      expect.stringContaining('writ hook serve'),
    ]);
    expect(granted).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    for (const { code, stdout, stderr } of [away!, wrong!, unset!, none!])
      expect([code, stdout, stderr === '']).toEqual([2, '', false]);
  });
});
